"""What is measured on depth maps: how much of each is measured, and how much of it changes."""

from __future__ import annotations

from collections import deque

import numpy as np

from robot_data_platform.core.recording import DepthPicture

PIXEL_STEP = 4
"""Pixels and rows from one that is compared to the next."""


class DepthMeter:
    """Measures depth maps one by one; holds every fourth pixel of the last window only."""

    def __init__(self, num_frames: int, window: int) -> None:
        self._recent: deque[DepthPicture | None] = deque(maxlen=window)
        self._window = window
        self._num_seen = 0
        self.measured_share = np.full(num_frames, np.nan, dtype=np.float32)
        """(F,) share of pixels that are not 0."""
        self.change = np.full(num_frames, np.nan, dtype=np.float32)
        """(F,) share of pixels that changed since the map before."""
        self.window_change = np.full(num_frames, np.nan, dtype=np.float32)
        """(F,) the same since the map ``window`` before."""

    def add(self, depth: DepthPicture) -> None:
        """Measure the next map, (H, W) uint16."""
        seen, at = depth[::PIXEL_STEP, ::PIXEL_STEP].copy(), self._num_seen
        self.measured_share[at] = np.count_nonzero(seen) / seen.size
        if self._recent and self._recent[-1] is not None:
            self.change[at] = np.mean(seen != self._recent[-1])
        if len(self._recent) == self._window and self._recent[0] is not None:
            self.window_change[at] = np.mean(seen != self._recent[0])
        self._push(seen)

    def skip(self, num_frames: int) -> None:
        """Leave out maps that could not be decoded."""
        for _ in range(num_frames):
            self._push(None)

    def _push(self, seen: DepthPicture | None) -> None:
        self._recent.append(seen)
        self._num_seen += 1
