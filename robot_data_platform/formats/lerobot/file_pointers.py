"""Pointers from episodes to files of LeRobot v3: one camera's videos, or the rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robot_data_platform.core.recording import Int64Array
from robot_data_platform.formats.lerobot.episode_table import ABSENT, EpisodeTable
from robot_data_platform.formats.lerobot.path_template import PathTemplate

_FILE_BITS = 32


@dataclass(frozen=True, slots=True)
class FilePointers:
    """``chunk_index`` and ``file_index`` of every episode for one kind of file."""

    template: PathTemplate
    video_key: str
    """Camera, or an empty string where the files hold rows."""
    chunk_index: Int64Array
    """(E,) ``ABSENT`` where the episode points to nothing."""
    file_index: Int64Array
    """(E,) the same."""

    def path(self, row: int) -> str | None:
        """Return the relative path that a metadata row points to, or None."""
        chunk, file = int(self.chunk_index[row]), int(self.file_index[row])
        if ABSENT in (chunk, file):
            return None
        return self._fill(chunk, file)

    def paths(self) -> frozenset[str]:
        """Return every path that is pointed to."""
        pairs = np.unique(np.stack([self.chunk_index, self.file_index], axis=1), axis=0)
        return frozenset(self._fill(c, f) for c, f in pairs.tolist() if ABSENT not in (c, f))

    def sharing(self, row: int) -> npt.NDArray[np.intp]:
        """Return the metadata rows that point to the same file."""
        same_chunk = self.chunk_index == self.chunk_index[row]
        return np.flatnonzero(same_chunk & (self.file_index == self.file_index[row]))

    def groups(self) -> Int64Array:
        """Return (E,) one number per file; equal numbers share a file."""
        return (self.chunk_index << _FILE_BITS) + self.file_index

    def _fill(self, chunk: int, file: int) -> str:
        key = {"video_key": self.video_key}
        return self.template.fill(chunk_index=chunk, file_index=file, **key)


def data_pointers(table: EpisodeTable, template: PathTemplate) -> FilePointers:
    """Return where the metadata says that each episode's rows lie."""
    return FilePointers(
        template,
        "",
        table.integers("data/chunk_index", "data_chunk_index"),
        table.integers("data/file_index", "data_file_index"),
    )


def video_pointers(table: EpisodeTable, template: PathTemplate, key: str) -> FilePointers:
    """Return where the metadata says that each episode's frames of a camera lie."""
    prefix = f"videos/{key}"
    return FilePointers(
        template,
        key,
        table.integers(f"{prefix}/chunk_index"),
        table.integers(f"{prefix}/file_index"),
    )
