"""Cameras get the calibration and the clock that the profile states; pixels stay as they are."""

from __future__ import annotations

import numpy as np
import pytest

from robot_data_platform.core.calibration import CameraCalibration
from robot_data_platform.core.recording import (
    CameraStream,
    EpisodeRef,
    PictureSequence,
    Recording,
    VideoSegment,
)
from robot_data_platform.errors import InvalidInputError
from robot_data_platform.formats.profile import load_profile
from robot_data_platform.formats.statements import apply_profile
from robot_data_platform_tests.formats.reading import by_rule, camera

TIMES = np.arange(3, dtype=np.int64) * 1_000_000
STILL = PictureSequence(num_frames=3, read=lambda: iter(()))
LENS = np.array([[600, 0, 320], [0, 601, 240], [0, 0, 1]], dtype=np.float64)

# The camera stands at (1, 0, 0.5) and looks along -x of the base, its right along +y; Blender and
# MuJoCo would say: x right, y up, z backward.
PLACE: list[list[float]] = [[0, 0, -1, 1], [1, 0, 0, 0], [0, -1, 0, 0.5], [0, 0, 0, 1]]
IN_OPENGL = [[0, 0, 1, 1], [1, 0, 0, 0], [0, 1, 0, 0.5], [0, 0, 0, 1]]
CAM_FROM_BASE = [[0, 1, 0, 0], [0, 0, -1, 0.5], [-1, 0, 0, 1], [0, 0, 0, 1]]
# PLACE turns by 120 degrees about (-1, -1, 1) / sqrt 3: half of it has cos 1/2, sin sqrt(3) / 2.
QUATERNION_WXYZ = [0.5, -0.5, -0.5, 0.5]
QUATERNION_XYZW = [*QUATERNION_WXYZ[1:], QUATERNION_WXYZ[0]]
# Rz(90) @ Rx(-90): about the fixed axes first x, then z.
FIXED_XYZ_DEG = [-90, 0, 90]
FIXED_XYZ_RAD = [-1.5707963, 0, 1.5707963]
OTHER_LENS = "{width_px: 640, height_px: 480, fx: 700, fy: 700, cx: 320, cy: 240}"

STATED_WAYS = {
    "matrix": f"axes: opencv, direction: base_from_cam, matrix: {PLACE}",
    "three rows": f"axes: opencv, direction: base_from_cam, matrix: {PLACE[:3]}",
    "opengl": f"axes: opengl, direction: base_from_cam, matrix: {IN_OPENGL}",
    "inverse": f"axes: opencv, direction: cam_from_base, matrix: {CAM_FROM_BASE}",
}
"""Ways to state one camera."""


def stated(keys: str, *, calibration: CameraCalibration | None = None) -> Recording:
    """Return a recording of camera ``top`` with a profile that says ``keys`` of it."""
    top = CameraStream(name="top", timestamp_ns=TIMES, pictures=STILL, calibration=calibration)
    recording = Recording(
        ref=EpisodeRef(source_key="e"), signals=(), cameras=(top,), task=None, robot=None
    )
    return apply_profile(recording, load_profile(f"cameras: {{top: {{{keys}}}}}"))


def calibration_of(keys: str) -> CameraCalibration:
    known = camera(stated(keys), "top").calibration
    assert known is not None
    return known


def assert_is_place(known: CameraCalibration) -> None:
    assert known.base_from_cam is not None
    np.testing.assert_allclose(known.base_from_cam, np.array(PLACE), atol=1e-6)


@pytest.mark.parametrize("keys", STATED_WAYS.values(), ids=STATED_WAYS)
def test_a_place_is_the_same_in_whatever_way_it_is_stated(keys: str) -> None:
    known = calibration_of(f"extrinsics: {{{keys}}}")
    assert_is_place(known)
    assert (known.pose_origin, known.parent_frame, known.stated_rotation) == (
        "profile",
        "base",
        "matrix",
    )


