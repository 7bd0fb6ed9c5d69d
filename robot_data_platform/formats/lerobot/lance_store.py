"""LeRobot's Lance layout (``storage_format: lance``): tables of rows and of whole videos."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from robot_data_platform.core.recording import EpisodeRef
from robot_data_platform.core.source import Source
from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform.formats.lerobot.data_scan import DataScan
from robot_data_platform.formats.lerobot.episode_runs import EpisodeRuns, find_runs
from robot_data_platform.formats.lerobot.index_v3 import IndexV3
from robot_data_platform.formats.lerobot.info import Info
from robot_data_platform.formats.lerobot.lance_tables import FRAMES, VIDEOS, LanceTable, open_lance
from robot_data_platform.formats.lerobot.place import index_of
from robot_data_platform.formats.lerobot.row_files import EPISODE
from robot_data_platform.formats.lerobot.row_source import RowSource
from robot_data_platform.formats.lerobot.store import Holdings
from robot_data_platform.formats.lerobot.video_copies import video_copy
from robot_data_platform.formats.vectors import to_int64

if TYPE_CHECKING:
    import pyarrow as pa

BLOB = "video_bytes"
VIDEO_COLUMNS = ("video_key", "chunk_index", "file_index")
_UNSAFE = re.compile(r"[^\w.-]+")
_MAX_NAME = 200


@dataclass(frozen=True, slots=True)
class _Video:
    key: str
    fragment: int
    row_id: int


class LanceStore:
    """The tables ``frames.lance`` and ``videos.lance``; rows are found by value, in any order."""

    def __init__(self, source: Source, info: Info) -> None:
        self._info = info
        self._frames = open_lance(source, FRAMES, [EPISODE])
        has_video = any(feature.dtype == "video" for feature in info.features)
        columns = [*VIDEO_COLUMNS, BLOB]
        self._videos = open_lance(source, VIDEOS, columns) if has_video else None
        self._faults: dict[str, DataFaultError] = {}
        """By file: why it can't be read."""
        self._video_by_path = self._read_videos(self._videos) if self._videos else {}
        self._key_by_column = _keys_by_column(self._frames, info)
        self._runs: dict[int, EpisodeRuns] = {}

    def holdings(self, source: Source, index: IndexV3, files: frozenset[str]) -> Holdings:
        """Return the rows of every readable fragment, by value, and the videos."""
        scan = self._scan()
        return Holdings(
            rows=scan,
            data_by_row={row: scan.paths.get(index.number(row), ()) for row in index.rows()},
            files_by_video={path: self._files_of(v) for path, v in self._video_by_path.items()},
        )

    def _files_of(self, video: _Video) -> tuple[str, ...]:
        assert self._videos is not None
        return (self._videos.manifest, *self._videos.files_by_fragment[video.fragment])

    def _read_videos(self, videos: LanceTable) -> dict[str, _Video]:
        found: dict[str, _Video] = {}
        for fragment, files in videos.files_by_fragment.items():
            try:
                rows = _video_rows(videos, fragment)
            except DataFaultError as fault:
                self._faults[files[0]] = fault
                continue
            for row in rows:
                path = _path_of(row, self._info)
                if path in found:
                    raise _doubled(videos.source, path)
                found[path] = _Video(str(row["video_key"]), fragment, int(str(row["_rowid"])))
        return found

    def _scan(self) -> DataScan:
        paths: dict[int, tuple[str, ...]] = {}
        num_rows: dict[int, int] = {}
        faults = dict(self._faults)
        for fragment, files in self._frames.files_by_fragment.items():
            try:
                counts = self._runs_of(fragment).num_rows()
            except DataFaultError as fault:
                faults[files[0]] = fault
                continue
            for episode, count in counts.items():
                paths[episode] = (*paths.get(episode, (self._frames.manifest,)), *files)
                num_rows[episode] = num_rows.get(episode, 0) + count
        return DataScan(paths=paths, num_rows=num_rows, faults=faults)

    def _runs_of(self, fragment: int) -> EpisodeRuns:
        if fragment not in self._runs:
            self._runs[fragment] = _read_runs(self._frames, fragment)
        return self._runs[fragment]

    def rows(self, source: Source, ref: EpisodeRef) -> RowSource:
        """Return the rows in the fragments whose files ``ref`` lists."""
        own = set(ref.files)
        by_fragment = self._frames.files_by_fragment
        fragments = [fragment for fragment, files in by_fragment.items() if own.issuperset(files)]

        def read(columns: Sequence[str]) -> Iterator[tuple[str, pa.Table]]:
            wanted = [c for c, key in self._key_by_column.items() if key in columns]
            names = [self._key_by_column[column] for column in wanted]
            for fragment in fragments:
                for start, stop in self._runs_of(fragment).stretches(index_of(ref)):
                    for piece in self._frames.rows(fragment, wanted, start, stop):
                        yield FRAMES, piece.select(wanted).rename_columns(names)

        return RowSource(
            names=(FRAMES,),
            fields=tuple(
                self._frames.table.schema.field(column).with_name(key)
                for column, key in self._key_by_column.items()
            ),
            read=read,
        )

    def misplaced(self, ref: EpisodeRef, expected: str | None) -> tuple[str, ...]:
        """Return nothing: the metadata still points to the files that the table was made from."""
        return ()

    def has_camera(self, ref: EpisodeRef, key: str, path: str) -> bool:
        """Return whether the table has any video of the camera."""
        return any(video.key == key for video in self._video_by_path.values())

    def local_video(self, source: Source, path: str) -> str:
        """Return where a copy of the video lies.

        Raises
        ------
        DataFaultError
            ``missing-file``: the table has no such video; ``unreadable-file``.
        """
        video, table = self._video_by_path.get(path), self._videos
        if video is None or table is None:
            raise _no_video(source, path)
        manifest = source.local_path(table.manifest).stat()
        return video_copy(
            (str(table.table.folder), manifest.st_size, manifest.st_mtime_ns, video.row_id),
            _UNSAFE.sub("_", path)[-_MAX_NAME:],
            lambda target: table.copy_blob(BLOB, video.fragment, video.row_id, target),
        )


