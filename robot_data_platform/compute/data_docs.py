"""Data Docs of an upload's suites: pages in the lake beside the tables, listed and read back."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypedDict

from robot_data_platform.core.identity import check_name
from robot_data_platform.errors import ErrorKind, NotFoundError
from robot_data_platform.quality.expectation_run import SiteRun
from robot_data_platform.storage.objects import object_store
from robot_data_platform.storage.predicate import equals
from robot_data_platform.storage.uri import join

if TYPE_CHECKING:
    from collections.abc import Mapping

    from robot_data_platform.compute.ingestion import Ingestion
    from robot_data_platform.storage.lake import Lake

FOLDER = "_data_docs"
"""Folder of a dataset that holds them, by ingestion and suite."""
RESULTS = "validations"
"""Folder of the page that tells what held. The site's first page fetches what lists it from the
network, and is empty without one."""

_PAGE = re.compile(rf"[^/]+/{FOLDER}/[^/]+/[^/]+/.+\.html")


class DocsFacts(TypedDict):
    """The pages of one suite of one ingestion."""

    upload: str
    ingestion_id: str
    suite: str
    uri: str
    """Of the page of results: a path, or an ``s3://`` URI."""
    key: str
    """The same within the lake."""


def site_run(ingestion: Ingestion) -> SiteRun:
    """Return what names an ingestion in its pages: a second run has the same paths."""
    uploads = ingestion.workplace.lake.ensure_catalog("uploads")
    (row,) = uploads.read(
        ["created_ns"], equals("ingestion_id", ingestion.ingestion_id)
    ).to_pylist()
    return SiteRun(name=ingestion.upload, time_ns=row["created_ns"])


def write_pages(ingestion: Ingestion, suite: str, pages: Mapping[str, bytes]) -> str:
    """Write the pages of a suite, that of its results last; return the key of that in the lake."""
    folder = join(ingestion.dataset, FOLDER, ingestion.ingestion_id, suite)
    store = object_store(ingestion.workplace.lake_root)
    (results,) = (path for path in pages if path.startswith(f"{RESULTS}/"))
    for path in (*(path for path in pages if path != results), results):
        store.put_bytes(pages[path], join(folder, path))
    return join(folder, results)


def list_pages(lake: Lake, dataset: str) -> list[DocsFacts]:
    """Return the Data Docs of what a dataset publishes now, by upload and suite.

    Raises
    ------
    NotFoundError
        ``dataset-not-found``.
    """
    published = lake.open(dataset, "episodes").read(["upload", "ingestion_id"])
    upload_of = dict(
        zip(published["ingestion_id"].to_pylist(), published["upload"].to_pylist(), strict=True)
    )
    folder = join(check_name(dataset, "dataset"), FOLDER)
    found = [key.split("/") for key in object_store(lake.root).list_keys(folder)]
    facts = [
        DocsFacts(
            upload=upload_of[parts[2]],
            ingestion_id=parts[2],
            suite=parts[3],
            uri=join(lake.root, *parts),
            key="/".join(parts),
        )
        for parts in found
        if len(parts) > 5 and parts[4] == RESULTS and parts[2] in upload_of
    ]
    return sorted(facts, key=lambda each: (each["upload"], each["suite"]))


def read_page(lake: Lake, key: str) -> bytes:
    """Return one page by its key within the lake; nothing else of the lake is read.

    Raises
    ------
    NotFoundError
        ``upload-not-found``: there is no such page.
    """
    if not _PAGE.fullmatch(key) or ".." in key.split("/"):
        raise NotFoundError(
            f"{key!r:.200} is no page of Data Docs: expected DATASET/{FOLDER}/….html. "
            "`rdp docs list DATASET` lists them.",
            kind=ErrorKind.UPLOAD_NOT_FOUND,
        )
    return object_store(lake.root).get_bytes(key)
