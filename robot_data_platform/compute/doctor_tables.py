"""Tables of a lake looked at one by one: they open, have their files, and are kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from robot_data_platform.compute.doctor_finding import Ailment, fail, info, warn
from robot_data_platform.compute.maintenance import missing_indices
from robot_data_platform.errors import ErrorKind, RobotDataError
from robot_data_platform.storage.orphans import find_orphans
from robot_data_platform.storage.table import find_table
from robot_data_platform.storage.table_files import missing_stems

if TYPE_CHECKING:
    from collections.abc import Iterator

    from robot_data_platform.storage.table import LakeTable

MAX_VERSIONS = 1000
"""Listing the versions of a table reads one manifest each: about half a minute on S3."""

MAINTAIN = "Run `rdp maintain --all`; nightly it runs by itself where Dagster's daemon does."


def open_or_tell(uri: str) -> tuple[LakeTable | None, list[Ailment]]:
    """Return a table, None where there is none, and why it can't be read where it can't."""
    try:
        return find_table(uri), []
    except RobotDataError as err:
        return None, [_unreadable(uri, err)]


def _unreadable(uri: str, error: RobotDataError) -> Ailment:
    if error.kind is ErrorKind.NEWER_FORMAT_VERSION:
        mend = "Install the release of robot_data_platform that wrote it, or a later one."
        return fail("format_is_known", uri, str(error), mend)
    mend = "Restore the table's folder from a backup (docs/operations.md), or mend the store."
    return fail("table_can_be_opened", uri, str(error), mend)


def look_at_table(table: LakeTable, before_us: int, index_min_rows: int) -> Iterator[Ailment]:
    """Yield what is wrong with one table.

    Parameters
    ----------
    before_us : int
        Files without a version that were written before are of dead tasks.
    index_min_rows : int
        A table with as many rows should have an index over each of its `LOOKUP_COLUMNS`.
    """
    missing = missing_stems(table)
    if missing:
        yield fail(
            "data_files_are_there",
            table.uri,
            f"Version {table.version} names {len(missing)} data files that are not there, "
            f"{missing[0]!r} first.",
            "Restore these files from a backup (docs/operations.md); their rows can't be read.",
        )
    yield from _orphans(table, before_us)
    num_versions = table.count_versions()
    if num_versions > MAX_VERSIONS:
        said = f"It has {num_versions} versions: expected at most {MAX_VERSIONS}."
        yield warn("old_versions_are_cleaned_up", table.uri, said, MAINTAIN)
    name = table.uri.rpartition("/")[2].removesuffix(".lance")
    unindexed = missing_indices(table, name, index_min_rows)
    if unindexed:
        said = f"It has {table.count_rows()} rows and no index over {', '.join(unindexed)}."
        yield info("rows_are_indexed", table.uri, said, MAINTAIN)


def _orphans(table: LakeTable, before_us: int) -> Iterator[Ailment]:
    found = find_orphans(table, before_us)
    if found:
        num_bytes = sum(group.size_bytes for group in found)
        said = f"{len(found)} data files of dead tasks take {num_bytes:,} bytes."
        yield info("no_file_is_left_behind", table.uri, said, MAINTAIN)
