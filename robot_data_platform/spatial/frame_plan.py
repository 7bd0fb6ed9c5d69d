"""Which frames to look at: where the robot moves most, and where it stands elsewhere."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robot_data_platform.core.rotation import Float64Array

WORKING_WIDTH_PX = 320
"""Wider pictures are made smaller before they are measured; the thresholds are meant for this."""
NUM_MOVING, NUM_SPREAD = 8, 4
PAIR_NS = 100_000_000
"""From the first picture of a pair to the second."""
MAX_MOTION_NS = 30_000_000_000
"""Longest stretch of consecutive frames whose motion is followed."""

Int64Array = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FramePlan:
    """The frames of a camera to decode."""

    single: Int64Array
    """(S,) frames to compare with the projection, sorted."""
    pair_first: Int64Array
    """(P,) first frames of pairs; all are in ``single``."""
    pair_second: Int64Array
    """(P,) frames `PAIR_NS` later."""
    motion: range
    """Consecutive frames whose change is followed, at `time_lag.MOTION_SIZE_PX`."""

    @property
    def pictures(self) -> Int64Array:
        """Every frame that is needed at working size, sorted, each once."""
        return np.unique(np.concatenate([self.single, self.pair_first, self.pair_second]))


def plan_frames(joints: Float64Array, frame_ns: Int64Array) -> FramePlan:
    """Return which frames of a camera to decode.

    Parameters
    ----------
    joints : ndarray of float64, shape (F, J)
        Values of the joints at each frame, from `joints_at`; NaN = not known, or no row there.
    frame_ns : ndarray of int64, shape (F,)
        Time of each frame, increasing.
    """
    known = np.nan_to_num(joints)
    second = np.searchsorted(frame_ns, frame_ns + PAIR_NS)
    inside = _inside(joints)
    has_second = np.flatnonzero(inside & np.append(inside, False)[second])
    way = np.abs(known[second[has_second]] - known[has_second]).sum(axis=1)
    parts = np.array_split(np.arange(len(has_second)), NUM_MOVING)
    fastest = [part[int(np.argmax(way[part]))] for part in parts if len(part)]
    pair_first = has_second[np.array(fastest, dtype=np.int64)]
    spread = _farthest(known, np.flatnonzero(inside), NUM_SPREAD)
    return FramePlan(
        single=np.union1d(pair_first, spread),
        pair_first=pair_first,
        pair_second=second[pair_first],
        motion=_liveliest(known, frame_ns),
    )


def joints_at(
    joints: Float64Array,
    row_ns: Int64Array,
    frame_ns: Int64Array,
    is_turning: npt.NDArray[np.bool_],
) -> Float64Array:
    """Return joints at the times of frames, between rows, (F, J); NaN outside the rows.

    Parameters
    ----------
    joints : ndarray of float64, shape (N, J)
        Radians or metres.
    row_ns : ndarray of int64, shape (N,)
        Time of each row, increasing.
    frame_ns : ndarray of int64, shape (F,)
        Time of each frame.
    is_turning : ndarray of bool, shape (J,)
        Joints that turn: a step from pi to -pi is none.
    """
    result = np.full((len(frame_ns), joints.shape[1]), np.nan)
    inside = (
        (frame_ns >= row_ns[0]) & (frame_ns <= row_ns[-1]) if len(row_ns) else np.zeros(0, bool)
    )
    for column, values in enumerate(joints.T):
        known = np.isfinite(values)
        if known.any():
            smooth = np.unwrap(values[known]) if is_turning[column] else values[known]
            shifted = frame_ns[inside] - row_ns[0]
            result[inside, column] = np.interp(shifted, row_ns[known] - row_ns[0], smooth)
    return result


def working_size(width_px: int, height_px: int) -> tuple[int, int]:
    """Return the width and height at which pictures are measured.

    Examples
    --------
    >>> working_size(640, 480)
    (320, 240)
    """
    if width_px <= WORKING_WIDTH_PX:
        return width_px, height_px
    return WORKING_WIDTH_PX, max(1, round(height_px * WORKING_WIDTH_PX / width_px))


def _inside(joints: Float64Array) -> npt.NDArray[np.bool_]:
    return np.asarray(np.isfinite(joints).any(axis=1))


def _farthest(joints: Float64Array, candidates: Int64Array, number: int) -> Int64Array:
    """Return frames whose joints are far from each other's, the first one included."""
    if not len(candidates):
        return candidates
    chosen = [0]
    distance = np.full(len(candidates), np.inf)
    while len(chosen) < min(number, len(candidates)):
        last = joints[candidates] - joints[candidates[chosen[-1]]]
        distance = np.minimum(distance, np.linalg.norm(last, axis=1))
        chosen.append(int(np.argmax(distance)))
    return candidates[np.unique(chosen)]


def _liveliest(joints: Float64Array, frame_ns: Int64Array) -> range:
    """Return the stretch of at most `MAX_MOTION_NS` in which joints move most."""
    if not len(frame_ns):
        return range(0)
    way = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(joints, axis=0)).sum(axis=1))])
    stop = np.searchsorted(frame_ns, frame_ns + MAX_MOTION_NS, side="right")
    start = int(np.argmax(way[stop - 1] - way))
    return range(start, int(stop[start]))
