"""Where a LeRobot v3 dataset keeps its rows and videos: in files, or in tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from robot_data_platform.core.recording import EpisodeRef
from robot_data_platform.core.source import Source
from robot_data_platform.formats.data_files import data_path
from robot_data_platform.formats.lerobot.data_scan import DataScan, scan_data_files
from robot_data_platform.formats.lerobot.index_v3 import IndexV3
from robot_data_platform.formats.lerobot.place import (
    DATA_SUFFIX,
    META_FOLDER,
    VIDEO_SUFFIX,
    data_files,
    index_of,
)
from robot_data_platform.formats.lerobot.row_source import RowSource, rows_of_files
from robot_data_platform.formats.natural_order import natural_key


@dataclass(frozen=True, slots=True, kw_only=True)
class Holdings:
    """What a dataset has, whatever its metadata says."""

    rows: DataScan
    data_by_row: Mapping[int, tuple[str, ...]]
    """By metadata row: the files that hold its episode's rows; where none do, the one that should,
    if it is there."""
    files_by_video: Mapping[str, tuple[str, ...]]
    """By the path that the template gives: the files that the video is read from."""


class Store(Protocol):
    """Rows and videos of a v3 dataset."""

    def holdings(self, source: Source, index: IndexV3, files: frozenset[str]) -> Holdings:
        """Return what is there to read."""

    def rows(self, source: Source, ref: EpisodeRef) -> RowSource:
        """Return one episode's rows."""

    def misplaced(self, ref: EpisodeRef, expected: str | None) -> tuple[str, ...]:
        """Return where an episode's rows lie if that is not ``expected``, else nothing."""

    def has_camera(self, ref: EpisodeRef, key: str, path: str) -> bool:
        """Return whether the dataset has any video of a camera, of which ``path`` is one."""

    def local_video(self, source: Source, path: str) -> str:
        """Return a local path of a video; ``path`` is what the template gives."""


class FileStore:
    """Parquet and mp4 files at the paths that templates give."""

    def holdings(self, source: Source, index: IndexV3, files: frozenset[str]) -> Holdings:
        """Return the rows found by value in every data file, and the videos."""
        scan = scan_data_files(source, _data_candidates(index, files))
        return Holdings(
            rows=scan,
            data_by_row={row: _data_paths(index, row, scan, files) for row in index.rows()},
            files_by_video={path: (path,) for path in files if path.endswith(VIDEO_SUFFIX)},
        )

    def rows(self, source: Source, ref: EpisodeRef) -> RowSource:
        """Return the rows in the files that ``ref`` lists."""
        return rows_of_files(source, data_files(ref), index_of(ref))

    def misplaced(self, ref: EpisodeRef, expected: str | None) -> tuple[str, ...]:
        """Return the files that ``ref`` lists unless the metadata points to them."""
        found = data_files(ref)
        return () if expected is None or found == (expected,) else found

    def has_camera(self, ref: EpisodeRef, key: str, path: str) -> bool:
        """Return whether ``ref`` lists the video, be it there or missing."""
        return path in ref.files

    def local_video(self, source: Source, path: str) -> str:
        """Return where the file lies."""
        return str(data_path(source, path))


def _data_candidates(index: IndexV3, files: frozenset[str]) -> list[str]:
    folder = index.info.data_path.folder
    rows = (f for f in files if f.startswith(folder) and f.endswith(DATA_SUFFIX))
    return sorted((f for f in rows if not f.startswith(META_FOLDER)), key=natural_key)


def _data_paths(index: IndexV3, row: int, scan: DataScan, files: frozenset[str]) -> tuple[str, ...]:
    # Where no rows were found, the file that should hold them is kept: reading it says why.
    expected = index.data.path(row)
    fallback: Sequence[str] = (expected,) if expected is not None and expected in files else ()
    return scan.paths.get(index.number(row), tuple(fallback))
