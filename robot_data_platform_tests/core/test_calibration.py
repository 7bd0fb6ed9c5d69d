"""A calibration is checked, and reads the same whatever way it was stated in."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robot_data_platform.core.calibration import (
    ROBOT_BASE,
    CameraAxes,
    CameraCalibration,
    Direction,
    base_from_opencv_cam,
    checked_intrinsics_px,
    first_known,
    intrinsics_from_focal_px,
    inverse,
)
from robot_data_platform.core.rotation import (
    Float64Array,
    rigid_transform,
    rotation_from_euler_rad,
)
from robot_data_platform.errors import ErrorKind, InvalidInputError

# A camera 1 m before the robot and 0.5 m above, that looks back at it: its right is the base's +y,
# its down the base's -z, its forward the base's -x.
POINT_CAM = np.array([0.2, 0.1, 0.9, 1.0])
POINT_BASE = np.array([1 - 0.9, 0.2, 0.5 - 0.1, 1.0])
BASE_FROM_CAM = np.array([[0, 0, -1, 1], [1, 0, 0, 0], [0, -1, 0, 0.5], [0, 0, 0, 1]], float)
LENS = np.array([[600, 0, 320], [0, 601, 240], [0, 0, 1]], dtype=np.float64)

numbers = st.floats(-3, 3)
poses = st.builds(
    lambda angles, xyz: rigid_transform(
        rotation_from_euler_rad(angles, order="xyz", axes="extrinsic"), xyz
    ),
    st.tuples(numbers, numbers, numbers),
    st.tuples(numbers, numbers, numbers),
)


def in_opengl(base_from_cam: Float64Array) -> Float64Array:
    """The same camera with y up and z backward."""
    columns: Float64Array = base_from_cam * [1, -1, -1, 1]
    return columns


@pytest.mark.parametrize("direction", ["base_from_cam", "cam_from_base"])
@pytest.mark.parametrize("axes", ["opencv", "opengl"])
def test_a_point_lands_at_the_same_place_however_the_camera_was_stated(
    direction: Direction, axes: CameraAxes
) -> None:
    stated = BASE_FROM_CAM if axes == "opencv" else in_opengl(BASE_FROM_CAM)
    stated = stated if direction == "base_from_cam" else np.linalg.inv(stated)
    base_from_cam = base_from_opencv_cam(stated, direction=direction, axes=axes)
    np.testing.assert_allclose(base_from_cam @ POINT_CAM, POINT_BASE, atol=1e-12)


@given(poses)
def test_the_inverse_is_numpys(pose: Float64Array) -> None:
    np.testing.assert_allclose(inverse(pose), np.linalg.inv(pose), atol=1e-9)


@given(poses)
def test_the_four_ways_of_stating_a_camera_agree(pose: Float64Array) -> None:
    ways: list[tuple[object, Direction, CameraAxes]] = [
        (pose, "base_from_cam", "opencv"),
        (np.linalg.inv(pose), "cam_from_base", "opencv"),
        (in_opengl(pose), "base_from_cam", "opengl"),
        (np.linalg.inv(in_opengl(pose)), "cam_from_base", "opengl"),
    ]
    for stated, direction, axes in ways:
        found = base_from_opencv_cam(stated, direction=direction, axes=axes)
        np.testing.assert_allclose(found, pose, atol=1e-9)


def test_a_lens_projects_as_its_numbers_say() -> None:
    lens = intrinsics_from_focal_px(fx_px=600, fy_px=601, cx_px=320, cy_px=240)
    np.testing.assert_array_equal(lens, LENS)


@pytest.mark.parametrize(
    ("matrix", "told"),
    [
        (np.diag([-600, 600, 1]), "positive pixels, got fx and fy [-600.0, 600.0]"),
        (np.diag([600, 600, 2]), "[0, 0, 1]"),
        (LENS.T, "[0, 0, 1]"),
        (np.diag([np.inf, 600, 1]), "finite"),
        (np.eye(4), "(3, 3)"),
    ],
)
def test_what_is_no_lens_is_refused(matrix: object, told: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        checked_intrinsics_px(matrix)
    assert caught.value.kind is ErrorKind.INVALID_ARGUMENT
    assert told in str(caught.value)


def known() -> CameraCalibration:
    return CameraCalibration(
        intrinsics_px=LENS,
        width_px=640,
        height_px=480,
        distortion_model="plumb_bob",
        distortion_coefficients=(0.1, -0.2),
        intrinsics_origin="data",
        base_from_cam=BASE_FROM_CAM,
        parent_frame="link7",
        pose_origin="data",
        stated_direction="base_from_cam",
        stated_axes="opencv",
        stated_rotation="matrix",
    )


def test_a_calibration_keeps_its_own_read_only_numbers() -> None:
    mine = BASE_FROM_CAM.copy()
    calibration = CameraCalibration(base_from_cam=mine, pose_origin="data")
    mine[0, 3] = 99
    assert calibration.base_from_cam is not None
    assert calibration.base_from_cam[0, 3] == 1
    assert not calibration.base_from_cam.flags.writeable


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"intrinsics_origin": None}, "intrinsics_origin"),
        ({"pose_origin": "hearsay"}, "pose_origin"),
        ({"stated_direction": "up"}, "stated_direction"),
        ({"stated_axes": "ros"}, "stated_axes"),
        ({"width_px": 0}, "at least one pixel"),
        ({"distortion_coefficients": (float("nan"),)}, "Distortion coefficients"),
        ({"base_from_cam": np.diag([1, 1, -1, 1])}, "determinant"),
        ({"intrinsics_px": np.zeros((3, 3))}, "Focal lengths"),
    ],
)
def test_what_can_not_be_is_refused(wrong: dict[str, object], told: str) -> None:
    with pytest.raises(InvalidInputError, match=told):
        replace(known(), **wrong)  # type: ignore[arg-type] # on purpose


def test_a_calibration_crosses_processes() -> None:
    back = pickle.loads(pickle.dumps(known()))
    np.testing.assert_array_equal(back.base_from_cam, BASE_FROM_CAM)
    assert (back.parent_frame, back.width_px) == ("link7", 640)


def test_the_first_wins_and_the_second_fills_what_it_does_not_know() -> None:
    lens_only = CameraCalibration(
        intrinsics_px=2 * LENS - np.diag([0, 0, 1]), intrinsics_origin="profile", width_px=1280
    )
    place_only = CameraCalibration(base_from_cam=BASE_FROM_CAM, pose_origin="data")
    merged = first_known(place_only, known())
    assert merged is not None
    assert (merged.parent_frame, merged.pose_origin) == (ROBOT_BASE, "data")
    assert (merged.intrinsics_origin, merged.width_px) == ("data", 640)
    merged = first_known(lens_only, known())
    assert merged is not None
    assert (merged.width_px, merged.distortion_model) == (1280, None)
    assert (merged.parent_frame, merged.stated_rotation) == ("link7", "matrix")


def test_nothing_known_stays_nothing() -> None:
    assert first_known(None, None) is None
    one = known()
    assert first_known(one, None) is one is first_known(None, one)
