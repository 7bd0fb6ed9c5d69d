"""Whether the picture changes where the robot is predicted to move, and not elsewhere."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robot_data_platform.spatial.optional_packages import import_spatial
from robot_data_platform.spatial.thresholds import MIN_MOTION_PX

Pictures = npt.NDArray[np.uint8]
Masks = npt.NDArray[np.bool_]

_AWAY_PX = 9
"""Distance from the robot at which pixels count as background, at the working size."""
_MAX_CHANGE = 3 * 255


@dataclass(frozen=True, slots=True, kw_only=True)
class MotionAuc:
    """How well change in the picture tells predicted motion from background."""

    auc: float
    """Chance that a pixel which the robot covers or uncovers changes more than one away from it."""
    num_moving_px: int


def motion_auc(
    earlier: Pictures, later: Pictures, earlier_masks: Masks, later_masks: Masks
) -> MotionAuc | None:
    """Return how the change between pairs of pictures agrees with the predicted motion.

    Parameters
    ----------
    earlier, later : ndarray of uint8, shape (P, H, W, 3)
        Pairs of pictures of a camera that stands still.
    earlier_masks, later_masks : ndarray of bool, shape (P, H, W)
        Where the robot should be in each.

    Returns
    -------
    MotionAuc or None
        None where the robot hardly moves, or fills the picture.
    """
    moving = np.zeros(_MAX_CHANGE + 1, dtype=np.int64)
    resting = np.zeros_like(moving)
    for pair in zip(earlier, later, earlier_masks, later_masks, strict=True):
        of_moving, of_resting = _changes(*pair)
        moving += np.bincount(of_moving, minlength=_MAX_CHANGE + 1)
        resting += np.bincount(of_resting, minlength=_MAX_CHANGE + 1)
    if moving.sum() < MIN_MOTION_PX or not resting.any():
        return None
    return MotionAuc(auc=auc_of_counts(moving, resting), num_moving_px=int(moving.sum()))


def changes_between(earlier: Pictures, later: Pictures) -> npt.NDArray[np.float32]:
    """Return how much each pixel changes between two pictures (H, W, 3), brightness matched."""
    everywhere = np.ones(earlier.shape[:2], dtype=np.bool_)
    matched = _brightness_matched(later, earlier, everywhere)
    return np.asarray(np.abs(matched - earlier.astype(np.float32)).sum(axis=2), dtype=np.float32)


def separation(
    changes: npt.NDArray[np.float32],
    earlier_masks: Masks,
    later_masks: Masks,
    min_motion_px: float = MIN_MOTION_PX,
) -> float | None:
    """Return the AUC of `motion_auc` for changes (P, H, W) that are known; None = no motion."""
    levels = np.clip(np.rint(changes), 0, _MAX_CHANGE).astype(np.int64)
    moving = earlier_masks ^ later_masks
    resting = np.stack([~_near(union) for union in earlier_masks | later_masks])
    if moving.sum() < min_motion_px or not resting.any():
        return None
    counts = (np.bincount(levels[part], minlength=_MAX_CHANGE + 1) for part in (moving, resting))
    return auc_of_counts(*counts)


def _near(union: Masks) -> Masks:
    cv2 = import_spatial("cv2")
    return np.asarray(
        cv2.dilate(union.astype(np.uint8), np.ones((2 * _AWAY_PX + 1,) * 2, np.uint8)) > 0
    )


def auc_of_counts(positive: npt.NDArray[np.int64], negative: npt.NDArray[np.int64]) -> float:
    """Return the chance that a positive has the larger value; ties count half.

    Parameters
    ----------
    positive, negative : ndarray of int64, shape (K,)
        How many have the value 0, 1, 2 ...

    Examples
    --------
    >>> auc_of_counts(np.array([0, 1, 1]), np.array([1, 1, 0]))
    0.875
    """
    below = np.cumsum(negative) - negative
    wins = positive * (below + negative / 2)
    return float(wins.sum() / (positive.sum() * negative.sum()))


def _changes(
    earlier: Pictures, later: Pictures, earlier_mask: Masks, later_mask: Masks
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the change of the pixels where the robot moves, and of those away from it."""
    near = _near(earlier_mask | later_mask)
    matched = _brightness_matched(later, earlier, ~near)
    change = np.abs(matched - earlier.astype(np.float32)).sum(axis=2)
    levels = np.clip(np.rint(change), 0, _MAX_CHANGE).astype(np.int64)
    return levels[earlier_mask ^ later_mask], levels[~near]


def _brightness_matched(
    picture: Pictures, reference: Pictures, where: Masks
) -> npt.NDArray[np.float32]:
    """Return a picture with each channel as bright as in the reference, judged ``where``.

    Lamps flicker: unmatched, a clean camera falls to the level of a wrong one.
    """
    values = picture.astype(np.float32)
    if not where.any():
        return values
    own, wanted = values[where], reference[where].astype(np.float32)
    lit = (own > 8).all(axis=1) & (wanted > 8).all(axis=1)
    if lit.sum() < MIN_MOTION_PX:
        return values
    return np.asarray(values * np.median(wanted[lit] / own[lit], axis=0), dtype=np.float32)
