"""Whether the background moves as a wrist camera does: kinematics and time, without a mask."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robot_data_platform.core.rotation import Float64Array
from robot_data_platform.spatial.optional_packages import import_spatial
from robot_data_platform.spatial.projection import Pinhole
from robot_data_platform.spatial.thresholds import MIN_PARALLAX_PX, MIN_TRACKS

Pictures = npt.NDArray[np.uint8]
Masks = npt.NDArray[np.bool_]

_AWAY_PX = 7
_MIN_BASELINE_M = 0.003
"""A camera that only turns has no epipolar lines."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Following:
    """Which points of a picture are followed."""

    max_points: int
    min_quality: float
    """Of the best corner's."""
    min_apart_px: float
    max_return_px: float
    """Points that do not come back to where they began, within this, are mistaken."""


USUAL = Following(max_points=150, min_quality=0.01, min_apart_px=5, max_return_px=0.7)
DENSE = Following(max_points=500, min_quality=0.003, min_apart_px=4, max_return_px=0.3)
"""More points, each surer: for what is measured from them, not only judged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EpipolarResidual:
    """How far tracked points are off the lines that the camera's motion allows."""

    px: float
    """Median distance from the line."""
    px_per_10px: float
    """The same per 10 px of motion."""
    num_tracks: int


def epipolar_residual(
    earlier: Pictures,
    later: Pictures,
    robot_masks: Masks,
    later_from_earlier_cam: Float64Array,
    lens: Pinhole,
) -> EpipolarResidual | None:
    """Return how the background's motion agrees with the camera's; None = too little of either.

    Parameters
    ----------
    earlier, later : ndarray of uint8, shape (P, H, W, 3)
        Pairs of pictures of a camera that the robot carries.
    robot_masks : ndarray of bool, shape (P, H, W)
        Where the robot is in the earlier ones: what it carries does not move with the background.
    later_from_earlier_cam : ndarray of float64, shape (P, 4, 4)
        Motion of the camera by forward kinematics.
    lens : Pinhole
        Lens for the size of the pictures.
    """
    offsets, motions = [], []
    for pair in zip(earlier, later, robot_masks, later_from_earlier_cam, strict=True):
        if np.linalg.norm(pair[3][:3, 3]) < _MIN_BASELINE_M:
            continue
        away = _away_from(pair[2])
        found = tracks(pair[0], pair[1], away)
        start, stop = found.start, found.stop
        motion = np.linalg.norm(stop - start, axis=1)
        if len(motion) and np.median(motion) >= MIN_PARALLAX_PX:
            offsets.append(np.abs(line_offsets_px(start, stop, pair[3], lens)))
            motions.append(motion)
    if sum(map(len, motions)) < MIN_TRACKS:
        return None
    offset = float(np.median(np.concatenate(offsets)))
    return EpipolarResidual(
        px=offset,
        px_per_10px=10 * offset / float(np.median(np.concatenate(motions))),
        num_tracks=sum(map(len, motions)),
    )


def line_offsets_px(
    start: Float64Array, stop: Float64Array, later_from_earlier_cam: Float64Array, lens: Pinhole
) -> Float64Array:
    """Return how far points (N, 2) end to a side of their epipolar lines, in pixels, (N,)."""
    x, y, z = later_from_earlier_cam[:3, 3]
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    back = np.linalg.inv(lens.intrinsics_px)
    fundamental = back.T @ cross @ later_from_earlier_cam[:3, :3] @ back
    ones = np.ones((len(start), 1))
    lines = np.hstack([start, ones]) @ fundamental.T
    gap = (np.hstack([stop, ones]) * lines).sum(axis=1)
    return np.asarray(gap / np.maximum(np.linalg.norm(lines[:, :2], axis=1), 1e-12))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Tracks:
    """Points followed from one picture to another."""

    start: Float64Array
    """(N, 2)."""
    stop: Float64Array
    """(N, 2)."""

    def off(self, robot: Masks) -> Tracks:
        """Return the points that begin away from the robot, (H, W)."""
        place = np.rint(self.start).astype(np.int64)
        away = _away_from(robot)[place[:, 1], place[:, 0]]
        return Tracks(start=self.start[away], stop=self.stop[away])


def tracks(
    earlier: Pictures, later: Pictures, mask: Masks | None = None, following: Following = USUAL
) -> Tracks:
    """Return points of a picture (H, W, 3) that are found again in another one.

    Parameters
    ----------
    earlier, later : ndarray of uint8, shape (H, W, 3)
        RGB.
    mask : ndarray of bool, shape (H, W), optional
        Where points may begin; None = everywhere.
    following : Following
        Which points.
    """
    cv2 = import_spatial("cv2")
    first, second = (cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY) for picture in (earlier, later))
    allowed = None if mask is None else mask.astype(np.uint8)
    wanted = (following.max_points, following.min_quality, following.min_apart_px)
    points = cv2.goodFeaturesToTrack(first, *wanted, mask=allowed)
    if points is None:
        return Tracks(start=np.zeros((0, 2)), stop=np.zeros((0, 2)))
    ends, found, _ = cv2.calcOpticalFlowPyrLK(first, second, points, None)
    again, returned, _ = cv2.calcOpticalFlowPyrLK(second, first, ends, None)
    back = np.linalg.norm((again - points).reshape(-1, 2), axis=1)
    good = (found.ravel() == 1) & (returned.ravel() == 1) & (back < following.max_return_px)
    start, stop = (array.reshape(-1, 2)[good].astype(np.float64) for array in (points, ends))
    return Tracks(start=start, stop=stop)


def _away_from(robot: Masks) -> Masks:
    cv2 = import_spatial("cv2")
    near = cv2.dilate(robot.astype(np.uint8), np.ones((2 * _AWAY_PX + 1,) * 2, np.uint8))
    return np.asarray(near == 0)
