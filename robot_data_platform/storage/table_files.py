"""Files of a table as the store lists them, whether a version names them or not."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from robot_data_platform.storage.faults import store_errors

if TYPE_CHECKING:
    from robot_data_platform.storage.table import LakeTable

DATA_FOLDER = "data/"
_TRACKED_DATA = "data file"


@dataclass(frozen=True, slots=True)
class StoredFile:
    """One file of a table."""

    path: str
    """Below the table's folder."""
    size_bytes: int
    modified_us: int
    """By the store's clock, microseconds since 1970."""


@dataclass(frozen=True, slots=True)
class DataGroup:
    """One data file with the blob files that belong to it."""

    stem: str
    """Name of the data file without its ending, and of the folder of its blobs."""
    files: tuple[StoredFile, ...]

    @property
    def size_bytes(self) -> int:
        """Size of all its files."""
        return sum(file.size_bytes for file in self.files)

    @property
    def newest_us(self) -> int:
        """When the last of its files was written."""
        return max(file.modified_us for file in self.files)

    @property
    def oldest_us(self) -> int:
        """When the first of its files was written."""
        return min(file.modified_us for file in self.files)


def data_groups(table: LakeTable) -> dict[str, DataGroup]:
    """Return what lies in the data folder of a table, by stem; one listing of the table."""
    files: defaultdict[str, list[StoredFile]] = defaultdict(list)
    with store_errors(table.uri):
        listed = table.lance.all_files().read_all()
    listed = listed.filter(pc.starts_with(listed["path"], DATA_FOLDER))
    modified_us = listed["last_modified"].cast(pa.int64()).to_pylist()
    columns = (listed["path"].to_pylist(), listed["size_bytes"].to_pylist(), modified_us)
    for path, size_bytes, time_us in zip(*columns, strict=True):
        files[stem_of(path)].append(StoredFile(path, size_bytes, time_us))
    return {stem: DataGroup(stem, tuple(found)) for stem, found in files.items()}


def data_bytes(table: LakeTable) -> int:
    """Return the size of the data files and blobs that this version of the table names."""
    named = _stems_of_version(table)
    return sum(group.size_bytes for stem, group in data_groups(table).items() if stem in named)


def missing_stems(table: LakeTable) -> list[str]:
    """Return the data files that this version of the table names and the store lacks, sorted."""
    there = {
        stem
        for stem, group in data_groups(table).items()
        if any(file.path == f"{DATA_FOLDER}{stem}.lance" for file in group.files)
    }
    return sorted(_stems_of_version(table) - there)


def _stems_of_version(table: LakeTable) -> set[str]:
    with store_errors(table.uri):
        return {stem_of(f.path) for g in table.lance.get_fragments() for f in g.data_files()}


def stem_of(path: str) -> str:
    """Return which data file a path below the table's folder belongs to."""
    return path.removeprefix(DATA_FOLDER).partition("/")[0].removesuffix(".lance")


def named_stems(table: LakeTable) -> set[str]:
    """Return the data files that any version of the table names; reads every manifest."""
    with store_errors(table.uri):
        tracked = table.lance.tracked_files().read_all()
    data = tracked.filter(pc.equal(tracked["type"].cast(pa.string()), _TRACKED_DATA))
    return {stem_of(path) for path in data["path"].unique().to_pylist()}