@pytest.mark.parametrize(
    ("rotation", "said"),
    [
        (f"quaternion: {{order: wxyz, values: {QUATERNION_WXYZ}}}", "quaternion wxyz"),
        (f"quaternion: {{order: xyzw, values: {QUATERNION_XYZW}}}", "quaternion xyzw"),
        (
            f"euler: {{order: xyz, axes: extrinsic, unit: deg, values: {FIXED_XYZ_DEG}}}",
            "euler xyz extrinsic deg",
        ),
        (
            f"euler: {{order: zyx, axes: intrinsic, unit: deg, values: {FIXED_XYZ_DEG[::-1]}}}",
            "euler zyx intrinsic deg",
        ),
        (
            f"euler: {{order: xyz, axes: extrinsic, unit: rad, values: {FIXED_XYZ_RAD}}}",
            "euler xyz extrinsic rad",
        ),
    ],
)
def test_a_rotation_is_read_by_its_stated_convention(rotation: str, said: str) -> None:
    keys = f"axes: opencv, direction: base_from_cam, xyz_m: [1, 0, 0.5], {rotation}"
    known = calibration_of(f"extrinsics: {{{keys}}}")
    assert_is_place(known)
    assert known.stated_rotation == said


def test_a_wrist_camera_has_its_link_as_parent() -> None:
    keys = f"parent: panda_link8, axes: opencv, direction: base_from_cam, matrix: {PLACE}"
    assert calibration_of(f"extrinsics: {{{keys}}}").parent_frame == "panda_link8"


@pytest.mark.parametrize(
    "numbers", ["fx: 600, fy: 601, cx: 320, cy: 240", f"matrix: {LENS.tolist()}"]
)
def test_a_lens_is_the_same_as_four_numbers_and_as_a_matrix(numbers: str) -> None:
    known = calibration_of(
        f"intrinsics: {{width_px: 640, height_px: 480, {numbers}, "
        "distortion: {model: plumb_bob, coefficients: [0.1, -0.2, 0, 0, 0]}}"
    )
    np.testing.assert_array_equal(known.intrinsics_px, LENS)
    assert (known.width_px, known.height_px, known.intrinsics_origin) == (640, 480, "profile")
    assert (known.distortion_model, known.distortion_coefficients) == (
        "plumb_bob",
        (0.1, -0.2, 0, 0, 0),
    )
    assert known.base_from_cam is None


def test_the_datas_lens_wins_and_the_profile_adds_the_place() -> None:
    recorded = CameraCalibration(intrinsics_px=LENS, intrinsics_origin="data", width_px=640)
    found = stated(
        f"intrinsics: {OTHER_LENS}, extrinsics: {{{STATED_WAYS['opengl']}}}", calibration=recorded
    )
    known = camera(found, "top").calibration
    assert known is not None
    np.testing.assert_array_equal(known.intrinsics_px, LENS)
    assert (known.intrinsics_origin, known.pose_origin) == ("data", "profile")
    told = by_rule(found.findings)["calibration_as_profile_states"]
    assert told.where == "camera=top intrinsics_px"
    assert "600.0" in told.message
    assert "700.0" in told.message


def test_a_profile_that_agrees_with_the_data_is_not_told() -> None:
    recorded = CameraCalibration(base_from_cam=np.array(PLACE, float), pose_origin="data")
    found = stated(f"extrinsics: {{{STATED_WAYS['inverse']}}}", calibration=recorded)
    assert found.findings == ()


def test_nothing_is_known_of_a_camera_that_nobody_calibrated() -> None:
    assert camera(stated("fps: 30"), "top").calibration is None


def test_a_time_offset_is_added_to_every_picture_and_told_in_ms() -> None:
    found = stated("time_offset_ns: -2500000")
    expected = [-2_500_000, -1_500_000, -500_000]
    assert camera(found, "top").timestamp_ns.tolist() == expected
    told = by_rule(found.findings)["camera_times_are_shifted"]
    assert (told.value, told.unit, told.where) == (-2.5, "ms", "camera=top")


def test_without_an_offset_the_times_are_the_recorded_ones() -> None:
    assert camera(stated("fps: 30"), "top").timestamp_ns is TIMES


