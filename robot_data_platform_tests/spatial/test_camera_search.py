"""A place that is searched for covers masks which a fit from the declared place does not."""

from __future__ import annotations

import numpy as np
import pytest

from robot_data_platform.spatial.camera_fit import mean_iou, twist_motion
from robot_data_platform.spatial.camera_search import searched_motion
from robot_data_platform.spatial.robot_mesh import robot_mesh
from robot_data_platform.spatial.silhouettes import silhouettes
from robot_data_platform_tests.spatial.test_camera_fit import CAMERA, LENS, arm, arm_poses

for package in ("cv2", "numba", "scipy"):
    pytest.importorskip(package, reason="it is needed for the search")


@pytest.mark.parametrize("seed", range(3))
def test_a_place_several_centimetres_off_is_found_by_overlap_alone(seed: int) -> None:
    mesh, links = robot_mesh(arm(), 0.008), arm_poses(4)
    twist = np.random.default_rng(seed).uniform(-1, 1, 6) * np.repeat([0.05, 0.04], 3)
    masks = silhouettes(mesh, links, CAMERA @ np.linalg.inv(twist_motion(twist)), LENS).masks
    places = np.broadcast_to(CAMERA, (4, 4, 4))
    motion = searched_motion(mesh, links, places, LENS, masks)
    before = silhouettes(mesh, links, CAMERA, LENS).masks
    after = silhouettes(mesh, links, CAMERA @ np.linalg.inv(motion), LENS).masks
    assert mean_iou(after, masks) > max(0.85, mean_iou(before, masks))
