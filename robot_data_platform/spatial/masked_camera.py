"""The masks of one camera that its numbers are fitted to."""

from __future__ import annotations

import numpy as np

from robot_data_platform.spatial.background import background_of
from robot_data_platform.spatial.camera_fit import MAX_FITTED_FRAMES
from robot_data_platform.spatial.deviation import MaskedCamera
from robot_data_platform.spatial.episode_input import CameraInput, SpatialInput
from robot_data_platform.spatial.mask_sources import MaskSource, Segmenter, robot_masks
from robot_data_platform.spatial.measure import scene_of
from robot_data_platform.spatial.thresholds import MIN_ROBOT_PX

_MAX_MOVING_FRAMES = 4
"""A camera on the robot sees its hand much the same in all frames."""


def masked_camera(
    episode: SpatialInput, camera: CameraInput, segmenter: Segmenter | None = None
) -> MaskedCamera | None:
    """Return a camera with the best masks at hand; None = there are too few."""
    scene, _ = scene_of(episode, camera)
    if scene is None:
        return None
    projection = scene.projection.masks
    shown = scene.singles[projection[scene.singles].sum(axis=(1, 2)) >= MIN_ROBOT_PX]
    working = scene.working
    masks = robot_masks(
        working.pictures[shown],
        projection[shown],
        of_dataset=None if working.masks is None else working.masks[shown],
        segmenter=segmenter,
    )
    if len(masks.frames) < 3:
        return None
    number = MAX_FITTED_FRAMES if camera.is_static else _MAX_MOVING_FRAMES
    kept = np.unique(np.linspace(0, len(masks.frames) - 1, number).round().astype(int))
    places = shown[masks.frames[kept]]
    return MaskedCamera(
        episode=episode,
        camera=camera,
        parent_from_cam=scene.parent_from_cam,
        t_ns=camera.frame_ns[camera.plan.pictures[places]],
        lens=working.lens,
        masks=masks.masks[kept],
        leans=masks.source is MaskSource.GRABCUT,
        background=background_of(scene),
    )
