"""Which dimensions of the state move while each window of a camera's frames is taken."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from robot_data_platform.quality.rules.values import (
    Floats,
    SignalRows,
    takes_few_values,
    visible_range,
)
from robot_data_platform.quality.runs import Bools, Ints
from robot_data_platform.quality.thresholds import Thresholds

_SIGMA_PER_MEDIAN = 1.4826
"""Standard deviation of normal noise over the median of its absolute values."""
_SECOND_DIFFERENCE_GAIN = 6**0.5
"""Standard deviation of ``x[i-1] - 2 x[i] + x[i+1]`` over that of independent ``x``."""


def moved_in_windows(
    signal: SignalRows, row_ns: Ints, pts_ns: Ints, window: int, limits: Thresholds
) -> Bools:
    """Return which dimensions were under way in each window of frames.

    A dimension is under way where it covers a share of its range within the window, beyond its
    own noise. Dimensions that hardly move in the whole episode, beside the others or in any unit
    in use, never are.

    Parameters
    ----------
    signal : SignalRows
        The measured state, or where there is none the action.
    row_ns : ndarray of int64, shape (N,)
        Time of the signal's rows.
    pts_ns : ndarray of int64, shape (F,)
        Time of the camera's frames.
    window : int
        Frames in a window.

    Returns
    -------
    ndarray of bool, shape (max(0, F - window), D)
        Entry ``i`` is the window of frames ``i`` to ``i + window``, both included; false where
        the frames are outside the rows.
    """
    values = np.where(np.isfinite(signal.values), signal.values, np.nan)
    held = _held(values, row_ns, pts_ns)
    if len(held) <= window:
        return np.zeros((0, held.shape[1]), dtype=np.bool_)
    windows = np.lib.stride_tricks.sliding_window_view(held, window + 1, axis=0)
    travel = np.fmax.reduce(windows, axis=-1) - np.fmin.reduce(windows, axis=-1)
    spread = _spread(values)
    needed = limits.motion_share.value * spread + limits.motion_noise.value * _noise(values)
    return np.asarray((travel >= needed) & _can_move(values, spread, limits))


def rows_at_rest(signal: SignalRows, limits: Thresholds) -> tuple[int, int]:
    """Return how many rows pass before the robot leaves its first pose, and stay in its last.

    A pose is left where a dimension is a share of its range away from it, beyond its own noise.
    Both numbers are those of all rows where it never is.
    """
    values = np.where(np.isfinite(signal.values), signal.values, np.nan)
    spread = _spread(values)
    least = limits.motion_share.value * spread + limits.motion_noise.value * _noise(values)
    is_judged = _can_move(values, spread, limits)
    return (
        _num_at_first(values, least, is_judged),
        _num_at_first(values[::-1], least, is_judged),
    )


def _num_at_first(values: Floats, least: Floats, is_judged: Bools) -> int:
    """Return how many rows pass before a judged dimension is ``least`` from where it was first."""
    is_away = (np.abs(values - _first_known(values)) > least) & is_judged
    mask = np.any(is_away, axis=1)
    return int(np.argmax(mask)) if mask.any() else len(mask)


def _first_known(values: Floats) -> Floats:
    """Return the first value of each dimension that is there, (D,); NaN where none is."""
    is_known = np.isfinite(values)
    first = np.argmax(is_known, axis=0)
    return np.asarray(values[first, np.arange(values.shape[1])])


def _held(values: Floats, row_ns: Ints, pts_ns: Ints) -> npt.NDArray[np.float32]:
    """Return the value of each dimension at each frame, (F, D); NaN outside the rows."""
    place = np.searchsorted(row_ns, pts_ns, side="right") - 1
    held = np.full((len(pts_ns), values.shape[1]), np.nan, dtype=np.float32)
    is_within = (place >= 0) & (pts_ns <= (row_ns[-1] if len(row_ns) else 0))
    held[is_within] = values[place[is_within]]
    return held


def _spread(values: Floats) -> Floats:
    """Return the range of each dimension, (D,), its farthest hundredths left out."""
    known = np.where(np.isfinite(values).any(axis=0), values, 0.0)
    low, high = np.nanpercentile(known, [1, 99], axis=0)
    return np.asarray(high - low, dtype=np.float64)


def _noise(values: Floats) -> Floats:
    """Return the standard deviation of each dimension's noise, (D,): smooth motion has none."""
    if len(values) < 3:
        return np.zeros(values.shape[1])
    bend = np.abs(values[2:] - 2 * values[1:-1] + values[:-2])
    known = np.where(np.isfinite(bend), bend, 0.0)
    return np.asarray(np.median(known, axis=0) * _SIGMA_PER_MEDIAN / _SECOND_DIFFERENCE_GAIN)


def _can_move(values: Floats, spread: Floats, limits: Thresholds) -> Bools:
    """Return (D,) which dimensions move so far that a camera would see it."""
    return (spread >= visible_range(spread, limits)) & ~takes_few_values(values, limits)
