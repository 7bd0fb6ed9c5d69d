"""Pointers from episodes to files of LeRobot v3: one camera's videos, or the rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robot_data_platform.core.recording import Int64Array
from robot_data_platform.formats.lerobot.episode_table import ABSENT, EpisodeTable
from robot_data_platform.formats.lerobot.path_template import PathTemplate


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePointers:
    """Which file each row of the episodes' metadata points to."""

    files: tuple[str | None, ...]
    """(F,) each file once; None stands for pointing to nothing."""
    file_number: Int64Array
    """(E,) position in ``files``."""

    def path(self, row: int) -> str | None:
        """Return the relative path that a metadata row points to, or None."""
        return self.files[int(self.file_number[row])]

    def paths(self) -> frozenset[str]:
        """Return every path that is pointed to."""
        return frozenset(path for path in self.files if path is not None)

    def rows_of_file(self, number: int) -> npt.NDArray[np.intp]:
        """Return the metadata rows that point to a file."""
        return np.flatnonzero(self.file_number == number)


def data_pointers(table: EpisodeTable, template: PathTemplate) -> FilePointers:
    """Return where the metadata says that each episode's rows lie."""
    chunk = table.integers("data/chunk_index", "data_chunk_index")
    file = table.integers("data/file_index", "data_file_index")
    return _pointers(chunk, file, template, "")


def video_pointers(table: EpisodeTable, template: PathTemplate, key: str) -> FilePointers:
    """Return where the metadata says that each episode's frames of a camera lie."""
    chunk = table.integers(f"videos/{key}/chunk_index")
    file = table.integers(f"videos/{key}/file_index")
    return _pointers(chunk, file, template, key)


def _pointers(
    chunk: Int64Array, file: Int64Array, template: PathTemplate, key: str
) -> FilePointers:
    pairs, numbers = np.unique(np.stack([chunk, file], axis=1), axis=0, return_inverse=True)
    files = [
        None if ABSENT in (c, f) else template.fill(chunk_index=c, file_index=f, video_key=key)
        for c, f in pairs.tolist()
    ]
    return FilePointers(files=tuple(files), file_number=numbers.reshape(-1).astype(np.int64))
