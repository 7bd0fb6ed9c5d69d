"""How close re-encoded pictures are to their source."""

from __future__ import annotations

import math

import numpy as np

from robot_data_platform.core.recording import Picture

MAX_PSNR_DB = 100.0
"""What equal pictures count as; 8-bit pictures that differ at all stay below."""


class Fidelity:
    """Peak signal-to-noise ratio over all pictures that were compared, in RGB.

    Both sides are to be converted to RGB in the same way, the best there is, so that what is
    measured is the coding, chroma subsampling included, and not the reader's converter.
    """

    def __init__(self) -> None:
        self._sum_squares = 0
        self._num_samples = 0

    def compare(self, source: Picture, decoded: Picture) -> None:
        """Take in one pair of pictures, each (H, W, 3) uint8."""
        difference = source.astype(np.int32) - decoded
        self._sum_squares += int(np.square(difference).sum(dtype=np.int64))
        self._num_samples += difference.size

    @property
    def psnr_db(self) -> float | None:
        """PSNR in dB over every pixel and channel so far; None before the first picture."""
        if not self._num_samples:
            return None
        if not self._sum_squares:
            return MAX_PSNR_DB
        mean_square = self._sum_squares / self._num_samples
        return min(MAX_PSNR_DB, 10 * math.log10(255**2 / mean_square))
