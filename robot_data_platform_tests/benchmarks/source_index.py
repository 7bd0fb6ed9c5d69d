"""Where the source pictures lie in their HDF5 files, readable without an HDF5 library.

Run by the peers' Python too, so it needs numpy only.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

INDEX_FILE = "source.json"
SIGNALS_FILE = "signals.npy"


@dataclass(frozen=True)
class SourceIndex:
    """The source of every store: raw RGB pictures, and one row of signals each."""

    folder: Path
    files: Sequence[str]
    """One file an episode, relative to ``folder``."""
    offset_by_camera: Mapping[str, Sequence[int]]
    """Byte where each episode's pictures start, by camera."""
    shape: Sequence[int]
    """(T, H, W, 3) of every episode."""

    @classmethod
    def load(cls, folder: Path, index_file: Path) -> SourceIndex:
        """Return the index of the files below ``folder``."""
        return cls(folder=folder, **json.loads(index_file.read_text()))

    @property
    def rows_per_episode(self) -> int:
        """T."""
        return self.shape[0]

    def pictures(self, camera: str, episode: int) -> npt.NDArray[np.uint8]:
        """Return an episode's pictures, (T, H, W, 3), mapped and not loaded."""
        mapped: npt.NDArray[np.uint8] = np.memmap(
            self.folder / self.files[episode],
            np.uint8,
            mode="r",
            offset=self.offset_by_camera[camera][episode],
            shape=tuple(self.shape),
        )
        return mapped

    def picture(self, camera: str, row: int) -> npt.NDArray[np.uint8]:
        """Return the picture of a row of the whole dataset, (H, W, 3)."""
        episode, step = divmod(row, self.rows_per_episode)
        picture: npt.NDArray[np.uint8] = self.pictures(camera, episode)[step]
        return picture


def squared_error(shown: npt.NDArray[np.uint8], source: npt.NDArray[np.uint8]) -> float:
    """Return the mean squared error of a picture, over all pixels and channels."""
    difference = shown.astype(np.int16) - source
    return float(np.mean(np.square(difference, dtype=np.int32)))


def psnr_db(errors: Sequence[float]) -> float:
    """Return the PSNR of pictures from the mean squared error of each."""
    return float(10 * np.log10(255**2 / max(float(np.mean(errors)), 1e-12)))


def fidelity_rows(num_rows: int) -> Iterator[int]:
    """Yield the rows whose pictures are compared with their source.

    The step shares no factor with a GOP size, so that every place in a GOP has its turn.
    """
    yield from range(0, num_rows, 11)
