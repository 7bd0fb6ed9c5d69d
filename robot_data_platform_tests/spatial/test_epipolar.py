from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from robot_data_platform.core.rotation import Float64Array
from robot_data_platform.spatial.camera_fit import twist_motion
from robot_data_platform.spatial.epipolar import epipolar_residual, line_offsets_px
from robot_data_platform.spatial.projection import Pinhole
from robot_data_platform_tests.spatial.scenes import lens_px

cv2 = pytest.importorskip("cv2", reason="it follows points")

LENS = Pinhole(intrinsics_px=lens_px(320, 240, 60), width_px=320, height_px=240)
MOTION = twist_motion(np.array([0.01, -0.02, 0.01, 0.02, 0.005, -0.01]))
"""Of the background before the camera, in a tenth of a second."""


def test_points_that_move_with_the_camera_end_on_their_lines() -> None:
    xyz = np.random.default_rng(0).uniform([-0.2, -0.2, 0.3], [0.2, 0.2, 0.8], (50, 3))
    start, stop = LENS.project(xyz), LENS.project(xyz @ MOTION[:3, :3].T + MOTION[:3, 3])
    assert np.abs(line_offsets_px(start, stop, MOTION, LENS)).max() < 1e-9


def test_the_distance_from_a_line_is_in_pixels() -> None:
    sideways = np.eye(4)
    sideways[0, 3] = 0.1  # so lines are rows of the picture
    start = np.array([[100.0, 50.0], [200.0, 80.0]])
    offsets = line_offsets_px(start, start + np.array([7.0, 3.0]), sideways, LENS)
    assert np.abs(offsets).tolist() == pytest.approx([3, 3])


def seen_by_moving_camera(motion: Float64Array) -> npt.NDArray[np.uint8]:
    """Return two pictures of a slanted, patterned board, by its plane's homography."""
    rng = np.random.default_rng(1)
    board = cv2.GaussianBlur(rng.uniform(0, 255, (240, 320, 3)), (0, 0), 2.0)
    board = np.clip(128 + 4 * (board - board.mean()), 0, 255).astype(np.uint8)
    normal, distance = np.array([0.3, 0.4, 1.0]) / np.linalg.norm([0.3, 0.4, 1.0]), 0.45
    lens = LENS.intrinsics_px
    plane = motion[:3, :3] + np.outer(motion[:3, 3], normal) / distance
    moved = cv2.warpPerspective(
        board, lens @ plane @ np.linalg.inv(lens), (320, 240), borderMode=cv2.BORDER_REFLECT
    )
    return np.stack([board, moved])


NO_ROBOT = np.zeros((1, 240, 320), dtype=np.bool_)


def test_the_right_motion_leaves_little_and_a_wrong_one_much() -> None:
    earlier, later = seen_by_moving_camera(MOTION)[:, None]
    right = epipolar_residual(earlier, later, NO_ROBOT, MOTION[None], LENS)
    turned = MOTION @ np.diag([1.0, -1.0, -1.0, 1.0])
    turned[:3, 3] = [1, -1, -1] * MOTION[:3, 3]
    turned[:3, :3] = np.diag([1, -1, -1]) @ MOTION[:3, :3] @ np.diag([1, -1, -1])
    wrong = epipolar_residual(earlier, later, NO_ROBOT, turned[None], LENS)
    assert right is not None
    assert wrong is not None
    assert right.px_per_10px < 0.5 < 2.5 < wrong.px_per_10px


def test_points_on_the_robot_are_not_followed() -> None:
    earlier, later = seen_by_moving_camera(MOTION)[:, None]
    assert epipolar_residual(earlier, later, ~NO_ROBOT, MOTION[None], LENS) is None


def test_a_camera_that_only_turns_says_nothing() -> None:
    turn = twist_motion(np.array([0.02, 0.02, 0, 0, 0, 0]))
    earlier, later = seen_by_moving_camera(turn)[:, None]
    assert epipolar_residual(earlier, later, NO_ROBOT, turn[None], LENS) is None


def test_a_picture_without_detail_says_nothing() -> None:
    flat = np.full((1, 240, 320, 3), 90, dtype=np.uint8)
    assert epipolar_residual(flat, flat, NO_ROBOT, MOTION[None], LENS) is None
