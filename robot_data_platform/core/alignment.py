"""Which sample and which picture belong to each row; integers only, nothing invented.

The finest signal is the row clock. A slower signal is held: a row gets the last sample at or
before it. A camera is matched to the nearest picture, with its signed offset.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robot_data_platform.core.recording import ACTION, STATE, Int64Array, Interval, Signal
from robot_data_platform.core.time_base import NS_PER_S

NONE = -1
"""Index that says: no sample, no picture."""

MISSING_FRAME_FACTOR = 1.5
"""A step between pictures longer than this many median steps means that a picture is missing."""

EQUAL_RATE_TOLERANCE = 0.01
"""Signals whose median periods differ by less than this share count as equally fine."""


@dataclass(frozen=True, slots=True)
class Match:
    """For each row, an index into another stream and how far away in time it is."""

    index: Int64Array
    """(R,) position in the stream, or -1."""
    offset_ns: Int64Array
    """(R,) time of the match minus time of the row; 0 where there is none."""

    @property
    def found(self) -> npt.NDArray[np.bool_]:
        """(R,) whether there is a match."""
        is_found: npt.NDArray[np.bool_] = self.index != NONE
        return is_found


def median_step_ns(timestamp_ns: Int64Array) -> int | None:
    """Return the median step of a clock, or None with fewer than two samples."""
    if len(timestamp_ns) < 2:
        return None
    return int(np.median(np.diff(timestamp_ns)))


def rate_hz(timestamp_ns: Int64Array) -> float | None:
    """Return the rate of a clock by its median step, or None with fewer than two samples."""
    step_ns = median_step_ns(timestamp_ns)
    return round(NS_PER_S / step_ns, 6) if step_ns else None


def row_clock(signals: Sequence[Signal]) -> Signal:
    """Return the signal whose time stamps are the rows: the finest one.

    Among signals that are equally fine (`EQUAL_RATE_TOLERANCE`), the state comes before the
    action, and the action before the others.
    """
    steps = [median_step_ns(signal.timestamp_ns) or np.iinfo(np.int64).max for signal in signals]
    finest = min(steps)
    preferred = {STATE: 0, ACTION: 1}
    candidates = [s for s, step in zip(signals, steps, strict=True) if _about(step, finest)]
    return min(candidates, key=lambda signal: preferred.get(signal.name, 2))


def _about(step: float, finest: float) -> bool:
    return step <= finest * (1 + EQUAL_RATE_TOLERANCE)


def hold(row_ns: Int64Array, sample_ns: Int64Array) -> Match:
    """Return, for each row, the last sample at or before it.

    Parameters
    ----------
    row_ns : ndarray of int64, shape (R,)
        Row times, increasing.
    sample_ns : ndarray of int64, shape (N,)
        Sample times, increasing.

    Returns
    -------
    Match
        ``offset_ns <= 0``; its negative is the age. Rows before the first sample have none, nor
        have rows more than one median step after the last: the stream has ended there.
    """
    index = np.searchsorted(sample_ns, row_ns, side="right").astype(np.int64) - 1
    if len(sample_ns) == 0:
        return Match(index, np.zeros_like(row_ns))
    index[row_ns > sample_ns[-1] + (median_step_ns(sample_ns) or 0)] = NONE
    return Match(index, _offset(row_ns, sample_ns, index))


def match_nearest(row_ns: Int64Array, frame_ns: Int64Array) -> Match:
    """Return, for each row, the nearest picture that is honestly near.

    Between two neighbouring pictures the nearer one belongs to a row, the earlier at a tie: at
    most half their distance away. Where a picture is missing between them, or outside the
    stream, a picture belongs to a row only within half a median step.

    Parameters
    ----------
    row_ns : ndarray of int64, shape (R,)
        Row times, increasing.
    frame_ns : ndarray of int64, shape (F,)
        Capture times, increasing.
    """
    if len(frame_ns) == 0:
        return Match(np.full(len(row_ns), NONE, dtype=np.int64), np.zeros_like(row_ns))
    after = np.searchsorted(frame_ns, row_ns, side="left")
    right = np.minimum(after, len(frame_ns) - 1)
    left = np.maximum(after - 1, 0)
    is_left = np.abs(row_ns - frame_ns[left]) <= np.abs(frame_ns[right] - row_ns)
    index = np.where(is_left, left, right).astype(np.int64)
    step = median_step_ns(frame_ns) or 0
    gap_ns = frame_ns[right] - frame_ns[left]
    is_whole = (left != right) & (gap_ns <= MISSING_FRAME_FACTOR * step)
    distance_ns = np.abs(frame_ns[index] - row_ns)
    index[~is_whole & (2 * distance_ns > step)] = NONE
    return Match(index, _offset(row_ns, frame_ns, index))


def _offset(row_ns: Int64Array, sample_ns: Int64Array, index: Int64Array) -> Int64Array:
    return np.where(index == NONE, 0, sample_ns[index] - row_ns)


def label_at(row_ns: Int64Array, intervals: Sequence[Interval]) -> list[str | None]:
    """Return each row's label: of the last interval in the list that holds there, else None."""
    labels: npt.NDArray[np.object_] = np.full(len(row_ns), None, dtype=object)
    for interval in intervals:
        labels[(row_ns >= interval.start_ns) & (row_ns < interval.end_ns)] = interval.value
    return list(labels)
