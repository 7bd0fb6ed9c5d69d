"""Whether edges lie where the robot's outline is projected; no segmentation is needed."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robot_data_platform.core.rotation import Float64Array
from robot_data_platform.spatial.optional_packages import import_spatial
from robot_data_platform.spatial.outline import Outline

SEARCH_PX = 16
"""Shifts that are tried each way, at the working size."""
_RING_PX = 6.0
"""Shifts farther than this are the background that the score at zero is held against."""
_MIN_POINTS = 20
_SOFT_FLOOR = 4.0
"""Grey levels per pixel: a picture without any texture does not make noise an edge."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeLock:
    """How well outlines lock onto edges, over the frames of a camera."""

    offset_px: float
    """Length of the shift at which they lock best."""
    dx_px: float
    dy_px: float
    z: float
    """Score at no shift over the mean of far shifts, in their standard deviations."""
    score: float
    """Mean score at no shift, 0 to 1."""


def edge_lock(pictures: npt.NDArray[np.uint8], outlines: Sequence[Outline]) -> EdgeLock | None:
    """Return how projected outlines lock onto the edges of pictures; None = no outline to lock.

    Parameters
    ----------
    pictures : ndarray of uint8, shape (S, H, W, 3)
        RGB.
    outlines : sequence of Outline, length S
        Of the projected robot, or of some of its links.
    """
    return lock_of(
        [
            shift_scores(picture_slopes(p), points)
            for p, points in zip(pictures, outlines, strict=True)
        ]
    )


def lock_of(scores_by_frame: Sequence[Float64Array | None]) -> EdgeLock | None:
    """Return how outlines lock onto edges, from the `shift_scores` of each frame."""
    known = [scores for scores in scores_by_frame if scores is not None]
    if not known:
        return None
    scores = np.mean(known, axis=0)
    offset = np.arange(-SEARCH_PX, SEARCH_PX + 1)
    dy, dx = np.meshgrid(offset, offset, indexing="ij")
    best = np.unravel_index(int(np.argmax(scores)), scores.shape)
    ring = scores[np.hypot(dx, dy) > _RING_PX]
    at_zero = float(scores[SEARCH_PX, SEARCH_PX])
    return EdgeLock(
        offset_px=float(np.hypot(dx[best], dy[best])),
        dx_px=float(dx[best]),
        dy_px=float(dy[best]),
        z=float((at_zero - ring.mean()) / max(float(ring.std()), 1e-9)),
        score=at_zero,
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PictureSlopes:
    """How steep grey levels are in a picture."""

    x: npt.NDArray[np.float32]
    """(H, W) grey levels per pixel to the right."""
    y: npt.NDArray[np.float32]
    """(H, W) downwards."""
    usual: float
    """Size that four fifths of the slopes stay below."""


def picture_slopes(picture: npt.NDArray[np.uint8]) -> PictureSlopes:
    """Return the slopes of a picture (H, W, 3), a little smoothed."""
    cv2 = import_spatial("cv2")
    grey = cv2.GaussianBlur(cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY), (0, 0), 1.0)
    slope_x = cv2.Sobel(grey, cv2.CV_32F, 1, 0, ksize=3) / 8
    slope_y = cv2.Sobel(grey, cv2.CV_32F, 0, 1, ksize=3) / 8
    usual = float(np.percentile(np.hypot(slope_x, slope_y), 80))
    return PictureSlopes(x=slope_x, y=slope_y, usual=max(usual, _SOFT_FLOOR))


def shift_scores(slopes: PictureSlopes, points: Outline) -> Float64Array | None:
    """Return the score of each shift of an outline over a picture, ``[dy, dx]``.

    None where the outline has too few points.

    Each point scores ``a / (a + s)``: ``a`` is the picture's slope along the outline's normal, and
    ``s`` the size that four fifths of its slopes stay below.
    """
    if len(points.pixels) < _MIN_POINTS:
        return None
    offset = np.arange(-SEARCH_PX, SEARCH_PX + 1)
    dy, dx = np.meshgrid(offset, offset, indexing="ij")
    shifts = np.stack([dx.ravel(), dy.ravel()], axis=1)
    return _scores(slopes, points, shifts).reshape(dy.shape)


def ring_scores(slopes: PictureSlopes, points: Outline) -> Float64Array:
    """Return the score of an outline at no shift, then of it at `_RING`, (1 + R,)."""
    return _scores(slopes, points, _RING)


def _ring() -> npt.NDArray[np.int64]:
    """Return no shift, and shifts of two lengths all round."""
    angle = np.arange(12) / 12 * 2 * np.pi
    circles = [radius * np.stack([np.cos(angle), np.sin(angle)], axis=1) for radius in (8, 14)]
    return np.asarray(np.rint(np.concatenate([np.zeros((1, 2)), *circles])), dtype=np.int64)


_RING = _ring()


def _scores(slopes: PictureSlopes, points: Outline, shifts: npt.NDArray[np.int64]) -> Float64Array:
    scores = np.zeros(len(shifts))
    place = np.rint(points.pixels).astype(np.int64)
    _compiled()(slopes.x, slopes.y, place, points.normals, slopes.usual, shifts, scores)
    return scores


@functools.cache
def _compiled() -> Callable[..., None]:
    numba = import_spatial("numba")
    compiled: Callable[..., None] = numba.njit(cache=True, nogil=True)(_score)
    return compiled


def _score(
    slope_x: npt.NDArray[np.float32],
    slope_y: npt.NDArray[np.float32],
    place: npt.NDArray[np.int64],
    normals: Float64Array,
    usual: float,
    shifts: npt.NDArray[np.int64],
    scores: Float64Array,
) -> None:
    """Write the mean score of each shift; numba makes machine code of it."""
    height, width = slope_x.shape
    for shift in range(shifts.shape[0]):
        total, count = 0.0, 0
        for point in range(place.shape[0]):
            x = place[point, 0] + shifts[shift, 0]
            y = place[point, 1] + shifts[shift, 1]
            if 0 <= x < width and 0 <= y < height:
                along = slope_x[y, x] * normals[point, 0] + slope_y[y, x] * normals[point, 1]
                total += abs(along) / (abs(along) + usual)
                count += 1
        if count * 2 > place.shape[0]:
            scores[shift] = total / count