def _keys_by_column(frames: LanceTable, info: Info) -> dict[str, str]:
    """Return the feature of each column: the table has ``_`` where features have dots."""
    known = {feature.key.replace(".", "_"): feature.key for feature in info.features}
    return {name: known.get(name, name) for name in frames.table.schema.names}


def _read_runs(frames: LanceTable, fragment: int) -> EpisodeRuns:
    pieces = [
        to_int64(piece[EPISODE], f"{FRAMES!r} column {EPISODE!r}")
        for piece in frames.rows(fragment, [EPISODE], 0, frames.num_rows(fragment))
    ]
    return find_runs(np.concatenate([np.empty(0, np.int64), *pieces]))


def _video_rows(videos: LanceTable, fragment: int) -> list[dict[str, object]]:
    stop = videos.num_rows(fragment)
    pieces = videos.rows(fragment, VIDEO_COLUMNS, 0, stop)
    return [row for piece in pieces for row in piece.to_pylist()]


def _path_of(row: dict[str, object], info: Info) -> str:
    key, chunk, file = (row[column] for column in VIDEO_COLUMNS)
    if info.video_path is None or not isinstance(chunk, int) or not isinstance(file, int):
        return f"{key}/{chunk}/{file}"
    return info.video_path.fill(video_key=str(key), chunk_index=chunk, file_index=file)


def _no_video(source: Source, path: str) -> DataFaultError:
    return DataFaultError(
        f"Table {VIDEOS!r} of {source.label!r} has no video {path!r}: got no such row, expected "
        "one, as the episodes' metadata says. Upload the table whole.",
        kind=ErrorKind.MISSING_FILE,
        path=path,
    )


def _doubled(source: Source, path: str) -> DataFaultError:
    return DataFaultError(
        f"Table {VIDEOS!r} of {source.label!r} has video {path!r} twice: got two rows, expected "
        "one. Remove the wrong one.",
        kind=ErrorKind.METADATA_CONTRADICTION,
        path=path,
    )
