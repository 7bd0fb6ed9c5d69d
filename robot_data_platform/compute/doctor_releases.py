"""Releases and ingestions that stopped half way, and releases that lost what they pin."""

from __future__ import annotations

from typing import TYPE_CHECKING

from robot_data_platform.compute.doctor_finding import Ailment, fail, warn
from robot_data_platform.compute.doctor_tables import MAINTAIN
from robot_data_platform.compute.release_tags import left_over_tags, untagged
from robot_data_platform.errors import ErrorKind, NotFoundError
from robot_data_platform.storage.predicate import equals

if TYPE_CHECKING:
    from collections.abc import Iterator

    from robot_data_platform.compute.release_tags import ReleasedVersion
    from robot_data_platform.storage.lake import Lake
    from robot_data_platform.storage.landing import Landing


def look_at_releases(lake: Lake, dataset: str, before_ns: int) -> Iterator[Ailment]:
    """Yield releases without a tag or without their versions, and tags without a release."""
    for pinned in untagged(lake, dataset):
        where = f"{dataset}/{pinned.release}"
        version = f"version {pinned.version} of {pinned.table}"
        if _is_there(lake, dataset, pinned):
            said = f"No tag keeps {version} from clean-up."
            yield fail("releases_are_protected", where, said, "Run `rdp maintain` now: it tags it.")
        else:
            said = f"It pins {version}, which is gone."
            mend = "Restore the table from a backup (docs/operations.md), or release again."
            yield fail("releases_have_their_versions", where, said, mend)
    for tag in left_over_tags(lake, dataset, before_ns):
        said = f"Tag {tag.tag!r} belongs to no release: one died before its row was written."
        yield warn("tags_belong_to_releases", f"{dataset}/{tag.table}", said, MAINTAIN)


def _is_there(lake: Lake, dataset: str, pinned: ReleasedVersion) -> bool:
    try:
        lake.open(dataset, pinned.table, pinned.version)
    except NotFoundError as err:
        if err.kind not in (ErrorKind.VERSION_NOT_FOUND, ErrorKind.TABLE_NOT_FOUND):
            raise
        return False
    return True


def look_at_ingestions(lake: Lake, dataset: str, before_ns: int) -> Iterator[Ailment]:
    """Yield uploads that were registered before a time and of which nothing is published."""
    uploads, episodes = lake.find_catalog("uploads"), lake.find(dataset, "episodes")
    if uploads is None:
        return
    published = set(episodes.read(["upload"])["upload"].to_pylist()) if episodes else set()
    rows = uploads.read(["upload", "created_ns", "run_id"], equals("dataset", dataset)).to_pylist()
    for row in rows:
        if row["upload"] not in published and row["created_ns"] < before_ns:
            yield warn(
                "ingestions_end",
                f"{dataset}/{row['upload']}",
                f"It was registered by run {row['run_id']!r} and never published.",
                "See that run in Dagster for the reason, then materialize the upload's partition "
                "again (job ingest_upload).",
            )


def look_at_landing(lake: Lake, landing: Landing) -> Iterator[Ailment]:
    """Yield uploads that wait for an ingestion, and files that wait for their marker."""
    uploads = lake.find_catalog("uploads")
    known = set(uploads.read(["upload"])["upload"].to_pylist()) if uploads else set()
    marked = landing.list_uploads()
    for upload in marked:
        if upload not in known:
            yield warn(
                "uploads_are_ingested",
                f"{landing.root}/_uploads/{upload}.json",
                f"Upload {upload!r} has its marker and was never registered.",
                "Start Dagster's daemon with the sensor new_uploads, or look why its run failed.",
            )
    for dataset in lake.datasets():
        for upload in landing.unmarked(dataset, marked):
            yield warn(
                "uploads_have_a_marker",
                f"{landing.root}/{dataset}/{upload}",
                f"Files of upload {upload!r} are there without a marker.",
                "It may still be coming in. If its uploader is gone, upload it again.",
            )
