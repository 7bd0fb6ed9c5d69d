"""A calibration to use instead of the declared one, and how far off it may be."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from robot_data_platform.core.rotation import Float64Array
from robot_data_platform.spatial.camera_checks import difference
from robot_data_platform.spatial.continuous_causes import FittedDeviation, refitted
from robot_data_platform.spatial.deviation import EXTRINSIC, MaskedCamera, applied
from robot_data_platform.spatial.mask_sources import Segmenter
from robot_data_platform.spatial.masked_camera import masked_camera
from robot_data_platform.spatial.projection import Pinhole
from robot_data_platform.spatial.reading import CameraReading

_GRABCUT_SPREAD = np.repeat([np.radians(2.0), 0.03], 3) / np.sqrt(3)
"""Least deviation of a place from masks that lean on its projection: 2 degrees and 3 cm."""
_SHARPENINGS = 2


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Proposal:
    """A calibration to use instead of the declared one; nothing is overwritten by it."""

    parent_from_cam: Float64Array
    """(4, 4), metres, OpenCV axes."""
    intrinsics_px: Float64Array
    """(3, 3), for the stored pictures."""
    parent_link: str
    shift_m: float
    """From the declared place."""
    turn_deg: float
    expected_error_m: float | None = None
    """One standard deviation; None = as exact as the numbers that are declared."""
    expected_error_deg: float | None = None

    def reading(self) -> CameraReading:
        """Return it as a way to read the camera."""
        return CameraReading(
            parent_from_cam=self.parent_from_cam,
            intrinsics_px=self.intrinsics_px,
            parent_link=self.parent_link,
        )


def proposal_of(seen: MaskedCamera, fit: FittedDeviation, segmenter: Segmenter | None) -> Proposal:
    """Return the calibration that a fitted deviation of a camera's own numbers leads to."""
    pose, lens, _ = applied(seen, fit.deviation, fit.values)
    spread = fit.spread
    if fit.deviation.kind == EXTRINSIC and seen.camera.masks is None:
        pose, spread = _sharpened(seen, pose, spread, segmenter)
        if segmenter is None:
            spread = np.maximum(spread, _GRABCUT_SPREAD)
    shift_m, turn_deg = difference(seen.parent_from_cam, pose)
    stored = Pinhole(
        intrinsics_px=lens.intrinsics_px, width_px=lens.width_px, height_px=lens.height_px
    ).resized(seen.camera.width_px, seen.camera.height_px)
    is_place = fit.deviation.kind == EXTRINSIC
    return Proposal(
        parent_from_cam=pose,
        intrinsics_px=stored.intrinsics_px,
        parent_link=seen.camera.parent_link,
        shift_m=shift_m,
        turn_deg=turn_deg,
        expected_error_m=float(np.linalg.norm(spread[3:])) if is_place else None,
        expected_error_deg=float(np.degrees(np.linalg.norm(spread[:3]))) if is_place else None,
    )


def _sharpened(
    seen: MaskedCamera, pose: Float64Array, spread: Float64Array, segmenter: Segmenter | None
) -> tuple[Float64Array, Float64Array]:
    """Return a place fitted again to masks that are found from where it is now.

    Masks that are found from a projection lean on it; from a better one they are better.
    """
    for _ in range(_SHARPENINGS):
        camera = replace(seen.camera, parent_from_cam=pose)
        again = masked_camera(seen.episode, camera, segmenter)
        fit = None if again is None else refitted(again)
        if again is None or fit is None:
            break
        pose, spread = applied(again, fit.deviation, fit.values)[0], fit.spread
    return pose, spread