def test_an_offset_that_leads_out_of_int64_is_refused() -> None:
    late = CameraStream(name="top", timestamp_ns=TIMES + ((1 << 63) - 10**7), pictures=STILL)
    recording = Recording(
        ref=EpisodeRef(source_key="e"), signals=(), cameras=(late,), task=None, robot=None
    )
    with pytest.raises(InvalidInputError, match="'top' can't be shifted by 10000000 ns"):
        apply_profile(recording, load_profile("cameras: {top: {time_offset_ns: 10000000}}"))


def test_the_calibration_goes_with_a_renamed_camera() -> None:
    found = stated(f"rename: scene, extrinsics: {{{STATED_WAYS['matrix']}}}")
    assert camera(found, "scene").calibration is not None


def test_a_channel_order_of_a_video_is_told_and_not_used() -> None:
    video = VideoSegment(path="top.mp4", first_frame=0, num_frames=3)
    recording = Recording(
        ref=EpisodeRef(source_key="e"),
        signals=(),
        cameras=(CameraStream(name="top", timestamp_ns=TIMES, pictures=video),),
        task=None,
        robot=None,
    )
    found = apply_profile(recording, load_profile("cameras: {top: {channel_order: bgr}}"))
    assert camera(found, "top").pictures is video
    assert by_rule(found.findings)["channel_order_is_of_pictures"].where == "camera=top"


def test_pictures_stay_as_they_are_whatever_the_lens() -> None:
    assert camera(stated(f"intrinsics: {OTHER_LENS}"), "top").pictures is STILL


DEPTH = PictureSequence(num_frames=3, read=lambda: iter(()), is_depth=True)
VIDEO = VideoSegment(path="a.mp4", first_frame=0, num_frames=3)


def depth_stated(
    pictures: PictureSequence | VideoSegment, unit_m: float | None, keys: str
) -> Recording:
    """Return a recording of camera ``tof`` with a profile that says ``keys`` of it."""
    tof = CameraStream(name="tof", timestamp_ns=TIMES, pictures=pictures, depth_unit_m=unit_m)
    recording = Recording(
        ref=EpisodeRef(source_key="e"), signals=(), cameras=(tof,), task=None, robot=None
    )
    return apply_profile(recording, load_profile(f"cameras: {{tof: {{{keys}}}}}"))


@pytest.mark.parametrize("pictures", [DEPTH, VIDEO], ids=["pictures", "video"])
def test_depth_gets_the_unit_that_the_profile_states(
    pictures: PictureSequence | VideoSegment,
) -> None:
    recording = depth_stated(pictures, None, "depth_unit_m: 0.001")
    assert camera(recording, "tof").depth_unit_m == 0.001
    assert recording.findings == ()


def test_the_datas_own_unit_of_depth_wins_and_a_difference_is_told() -> None:
    recording = depth_stated(DEPTH, 0.001, "depth_unit_m: 0.0001")
    assert camera(recording, "tof").depth_unit_m == 0.001
    finding = by_rule(recording.findings)["depth_unit_as_profile_states"]
    assert "0.001 m per unit, which was kept" in finding.message
    assert depth_stated(DEPTH, 0.001, "depth_unit_m: 0.001").findings == ()


def test_a_unit_of_depth_for_colour_is_told_and_not_used() -> None:
    recording = depth_stated(STILL, None, "depth_unit_m: 0.001")
    assert camera(recording, "tof").depth_unit_m is None
    assert by_rule(recording.findings)["depth_unit_is_of_depth"].where == "camera=tof"


def test_a_channel_order_for_depth_is_told() -> None:
    finding = by_rule(depth_stated(DEPTH, None, "channel_order: bgr").findings)
    assert "got depth maps" in finding["channel_order_is_of_pictures"].message


@pytest.mark.parametrize("unit", ["0", "-0.001", "2", ".nan", "mm"])
def test_a_unit_of_depth_that_none_has_is_refused(unit: str) -> None:
    with pytest.raises(InvalidInputError, match="depth_unit_m"):
        load_profile(f"cameras: {{tof: {{depth_unit_m: {unit}}}}}")
