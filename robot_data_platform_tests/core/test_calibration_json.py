"""Calibrations survive JSON to the bit."""

from __future__ import annotations

import json
from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robot_data_platform.core.calibration import CameraCalibration
from robot_data_platform.core.calibration_json import (
    calibrations_from_json,
    calibrations_to_json,
)
from robot_data_platform.core.rotation import rigid_transform, rotation_from_euler_rad
from robot_data_platform.errors import ErrorKind, InvalidInputError
from robot_data_platform_tests.core.test_calibration import known

angles = st.floats(-7, 7)


@given(st.tuples(angles, angles, angles), st.floats(1e-3, 1e5), st.floats(-1e9, 1e9))
def test_floats_read_back_as_the_same_bits(
    angles_rad: tuple[float, float, float], focal: float, x_m: float
) -> None:
    rotation = rotation_from_euler_rad(angles_rad, order="xyz", axes="extrinsic")
    calibration = CameraCalibration(
        base_from_cam=rigid_transform(rotation, [x_m, 0, 0]),
        pose_origin="profile",
        intrinsics_px=np.array([[focal, 0, 1], [0, focal, 1], [0, 0, 1]]),
        intrinsics_origin="data",
    )
    back = calibrations_from_json(str(calibrations_to_json({"top": calibration})))["top"]
    np.testing.assert_array_equal(back.base_from_cam, calibration.base_from_cam)
    np.testing.assert_array_equal(back.intrinsics_px, calibration.intrinsics_px)


def test_every_field_comes_back() -> None:
    back = calibrations_from_json(str(calibrations_to_json({"wrist": known()})))["wrist"]
    for field in fields(CameraCalibration):
        found, expected = getattr(back, field.name), getattr(known(), field.name)
        np.testing.assert_array_equal(found, expected, err_msg=field.name)


def test_the_text_is_an_object_by_camera_without_what_is_not_known() -> None:
    place = CameraCalibration(base_from_cam=np.eye(4), pose_origin="data")
    value = json.loads(str(calibrations_to_json({"top": place})))
    assert value == {
        "top": {"base_from_cam": np.eye(4).tolist(), "parent_frame": "base", "pose_origin": "data"}
    }


def test_equal_calibrations_are_equal_texts_in_any_order() -> None:
    one = calibrations_to_json({"a": known(), "b": known()})
    assert one == calibrations_to_json({"b": known(), "a": known()})


def test_no_camera_is_no_text() -> None:
    assert calibrations_to_json({}) is None


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        '{"top": 3}',
        '{"top": {"lens": 1}}',
        '{"top": {"base_from_cam": [[1]], "pose_origin": "data"}}',
        '{"top": {"width_px": "wide"}}',
        '{"top": {"distortion_coefficients": 3}}',
    ],
)
def test_another_text_is_refused(text: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        calibrations_from_json(text)
    assert caught.value.kind is ErrorKind.INVALID_ARGUMENT
