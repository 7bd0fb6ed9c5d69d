"""A still world tells where a camera is on the hand that carries it."""

from __future__ import annotations

import numpy as np
import pytest

from robot_data_platform.core.rotation import Float64Array
from robot_data_platform.spatial.background import Background, TrackedPair, background_of
from robot_data_platform.spatial.epipolar import Tracks
from robot_data_platform.spatial.measure import scene_of
from robot_data_platform.spatial.projection import Pinhole
from robot_data_platform_tests.golden.reading import episode, golden
from robot_data_platform_tests.spatial.scenes import lens_px
from robot_data_platform_tests.spatial.test_robot_loader import robot_or_skip

cv2 = pytest.importorskip("cv2", reason="it projects points independently")
optimize = pytest.importorskip("scipy.optimize", reason="it finds the place")

LENS = Pinhole(intrinsics_px=lens_px(320, 240, 60), width_px=320, height_px=240)


def rigid(rotation_vector: Float64Array, shift_m: Float64Array) -> Float64Array:
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = cv2.Rodrigues(rotation_vector)[0], shift_m
    return pose


HAND_FROM_CAM = rigid(np.array([0.2, -0.1, 0.4]), np.array([0.03, 0.05, -0.06]))


def projected(world_m: Float64Array, base_from_cam: Float64Array) -> Float64Array:
    cam_from_base = np.linalg.inv(base_from_cam)
    turn = cv2.Rodrigues(cam_from_base[:3, :3])[0]
    pixels = cv2.projectPoints(world_m, turn, cam_from_base[:3, 3], LENS.intrinsics_px, None)[0]
    return np.asarray(pixels[:, 0], dtype=np.float64)


def moving_hand(seed: int = 0, pairs: int = 6) -> Background:
    """Return points of a room that a hand with a camera moves through."""
    rng, found = np.random.default_rng(seed), []
    for _ in range(pairs):
        first = rigid(rng.normal(0, 0.3, 3), rng.normal(0, 0.2, 3))
        later = first @ rigid(rng.normal(0, 0.1, 3), rng.normal(0, 0.03, 3))
        world = rng.uniform([-1, -1, 1], [1, 1, 3], (40, 3)) @ first[:3, :3].T + first[:3, 3]
        start, stop = (projected(world, hand @ HAND_FROM_CAM) for hand in (first, later))
        found.append(
            TrackedPair(points=Tracks(start=start, stop=stop), base_from_parent=(first, later))
        )
    return Background(pairs=tuple(found), lens=LENS)


def test_points_of_a_still_world_are_on_their_lines_from_the_true_place() -> None:
    assert np.abs(moving_hand().offsets_px(HAND_FROM_CAM)).max() < 1e-6


@pytest.mark.parametrize("seed", range(3))
def test_the_place_from_which_they_are_is_the_only_one_near(seed: int) -> None:
    background, rng = moving_hand(seed), np.random.default_rng(seed)

    def offsets(change: Float64Array) -> Float64Array:
        return background.offsets_px(HAND_FROM_CAM @ rigid(change[:3], change[3:]))

    start = np.concatenate([rng.uniform(-0.05, 0.05, 3), rng.uniform(-0.03, 0.03, 3)])
    assert np.abs(optimize.least_squares(offsets, start).x).max() < 1e-6


def test_offsets_are_told_per_10_px_of_motion() -> None:
    start = np.array([[100.0, 50.0], [200.0, 80.0]])
    points = Tracks(start=start, stop=start + np.array([4.0, 3.0]))
    sideways = rigid(np.zeros(3), np.array([0.1, 0.0, 0.0]))  # so lines are rows of the picture
    pair = TrackedPair(points=points, base_from_parent=(np.eye(4), sideways))
    assert Background(pairs=(pair,), lens=LENS).px_per_10px(np.eye(4)) == pytest.approx(6)


@pytest.mark.parametrize(("camera", "is_known"), [("ext1", False), ("wrist", True)])
def test_only_a_camera_that_moves_has_a_background(camera: str, is_known: bool) -> None:
    pytest.importorskip("mujoco", reason="it is needed for the robot")
    robot_or_skip("panda_2f85")
    clean = episode(golden("panda"))
    (seen,) = (one for one in clean.cameras if one.name == camera)
    scene, _ = scene_of(clean, seen)
    assert scene is not None
    assert (background_of(scene) is not None) == is_known
