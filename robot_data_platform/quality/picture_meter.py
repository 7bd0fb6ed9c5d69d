"""What is measured on decoded pictures: brightness, contrast, motion, change over two time spans.

A picture is taken as the mean levels of its 8 x 8 pixel blocks, from every second row: coding
noise, which is different in two codings of one picture, averages out in them, and an edge that
moves does not. Change is that of the most changed thousandth of the blocks, since a robot may be
small in its picture.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from math import ceil

import numpy as np
import numpy.typing as npt

from robot_data_platform.core.recording import Picture
from robot_data_platform.quality.rules.timing import NS_PER_MS, period_ns
from robot_data_platform.quality.runs import Ints

Levels = npt.NDArray[np.float32]
"""Grey levels of 8-bit luma, 0 to 255."""
BlockSums = npt.NDArray[np.int16]

BLOCK_PX = 8
"""Side of a block: the codecs' transform size, over which their noise has no mean."""
ROW_STEP = 2
"""Rows from one that is read to the next: the other rows would cost as much and tell little."""
FULL_RANGE = 2
"""FFmpeg's ``AVCOL_RANGE_JPEG``."""
PERCENTILES = (5, 50, 99)
"""Of the block levels of a picture."""
WINDOW_MS, WINDOW_MIN_FRAMES = 500, 4
"""The longer of the two time spans: the shortest freeze that can be told."""
DEAD_ZONE = 1
"""Levels of a block's change that are left out of motion: coding noise, summed over a picture,
outweighs a small robot."""

ROUNDING = 0.01
"""Share of a frame by which rounded time stamps may make a window too short."""

_PIXELS = BLOCK_PX * BLOCK_PX // ROW_STEP
_EVEN_BYTES = np.uint64(0x00FF00FF00FF00FF)
_FOUR_ONES = np.uint64(0x0001000100010001)


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamPictures:
    """Measurements of one camera stream; NaN of frames that did not decode.

    Of depth maps, `percentiles` and `motion` are NaN, so that rules on light find nothing, and
    changes are shares of the pixels, not levels.
    """

    camera: str
    pts_ns: Ints
    """(F,) capture time of each frame."""
    black: float
    """Luma level of black: 0, or 16 in limited range."""
    white: float
    """Luma level of white: 255, or 235 in limited range."""
    window_frames: int
    """Frames in the longer of the two time spans."""
    percentiles: Levels
    """(F, 3) block levels at `PERCENTILES`."""
    change: Levels
    """(F,) change since the frame before; NaN for the first."""
    window_change: Levels
    """(F,) change since ``window_frames`` frames before; NaN for those without."""
    motion: Levels
    """(F,) mean change of all blocks since the frame before, each less `DEAD_ZONE`."""
    measured_share: Levels
    """(F,) share of the pixels of a depth map that are not 0; NaN of other pictures."""
    is_depth: bool = False
    """Whether they are depth maps."""


def window_frames(pts_ns: Ints) -> int:
    """Return how many frames of a stream make the longer time span."""
    period = period_ns(pts_ns)
    if period is None:
        return WINDOW_MIN_FRAMES
    return max(WINDOW_MIN_FRAMES, ceil(WINDOW_MS * NS_PER_MS / period - ROUNDING))


class PictureMeter:
    """Measures a stream picture by picture; holds the blocks of the last window only."""

    def __init__(self, num_frames: int, window: int) -> None:
        self._window = window
        self._recent: deque[BlockSums | None] = deque(maxlen=window)
        self._num_seen = 0
        self.percentiles = np.full((num_frames, len(PERCENTILES)), np.nan, dtype=np.float32)
        """(F, 3) as in `StreamPictures`, filled so far."""
        self.change = np.full(num_frames, np.nan, dtype=np.float32)
        """(F,)"""
        self.window_change = np.full(num_frames, np.nan, dtype=np.float32)
        """(F,)"""
        self.motion = np.full(num_frames, np.nan, dtype=np.float32)
        """(F,)"""

    def add(self, luma: Picture) -> None:
        """Measure the next picture, (H, W) uint8 luma."""
        blocks = block_sums(luma)
        at = self._num_seen
        self.percentiles[at] = _percentiles(blocks)
        if self._recent and self._recent[-1] is not None:
            self.change[at] = most_changed(blocks, self._recent[-1])
            self.motion[at] = mean_motion(blocks, self._recent[-1])
        if len(self._recent) == self._window and self._recent[0] is not None:
            self.window_change[at] = most_changed(blocks, self._recent[0])
        self._push(blocks)

    def skip(self, num_frames: int) -> None:
        """Leave out frames that could not be decoded, or that are no pictures to look at."""
        for _ in range(num_frames):
            self._push(None)

    def _push(self, blocks: BlockSums | None) -> None:
        self._recent.append(blocks)
        self._num_seen += 1


def block_sums(luma: Picture) -> BlockSums:
    """Return the sum of each 8 x 8 block of a picture over every second row, block row by row.

    Blocks that the right or lower border cuts are left out.

    Parameters
    ----------
    luma : ndarray of uint8, shape (H, W)
        Rows must be contiguous. A side below 8 pixels is padded by its last line.

    Returns
    -------
    ndarray of int16, shape ((H // 8) * (W // 8),)

    Notes
    -----
    Eight bytes are added as four 16-bit lanes of a 64-bit word, several times faster than sums of
    bytes over axes; 32 pixels of 255 fit a lane.
    """
    missing = [max(0, BLOCK_PX - side) for side in luma.shape]
    if any(missing):
        luma = np.pad(luma, [(0, count) for count in missing], mode="edge")
    rows, columns = (side // BLOCK_PX for side in luma.shape)
    words = luma[: rows * BLOCK_PX : ROW_STEP, : columns * BLOCK_PX].view(np.uint64)
    lanes = (words & _EVEN_BYTES) + (words >> np.uint64(8) & _EVEN_BYTES)
    tall = lanes.reshape(rows, BLOCK_PX // ROW_STEP, columns).sum(axis=1)
    sums: BlockSums = (tall * _FOUR_ONES >> np.uint64(48)).astype(np.int16)
    return sums.reshape(-1)


def most_changed(blocks: BlockSums, other: BlockSums) -> float:
    """Return the change, in levels, that all but a thousandth of the blocks stay below."""
    change = np.abs(blocks - other)
    rank = len(change) - 1 - len(change) // 1000
    return float(np.partition(change, rank)[rank]) / _PIXELS


def mean_motion(blocks: BlockSums, other: BlockSums) -> float:
    """Return the mean change of the blocks, in levels, each less `DEAD_ZONE`."""
    change = np.abs(blocks - other)
    return float(np.maximum(change - DEAD_ZONE * _PIXELS, 0).mean()) / _PIXELS


def _percentiles(blocks: BlockSums) -> Levels:
    ranks = [(len(blocks) - 1) * percent // 100 for percent in PERCENTILES]
    return np.asarray(np.sort(blocks)[ranks] / _PIXELS, dtype=np.float32)
