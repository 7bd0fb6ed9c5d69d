"""Tags that keep clean-up from released versions: set where missing, removed where left over."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from robot_data_platform.core.measurement_schema import MEASUREMENTS
from robot_data_platform.core.schema import TABLES
from robot_data_platform.curation.release import TAG_PREFIX, release_tag
from robot_data_platform.errors import ErrorKind, NotFoundError
from robot_data_platform.storage.catalog import versions_of
from robot_data_platform.storage.snapshot import list_releases

if TYPE_CHECKING:
    from collections.abc import Iterator

    from robot_data_platform.storage.lake import Lake
    from robot_data_platform.storage.table import LakeTable


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleasedVersion:
    """A version of a table that a release pins."""

    release: str
    table: str
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOverTag:
    """A tag of a release that is not there: it died before its row was written."""

    tag: str
    table: str
    created_ns: int


def dataset_tables(lake: Lake, dataset: str) -> dict[str, LakeTable]:
    """Return every table of a dataset that there is, at its latest version."""
    found = {name: lake.find(dataset, name) for name in (*TABLES, MEASUREMENTS)}
    return {name: table for name, table in found.items() if table is not None}


def untagged(lake: Lake, dataset: str) -> list[ReleasedVersion]:
    """Return the released versions that their tag does not hold: clean-up would take them."""
    tags = {name: table.tags() for name, table in dataset_tables(lake, dataset).items()}
    return [
        pinned
        for pinned in released_versions(lake, dataset)
        if tags.get(pinned.table, {}).get(release_tag(pinned.release)) != pinned.version
    ]


def released_versions(lake: Lake, dataset: str) -> Iterator[ReleasedVersion]:
    """Yield each version of each table that a release of the dataset pins."""
    for row in list_releases(lake, dataset):
        for table, version in versions_of(row["tables"]).items():
            yield ReleasedVersion(release=row["release"], table=table, version=version)


def tag_again(lake: Lake, dataset: str) -> list[ReleasedVersion]:
    """Set the tags that are missing; return those set. A version that is gone stays untagged."""
    mended = []
    for pinned in untagged(lake, dataset):
        try:
            table = lake.open(dataset, pinned.table, pinned.version)
        except NotFoundError as err:
            if err.kind not in (ErrorKind.VERSION_NOT_FOUND, ErrorKind.TABLE_NOT_FOUND):
                raise
            continue
        table.move_tag(release_tag(pinned.release))
        mended.append(pinned)
    return mended


def left_over_tags(lake: Lake, dataset: str, before_ns: int) -> list[LeftOverTag]:
    """Return the tags of releases that are not there, set before a time."""
    tags = [
        LeftOverTag(tag=tag, table=name, created_ns=created_ns)
        for name, table in dataset_tables(lake, dataset).items()
        for tag, created_ns in table.tag_times().items()
        if tag.startswith(TAG_PREFIX) and created_ns < before_ns
    ]
    # Read after the tags: a release writes its row after them.
    held = {release_tag(row["release"]) for row in list_releases(lake, dataset)} if tags else set()
    return [tag for tag in tags if tag.tag not in held]


def remove_left_over_tags(lake: Lake, dataset: str, before_ns: int) -> list[LeftOverTag]:
    """Remove the tags of releases that died before their row was written; return those removed.

    A release that was only slow sets its tags once more when its row is there.
    """
    found = left_over_tags(lake, dataset, before_ns)
    for tag in found:
        lake.open(dataset, tag.table).remove_tag(tag.tag)
    return found
