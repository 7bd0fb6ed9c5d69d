"""How late pictures are: predicted motion in the picture against the motion that it shows.

Here a model of the robot and a calibration tell how far what is seen moves. `quality.lag` knows
neither: it weighs all joints so that they fit, which any episode allows, with a confidence.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robot_data_platform.core.peak import peak_shift
from robot_data_platform.core.rotation import Float64Array
from robot_data_platform.spatial.projection import Pinhole

SEARCH_MS = 500
"""Lags that are tried each way."""
MOTION_SIZE_PX = (96, 72)
"""Largest width and height of the pictures whose change is compared."""
_DEAD_ZONE = 4
"""Grey levels."""
_STEP_MS = 5
_MIN_INTERVALS = 20
_MIN_MOVING_SHARE = 0.1
"""Share of the frames in which something has to move."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeLag:
    """When the picture shows what the joints did."""

    lag_ms: float
    """Positive where pictures are late."""
    correlation: float
    """Of predicted and shown motion at that lag; low = something else moves too."""


def image_path_px(pixels: Float64Array) -> Float64Array:
    """Return how far points have moved through the picture on average, up to each row.

    Parameters
    ----------
    pixels : ndarray of float64, shape (N, P, 2)
        Projected points in each row; NaN where they are behind the camera.

    Returns
    -------
    ndarray of float64, shape (N,)
        Pixels, never falling, 0 in the first row.
    """
    step = np.linalg.norm(np.diff(pixels, axis=0), axis=2)
    known = np.isfinite(step)
    mean = np.where(known, step, 0).sum(axis=1) / np.maximum(known.sum(axis=1), 1)
    return np.concatenate([[0.0], np.cumsum(mean)])


def visible_pixels(xyz_cam_m: Float64Array, lens: Pinhole) -> Float64Array:
    """Return projected points (N, P, 2), NaN where they are outside the picture."""
    pixels = lens.project(xyz_cam_m)
    size = np.array([lens.width_px, lens.height_px])
    with np.errstate(invalid="ignore"):
        inside = ((pixels >= 0) & (pixels < size)).all(axis=2, keepdims=True)
    return np.where(inside, pixels, np.nan)


def shown_motion(greys: npt.NDArray[np.uint8]) -> Float64Array:
    """Return how much each picture differs from the one before, (F - 1,), in grey levels.

    Change within `_DEAD_ZONE` of each pixel is left out: added up over a picture, soft shadows and
    noise outweigh the arm.

    Parameters
    ----------
    greys : ndarray of uint8, shape (F, h, w)
        Consecutive pictures of the size `MOTION_SIZE_PX`.
    """
    pairs = zip(greys[1:], greys[:-1], strict=True)
    changes = [np.abs(new.astype(np.int16) - old) for new, old in pairs]
    return np.array([np.maximum(change - _DEAD_ZONE, 0).mean() for change in changes])


def time_lag(
    path_px: Float64Array,
    row_ns: npt.NDArray[np.int64],
    motion: Float64Array,
    frame_ns: npt.NDArray[np.int64],
) -> TimeLag | None:
    """Return by how much shown motion is behind predicted motion; None = hardly any motion.

    Parameters
    ----------
    path_px : ndarray of float64, shape (N,)
        From `image_path_px`.
    row_ns : ndarray of int64, shape (N,)
        Time of each row.
    motion : ndarray of float64, shape (F - 1,)
        From `shown_motion`.
    frame_ns : ndarray of int64, shape (F,)
        Stated time of each picture.
    """
    if len(motion) < _MIN_INTERVALS or len(path_px) < 2:
        return None
    origin = int(row_ns[0])
    row_ms, frame_ms = (row_ns - origin) / 1e6, (frame_ns - origin) / 1e6
    lags = np.arange(-SEARCH_MS, SEARCH_MS + 1, _STEP_MS, dtype=np.float64)
    per_ms = motion / np.maximum(np.diff(frame_ms), 1e-3)
    correlations = np.array(
        [_correlation(lag, path_px, row_ms, per_ms, frame_ms) for lag in lags.tolist()]
    )
    if not np.isfinite(correlations).any():
        return None
    best = int(np.nanargmax(correlations))
    return TimeLag(
        lag_ms=float(lags[best] + _STEP_MS * peak_shift(correlations, best)),
        correlation=float(correlations[best]),
    )


def _correlation(
    lag_ms: float,
    path_px: Float64Array,
    row_ms: Float64Array,
    motion: Float64Array,
    frame_ms: Float64Array,
) -> float:
    """Return how motion correlates with what the joints did ``lag_ms`` before; NaN = unknown."""
    shown = frame_ms - lag_ms
    inside = (shown[:-1] >= row_ms[0]) & (shown[1:] <= row_ms[-1])
    path = np.interp(shown, row_ms, path_px)
    speed = (np.diff(path) / np.maximum(np.diff(frame_ms), 1e-3))[inside]
    if inside.sum() < _MIN_INTERVALS or (speed > 1e-4).mean() < _MIN_MOVING_SHARE:
        return float("nan")
    # Change in a picture grows slower than speed once edges clear their own width.
    pair = np.sqrt(speed), np.sqrt(motion[inside])
    if min(values.std() for values in pair) == 0:
        return float("nan")
    return float(np.corrcoef(*pair)[0, 1])
