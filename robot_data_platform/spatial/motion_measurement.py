"""Motion in pairs of pictures against predicted motion."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from robot_data_platform.spatial.epipolar import epipolar_residual
from robot_data_platform.spatial.measurements import CameraMeasurements
from robot_data_platform.spatial.motion_auc import motion_auc
from robot_data_platform.spatial.scene import Scene, without


def _pairs(scene: Scene) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    plan = scene.camera.plan
    first, second = (
        np.searchsorted(plan.pictures, frames) for frames in (plan.pair_first, plan.pair_second)
    )
    return first, second


def with_motion(found: CameraMeasurements, scene: Scene) -> CameraMeasurements:
    """Return measurements with the motion AUC of a camera that stands still."""
    first, second = _pairs(scene)
    pictures, masks = scene.working.pictures, scene.projection.masks
    motion = motion_auc(pictures[first], pictures[second], masks[first], masks[second])
    if motion is None:
        return without(found, "motion_auc", "the robot hardly moves in this camera's frames")
    return replace(found, motion_auc=motion.auc)


def with_epipolar(found: CameraMeasurements, scene: Scene) -> CameraMeasurements:
    """Return measurements with the epipolar residual of a camera that the robot carries."""
    first, second = _pairs(scene)
    poses, pictures = scene.view.base_from_cam, scene.working.pictures
    residual = epipolar_residual(
        pictures[first],
        pictures[second],
        scene.projection.masks[first],
        np.linalg.inv(poses[second]) @ poses[first],
        scene.working.lens,
    )
    if residual is None:
        reason = "the camera hardly moves, or sees nothing that can be followed"
        return without(found, "epipolar_px_per_10px", reason)
    return replace(found, epipolar_px=residual.px, epipolar_px_per_10px=residual.px_per_10px)
