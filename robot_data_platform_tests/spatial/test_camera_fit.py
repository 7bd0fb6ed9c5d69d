from __future__ import annotations

import functools

import numpy as np
import numpy.typing as npt
import pytest

from robot_data_platform.core.rotation import Float64Array
from robot_data_platform.spatial.camera_checks import difference
from robot_data_platform.spatial.camera_fit import (
    fit_camera,
    pixel_motion,
    slope_across,
    twist_motion,
)
from robot_data_platform.spatial.kinematics import link_poses
from robot_data_platform.spatial.optional_packages import file_of_package
from robot_data_platform.spatial.outline import Outline
from robot_data_platform.spatial.overlap import overlap, signed_distance_px
from robot_data_platform.spatial.projection import Pinhole
from robot_data_platform.spatial.robot_loader import load_robot
from robot_data_platform.spatial.robot_mesh import robot_mesh
from robot_data_platform.spatial.robot_model import RobotModel
from robot_data_platform.spatial.robot_sources import ROBOT_SOURCES
from robot_data_platform.spatial.silhouettes import silhouettes
from robot_data_platform_tests.spatial.scenes import lens_px, look_at
from robot_data_platform_tests.spatial.test_edge_lock import disc
from robot_data_platform_tests.spatial.test_robot_loader import robot_or_skip

cv2 = pytest.importorskip("cv2", reason="it measures distances")
pytest.importorskip("numba", reason="it compiles the rasteriser")

LENS = Pinhole(intrinsics_px=lens_px(320, 240, 50), width_px=320, height_px=240)
CAMERA = look_at((0.7, 0.6, 0.5), (0.2, 0.0, 0.22))


@functools.cache
def arm() -> RobotModel:
    """Return one ViperX arm."""
    robot_or_skip("aloha")
    file = file_of_package(ROBOT_SOURCES["aloha"].package, ROBOT_SOURCES["aloha"].path)
    return load_robot(file, base_link="vx300s_left", root_links=["vx300s_left"])


def arm_poses(number: int) -> Float64Array:
    rng = np.random.default_rng(2)
    middle = np.array([0, -0.4, 0.5, 0, 0.4, 0, 0.04, -0.04])
    spread = np.array([0.9, 0.5, 0.5, 0.8, 0.6, 0.8, 0.01, 0.01])
    return link_poses(arm(), middle + spread * rng.uniform(-1, 1, (number, 8)))


def rough(masks: npt.NDArray[np.bool_], seed: int) -> npt.NDArray[np.bool_]:
    """Return masks with wavy edges, and a bite out of, or a blob on, every third one."""
    rng = np.random.default_rng(seed)
    out = []
    for index, mask in enumerate(masks):
        wave = cv2.GaussianBlur(rng.normal(0, 1, mask.shape), (0, 0), 6)
        noisy = signed_distance_px(mask) + 1.5 * wave / wave.std() < 0
        if index % 3 == 0:
            y, x = np.argwhere(mask)[rng.integers(mask.sum())]
            rows, columns = np.mgrid[: mask.shape[0], : mask.shape[1]]
            noisy[np.hypot(rows - y, columns - x) < 9] = index % 2
        out.append(noisy)
    return np.stack(out)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("shift_m", "turn_deg"), [(0.02, 1.0), (0.05, 5.0), (0.1, 10.0)])
def test_a_misplaced_camera_is_brought_back_from_rough_masks(
    seed: int, shift_m: float, turn_deg: float
) -> None:
    mesh, poses = robot_mesh(arm()), arm_poses(8)
    masks = rough(silhouettes(mesh, poses, CAMERA, LENS).masks, seed)
    rng = np.random.default_rng(100 + seed)
    axis, way = (v / np.linalg.norm(v) for v in rng.normal(0, 1, (2, 3)))
    declared = CAMERA @ twist_motion(np.concatenate([np.radians(turn_deg) * axis, shift_m * way]))
    fit = fit_camera(mesh, poses, np.broadcast_to(declared, (8, 4, 4)), LENS, masks)
    assert fit is not None
    left_m, left_deg = difference(fit.fitted(declared), CAMERA)
    assert left_m < 0.015
    assert left_deg < 0.6
    assert fit.iou_fitted > fit.iou_declared


