"""The time lag of a camera, from its small pictures and the joints about them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from robot_data_platform.core.rotation import Float64Array
from robot_data_platform.spatial.camera_view import CameraView, camera_view
from robot_data_platform.spatial.projection import Pinhole, transformed
from robot_data_platform.spatial.scene import Scene
from robot_data_platform.spatial.time_lag import (
    SEARCH_MS,
    TimeLag,
    image_path_px,
    shown_motion,
    time_lag,
    visible_pixels,
)

_STEP_NS = 10_000_000
"""Between the moments at which motion is predicted; joints change little within it."""
_SCENE_M = 0.4
"""Distance of what a wrist camera usually looks at."""
_GRID = 5


def lag_of_camera(scene: Scene) -> TimeLag | None:
    """Return how late a camera's pictures are; None = hardly any motion, or no rows about them."""
    episode, camera, lens = scene.episode, scene.camera, scene.working.lens
    frame_ns = camera.frame_ns[camera.plan.motion.start : camera.plan.motion.stop]
    moments = _moments(episode.row_ns, frame_ns)
    if len(moments) < 2:
        return None
    view = camera_view(episode, camera, scene.parent_from_cam, moments)
    if camera.is_static:
        path = image_path_px(visible_pixels(view.points_cam_m, lens))
    else:
        path = _scene_path_px(view, lens)
    return time_lag(path, moments, shown_motion(camera.motion_greys), frame_ns)


def _moments(
    row_ns: npt.NDArray[np.int64], frame_ns: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """Return the moments about some frames that there are joints for."""
    if not len(row_ns) or not len(frame_ns):
        return np.zeros(0, dtype=np.int64)
    start = max(int(row_ns[0]), int(frame_ns[0]) - SEARCH_MS * 1_000_000)
    stop = min(int(row_ns[-1]), int(frame_ns[-1]) + SEARCH_MS * 1_000_000)
    return np.arange(start, stop + 1, _STEP_NS, dtype=np.int64)


def _scene_path_px(view: CameraView, lens: Pinhole) -> Float64Array:
    """Return how far a scene at `_SCENE_M` has moved through the picture of a moving camera."""
    x = np.linspace(0, lens.width_px - 1, _GRID)
    y = np.linspace(0, lens.height_px - 1, _GRID)
    pixels = np.stack([*map(np.ravel, np.meshgrid(x, y)), np.ones(_GRID**2)], axis=1)
    scene = _SCENE_M * pixels @ np.linalg.inv(lens.intrinsics_px).T
    cam_from_base = np.linalg.inv(view.base_from_cam)
    moved = lens.project(transformed(cam_from_base[1:] @ view.base_from_cam[:-1], scene))
    way = np.linalg.norm(moved - pixels[:, :2], axis=2)
    return np.concatenate([[0.0], np.cumsum(np.nan_to_num(way).mean(axis=1))])
