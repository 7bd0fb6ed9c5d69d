"""Every measurement of an episode's cameras, from its `SpatialInput`."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from robot_data_platform.spatial.camera_view import camera_view
from robot_data_platform.spatial.edge_measurement import with_edges
from robot_data_platform.spatial.episode_input import CameraInput, SpatialInput
from robot_data_platform.spatial.lag_measurement import lag_of_camera
from robot_data_platform.spatial.mask_measurement import with_masks
from robot_data_platform.spatial.mask_sources import Segmenter
from robot_data_platform.spatial.measurements import CameraMeasurements
from robot_data_platform.spatial.motion_measurement import with_epipolar, with_motion
from robot_data_platform.spatial.scene import Scene, without
from robot_data_platform.spatial.verdict import is_grossly_off
from robot_data_platform.spatial.working_pictures import working_pictures


def measure_episode(
    episode: SpatialInput, *, segmenter: Segmenter | None = None, with_grabcut: bool = True
) -> tuple[CameraMeasurements, ...]:
    """Return what is measured of each camera of an episode.

    Parameters
    ----------
    episode : SpatialInput
        Joints and pictures.
    segmenter : Segmenter, optional
        A model that finds the robot, where the data has no masks.
    with_grabcut : bool
        Whether to segment without a model where there is neither.

    Raises
    ------
    InvalidInputError
        ``not-installed``: the extra ``spatial`` is not. ``invalid-argument``: the robot has no link
        that a camera is said to be mounted on.
    DataFaultError
        ``shape-mismatch``: masks of another shape. ``missing-file``: a robot without meshes.
    """
    return tuple(
        measure_camera(episode, camera, segmenter=segmenter, with_grabcut=with_grabcut)
        for camera in episode.cameras
    )


def measure_camera(
    episode: SpatialInput,
    camera: CameraInput,
    *,
    segmenter: Segmenter | None = None,
    with_grabcut: bool = True,
) -> CameraMeasurements:
    """Return what is measured of one camera; see `measure_episode`."""
    found = CameraMeasurements(camera=camera.name, is_static=camera.is_static)
    scene, reason = scene_of(episode, camera)
    if scene is None:
        return without(found, "camera", reason)
    lens = scene.working.lens
    found = replace(found, focal_px=lens.focal_px, num_frames=len(scene.singles))
    found = with_edges(found, scene)
    found = (with_motion if camera.is_static else with_epipolar)(found, scene)
    if is_grossly_off(found):
        # Masks that are found from a projection lean on it: of a wrong one, they say nothing.
        with_grabcut = False
    found = with_masks(found, scene, segmenter, with_grabcut)
    lag = lag_of_camera(scene)
    if lag is None:
        return without(found, "lag_ms", "the robot hardly moves in this camera's frames")
    return replace(found, lag_ms=lag.lag_ms, lag_corr=lag.correlation)


def scene_of(episode: SpatialInput, camera: CameraInput) -> tuple[Scene | None, str]:
    """Return a camera with what it should see, or None and the reason why there is nothing."""
    if camera.parent_from_cam is None:
        return None, "no place of the camera is declared"
    if camera.intrinsics_px is None:
        return None, "no intrinsics of the camera are declared"
    if not np.isfinite(episode.joints).any():
        return None, "no joint of the robot has values"
    if not len(camera.plan.single):
        return None, "no frame lies within the rows"
    working = working_pictures(camera, camera.intrinsics_px)
    t_ns = camera.frame_ns[camera.plan.pictures]
    view = camera_view(episode, camera, camera.parent_from_cam, t_ns)
    scene = Scene(
        episode=episode,
        camera=camera,
        parent_from_cam=camera.parent_from_cam,
        working=working,
        view=view,
        projection=view.silhouettes(episode, working.lens),
        singles=np.searchsorted(camera.plan.pictures, camera.plan.single),
    )
    return scene, ""