def test_a_camera_in_place_is_not_moved_by_rough_masks() -> None:
    mesh, poses = robot_mesh(arm()), arm_poses(8)
    masks = rough(silhouettes(mesh, poses, CAMERA, LENS).masks, 7)
    fit = fit_camera(mesh, poses, np.broadcast_to(CAMERA, (8, 4, 4)), LENS, masks)
    assert fit is not None
    assert fit.misplacement_mrad < 5


def test_a_misplacement_is_given_in_pixels_and_in_milliradians() -> None:
    mesh, poses = robot_mesh(arm()), arm_poses(6)
    masks = silhouettes(mesh, poses, CAMERA, LENS).masks
    turn = np.radians(1.0)
    declared = CAMERA @ twist_motion(np.array([0, turn, 0, 0, 0, 0]))
    fit = fit_camera(mesh, poses, np.broadcast_to(declared, (6, 4, 4)), LENS, masks)
    assert fit is not None
    # A turn about y moves what is near the middle by the focal length times the angle.
    assert fit.misplacement_px == pytest.approx(LENS.focal_px * turn, rel=0.1)
    assert fit.misplacement_mrad == pytest.approx(1000 * turn, rel=0.1)


def test_too_few_masks_fit_nothing() -> None:
    mesh, poses = robot_mesh(arm()), arm_poses(2)
    masks = silhouettes(mesh, poses, CAMERA, LENS).masks
    assert fit_camera(mesh, poses, np.broadcast_to(CAMERA, (2, 4, 4)), LENS, masks) is None


def test_a_slope_along_an_outline_says_nothing() -> None:
    points = Outline(
        pixels=np.zeros((2, 2)),
        normals=np.array([[0.0, 1.0], [0.6, 0.8]]),
        depth_m=np.ones(2),
        labels=np.ones(2, dtype=np.uint8),
    )
    across = slope_across(points, np.array([[0.3, -0.9], [0.8, -0.6]]))
    assert across.ravel().tolist() == pytest.approx([0, -0.9, 0, 0])


def test_pixels_move_with_a_twist_as_finite_differences_say() -> None:
    rng = np.random.default_rng(4)
    pixels, depth = rng.uniform([10, 10], [300, 200], (7, 2)), rng.uniform(0.5, 2, 7)
    lens = Pinhole(
        intrinsics_px=np.array([[300.0, 2.0, 150.0], [0, 290.0, 120.0], [0, 0, 1]]),
        width_px=320,
        height_px=240,
    )
    points = Outline(
        pixels=pixels, normals=np.zeros((7, 2)), depth_m=depth, labels=np.ones(7, np.uint8)
    )
    found = pixel_motion(points, lens)
    xyz = np.column_stack([pixels, np.ones(7)]) @ np.linalg.inv(lens.intrinsics_px).T
    xyz *= depth[:, None]
    for column, step in enumerate(1e-6 * np.eye(6)):
        motion = twist_motion(step)
        moved = lens.project(xyz @ motion[:3, :3].T + motion[:3, 3])
        np.testing.assert_allclose(
            found[:, :, column], (moved - pixels) / 1e-6, rtol=1e-3, atol=1e-2
        )


def test_equal_masks_overlap_wholly_and_have_no_distance() -> None:
    found = overlap(disc(80, 60, 30), disc(80, 60, 30))
    assert found is not None
    assert (found.iou, found.contour_mean_px, found.contour_p95_px) == (1.0, 0.0, 0.0)


def test_a_shifted_square_overlaps_as_arithmetic_says() -> None:
    square, shifted = np.zeros((2, 50, 80), dtype=np.bool_)
    square[10:30, 10:30] = True
    shifted[10:30, 15:35] = True
    found = overlap(shifted, square)
    assert found is not None
    assert found.iou == pytest.approx(300 / 500)


def test_concentric_discs_are_apart_by_the_difference_of_their_radii() -> None:
    found = overlap(disc(80, 60, 34), disc(80, 60, 30))
    assert found is not None
    assert found.contour_mean_px == pytest.approx(4, abs=0.3)


def test_an_empty_mask_overlaps_with_nothing() -> None:
    assert overlap(np.zeros((120, 160), dtype=np.bool_), disc(80, 60, 30)) is None


def test_the_signed_distance_is_zero_halfway_between_two_pixels() -> None:
    mask = np.zeros((5, 9), dtype=np.bool_)
    mask[:, :4] = True
    assert signed_distance_px(mask)[2].tolist() == pytest.approx(
        [-3.5, -2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 3.5, 4.5]
    )
