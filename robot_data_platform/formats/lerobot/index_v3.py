"""The episodes' metadata of LeRobot v3 with its pointers, and which files belong together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from robot_data_platform.core.source import Source
from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform.formats.lerobot.episode_table import EpisodeTable, read_episode_table
from robot_data_platform.formats.lerobot.file_pointers import (
    FilePointers,
    data_pointers,
    video_pointers,
)
from robot_data_platform.formats.lerobot.info import Info
from robot_data_platform.formats.lerobot.place import DATA_SUFFIX
from robot_data_platform.formats.natural_order import natural_key

EPISODES_FOLDER = "meta/episodes/"


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexV3:
    """Every declared episode, and the files that the metadata points to."""

    info: Info
    table: EpisodeTable
    data: FilePointers
    videos: Mapping[str, FilePointers]
    """By camera."""
    faults: Mapping[str, DataFaultError]
    """By path: why a metadata file can't be read."""

    def rows(self) -> Sequence[int]:
        """Return metadata rows in the order of their episodes' numbers, one per number."""
        _, rows = np.unique(self.table.episode_index, return_index=True)
        return [int(row) for row in rows]

    def number(self, row: int) -> int:
        """Return the episode's own number in a metadata row."""
        return int(self.table.episode_index[row])

    def meta_files(self) -> Sequence[tuple[str, ...]]:
        """Return, by row, the metadata files of the episodes that share a video with it."""
        own = self.table.file_number.tolist()
        if len(self.table.files) == 1:
            return [self.table.files] * len(own)
        needed = [{number} for number in own]
        for pointers in self.videos.values():
            by_video: dict[int, set[int]] = {}
            for video, number in zip(pointers.file_number.tolist(), own, strict=True):
                by_video.setdefault(video, set()).add(number)
            for row, video in enumerate(pointers.file_number.tolist()):
                needed[row] |= by_video[video]
        return [tuple(self.table.files[n] for n in sorted(numbers)) for numbers in needed]


def read_index(source: Source, info: Info, files: Iterable[str]) -> IndexV3:
    """Return the episodes that the metadata files among ``files`` declare.

    Raises
    ------
    DataFaultError
        ``missing-file``: there is no such file; or the fault of the first, where none is whole.
    """
    own = (f for f in files if f.startswith(EPISODES_FOLDER) and f.endswith(DATA_SUFFIX))
    table, faults = read_episode_table(source, sorted(own, key=natural_key))
    if not table.files:
        raise next(iter(faults.values()), _no_metadata(source))
    keys = [f.key for f in info.features if f.dtype == "video"]
    template = info.video_path
    return IndexV3(
        info=info,
        table=table,
        data=data_pointers(table, info.data_path),
        videos={key: video_pointers(table, template, key) for key in keys} if template else {},
        faults=faults,
    )


def _no_metadata(source: Source) -> DataFaultError:
    return DataFaultError(
        f"Source {source.label!r} declares no episodes: got no parquet file under "
        f"{EPISODES_FOLDER!r}, expected at least one. Upload the `meta` folder whole.",
        kind=ErrorKind.MISSING_FILE,
        path=EPISODES_FOLDER,
    )
