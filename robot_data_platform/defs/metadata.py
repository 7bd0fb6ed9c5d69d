"""Metadata of materializations: the same keys with the same units on every asset."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

import dagster as dg

from robot_data_platform.storage.uri import join

if TYPE_CHECKING:
    from collections.abc import Mapping

    from robot_data_platform.storage.lake import Lake

Metadata = dict[str, dg.MetadataValue | str | int | float]


def table_metadata(
    lake: Lake, dataset: str, table: str, version: int, reads: Mapping[str, int]
) -> Metadata:
    """Return where a table is, which version was made, and exactly what was read for it."""
    opened = lake.open(dataset, table, version)
    return {
        "dagster/uri": opened.uri,
        "dagster/row_count": opened.count_rows(),
        "lance/version": version,
        "lance/reads": dg.MetadataValue.json(dict(reads)),
    }


def data_version(dataset: str, table: str, version: int) -> dg.DataVersion:
    """Return ``<dataset>/<table>@<version>``: bare numbers of two tables would look equal."""
    return dg.DataVersion(f"{dataset}/{table}@{version}")


def picture(data: bytes, caption: str, kind: str = "jpeg") -> dg.MetadataValue:
    """Return a small picture as Markdown, which the UI shows."""
    text = base64.b64encode(data).decode()
    return dg.MetadataValue.md(f"![{caption}](data:image/{kind};base64,{text})")


def page_metadata(lake_root: str, key: str, pages_url: str) -> Metadata:
    """Return where a page of the lake is, and its address where a server shows the lake's pages.

    Browsers follow no link from a web page to a file of the disk or to ``s3://``: without a server
    there is a path to copy, and no link.
    """
    metadata: Metadata = {"data_docs/path": dg.MetadataValue.path(join(lake_root, key))}
    if pages_url:
        metadata["data_docs"] = dg.MetadataValue.url(join(pages_url, key))
    return metadata
