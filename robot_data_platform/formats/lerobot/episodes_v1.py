"""LeRobot v1: all rows in one Arrow table, each of which names its frame of a video."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

import numpy as np
import pyarrow as pa

from robot_data_platform.core.finding import Finding, Severity
from robot_data_platform.core.recording import EpisodeRef
from robot_data_platform.core.source import Source
from robot_data_platform.errors import DataFaultError
from robot_data_platform.formats.data_files import data_path
from robot_data_platform.formats.lerobot import contradictions
from robot_data_platform.formats.lerobot.data_files_v1 import RowFiles, find_row_files
from robot_data_platform.formats.lerobot.data_scan import DataScan, scan_data_files
from robot_data_platform.formats.lerobot.info import Info
from robot_data_platform.formats.lerobot.info_v1 import INFO_FILE_V1
from robot_data_platform.formats.lerobot.place import (
    EpisodePlace,
    VideoPlace,
    data_files,
    index_of,
    source_key,
)
from robot_data_platform.formats.lerobot.row_source import RowSource, rows_of_files
from robot_data_platform.formats.lerobot.rows import FRAME
from robot_data_platform.formats.lerobot.safetensors_file import read_int64_vectors
from robot_data_platform.formats.lerobot.video_references import referenced_frames, video_paths
from robot_data_platform.formats.natural_order import last_number
from robot_data_platform.formats.protocol import EpisodeListing
from robot_data_platform.formats.vectors import to_int64

BOUNDS_FILE = "meta_data/episode_data_index.safetensors"
"""First row and end of each episode, by its number."""


class EpisodesV1:
    """The episodes that the rows name."""

    def __init__(self, source: Source, info: Info, files: frozenset[str]) -> None:
        self._info = info
        self._files: RowFiles = find_row_files(source, files)
        self._start = self._stop = np.empty(0, np.int64)
        self._findings: tuple[Finding, ...] = ()
        if BOUNDS_FILE in files:
            self._read_bounds(source)

    def _read_bounds(self, source: Source) -> None:
        try:
            self._start, self._stop = read_int64_vectors(source, BOUNDS_FILE, "from", "to")
        except DataFaultError as fault:
            self._findings = (_unread(fault),)

    def list_episodes(self, source: Source, files: frozenset[str]) -> EpisodeListing:
        """Return every episode that has rows."""
        scan = scan_data_files(source, self._files.present)
        meta = tuple(f for f in (INFO_FILE_V1, BOUNDS_FILE) if f in files)
        videos = {n: self._videos(source, held, n) for n, held in scan.paths.items()}
        referenced = {path for paths in videos.values() for path in paths}
        return EpisodeListing(
            episodes=tuple(
                EpisodeRef(
                    source_key=source_key(number),
                    source_episode_index=number,
                    files=tuple(sorted({*meta, *scan.paths[number], *videos[number]})),
                    num_rows_claimed=self._length(number),
                )
                for number in sorted(scan.paths)
            ),
            findings=(
                *self._findings,
                *self._contradictions(scan),
                *contradictions.unreferenced_videos(files, referenced),
            ),
        )

    def _videos(self, source: Source, files: tuple[str, ...], number: int) -> list[str]:
        keys = [feature.key for feature in self._info.cameras if feature.dtype == "video"]
        try:
            pieces = [piece for _, piece in rows_of_files(source, files, number).read(keys)]
        except DataFaultError:
            return []  # reading the episode says what is wrong with it
        return [
            path
            for piece in pieces
            for key in keys
            if key in piece.column_names
            for path in video_paths(piece[key])
        ]

    def place(self, source: Source, ref: EpisodeRef) -> EpisodePlace:
        """Return where an episode lies.

        Raises
        ------
        DataFaultError
            ``metadata-contradiction``, ``row-mismatch``: the rows name no stretch of one video.
        """
        number = index_of(ref)
        keys = [feature.key for feature in self._info.cameras if feature.dtype == "video"]
        rows = self.rows(source, ref)
        references = _in_order([piece for _, piece in rows.read([*keys, FRAME])], source.label)
        return EpisodePlace(
            episode_index=number,
            num_rows_claimed=self._length(number),
            tasks=(),
            videos={
                key: self._video(references[key], f"Episode {number} column {key!r}", number)
                for key in keys
                if len(references)
            },
        )

    def _video(self, references: pa.ChunkedArray, where: str, number: int) -> VideoPlace:
        path, first = referenced_frames(references, self._info.fps, where)
        is_own = last_number(PurePosixPath(path).stem) == number
        return VideoPlace(path=path, first_frame=first, is_last=is_own)

    def rows(self, source: Source, ref: EpisodeRef) -> RowSource:
        """Return an episode's rows."""
        return rows_of_files(source, data_files(ref), index_of(ref))

    def local_video(self, source: Source, path: str) -> str:
        """Return where the file lies; ``unsafe-path`` where a row names one outside."""
        return str(data_path(source, path))

    def _length(self, number: int) -> int | None:
        is_stated = 0 <= number < len(self._start)
        return int(self._stop[number] - self._start[number]) if is_stated else None

    def _contradictions(self, scan: DataScan) -> Iterator[Finding]:
        declared = set(range(len(self._start)))
        for path, fault in scan.faults.items():
            yield contradictions.unreadable_file(path, str(fault), [])
        for path in self._files.missing:
            missing = f"File {path!r} is missing: got none, expected one that state.json names."
            yield contradictions.unreadable_file(path, missing, [])
        yield from contradictions.episodes_without_files(
            declared - scan.paths.keys(), len(declared), self._files.present
        )
        if declared:
            yield from contradictions.undeclared_episodes(
                scan.paths.keys() - declared, "They are read without it."
            )
        yield from contradictions.wrong_bounds(self._start, self._stop, np.arange(len(self._start)))


def _in_order(pieces: list[pa.Table], label: str) -> pa.Table:
    table = pa.concat_tables(pieces)
    if FRAME not in table.column_names:
        return table
    numbers = to_int64(table[FRAME], f"{label} column {FRAME!r}")
    return table.take(np.argsort(numbers, kind="stable"))


def _unread(fault: DataFaultError) -> Finding:
    return Finding(
        rule="metadata_is_readable",
        severity=Severity.FAIL,
        message=f"{fault} Lengths of episodes were not checked.",
        where=BOUNDS_FILE,
    )
