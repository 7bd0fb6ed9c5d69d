"""Lenses and mounts of cameras, from CameraInfo and static transforms."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from robot_data_platform.core.recording import Recording
from robot_data_platform_tests.formats.reading import by_rule, camera, read_episode
from robot_data_platform_tests.formats.ros_files import (
    Content,
    Sent,
    header,
    images,
    joint_states,
    plain,
    time_of,
    write_mcap,
    write_rosbag1,
)

K = [600.0, 0.0, 31.5, 0.0, 601.0, 23.5, 0.0, 0.0, 1.0]
D = [0.1, -0.2, 0.001, 0.002, 0.3]


def info(number: int = 0, topic: str = "/cam/camera_info", **changes: object) -> Sent:
    content: Content = {
        "header": header(time_of(number), "camera_optical"),
        "height": 48,
        "width": 64,
        "distortion_model": "plumb_bob",
        "d": D,
        "k": K,
        "r": [1.0, 0, 0, 0, 1, 0, 0, 0, 1],
        "p": [0.0] * 12,
        "binning_x": 0,
        "binning_y": 0,
        "roi": {"x_offset": 0, "y_offset": 0, "height": 0, "width": 0, "do_rectify": False},
    }
    return plain(topic, "sensor_msgs/msg/CameraInfo", {**content, **changes}, number)


def transform(parent: str, child: str, xyz: list[float], xyzw: list[float]) -> Content:
    return {
        "header": header(0, parent),
        "child_frame_id": child,
        "transform": {
            "translation": dict(zip("xyz", xyz, strict=True)),
            "rotation": dict(zip("xyzw", xyzw, strict=True)),
        },
    }


def static(*transforms: Content) -> Sent:
    """Return static transforms, latched long before the recording started."""
    return plain("/tf_static", "tf2_msgs/msg/TFMessage", {"transforms": list(transforms)}, log_ns=5)


def read(root: Path, *messages: Sent) -> Recording:
    write_mcap(root / "a.mcap", [*messages, *joint_states(), *images()])
    return read_episode(root, "a.mcap")


def test_the_lens_is_the_one_in_the_cameras_folder(tmp_path: Path) -> None:
    other = info(topic="/other/camera_info", k=[9.0, 0, 1, 0, 9, 1, 0, 0, 1])
    recording = read(tmp_path, other, *(info(k) for k in range(3)))
    lens = camera(recording, "cam").calibration
    assert lens is not None
    np.testing.assert_array_equal(lens.intrinsics_px, np.reshape(K, (3, 3)))
    assert (lens.width_px, lens.height_px, lens.distortion_model) == (64, 48, "plumb_bob")
    assert (lens.distortion_coefficients, lens.intrinsics_origin) == (tuple(D), "data")
    assert "/other/camera_info" in by_rule(recording.findings)["calibration_is_used"].message


def test_the_lens_of_a_ros_1_bag_is_read_too(tmp_path: Path) -> None:
    write_rosbag1(tmp_path / "a.bag", [info(), *joint_states(), *images()])
    lens = camera(read_episode(tmp_path, "a.bag"), "cam").calibration
    assert lens is not None
    np.testing.assert_array_equal(lens.intrinsics_px, np.reshape(K, (3, 3)))


@pytest.mark.parametrize(
    "changes",
    [{"k": [0.0] * 9}, {"binning_x": 2}, {"roi": {"x_offset": 8, "y_offset": 0, "height": 9}}],
)
def test_no_lens_is_guessed_from_an_uncalibrated_or_cropped_sensor(
    changes: dict[str, object], tmp_path: Path
) -> None:
    lens = info(**changes)  # type: ignore[arg-type]
    assert camera(read(tmp_path, lens), "cam").calibration is None


def test_a_lens_that_can_not_be_is_left_out_and_told(tmp_path: Path) -> None:
    recording = read(tmp_path, info(k=[-600.0, *K[1:]]))
    assert camera(recording, "cam").calibration is None
    finding = by_rule(recording.findings)["calibration_is_readable"]
    assert "/cam/image_raw (Focal lengths have to be positive" in finding.message


def test_a_lens_that_changes_is_told_and_the_first_counts(tmp_path: Path) -> None:
    recording = read(tmp_path, info(0), info(1, k=[700.0, *K[1:]]))
    lens = camera(recording, "cam").calibration
    assert lens is not None
    assert lens.intrinsics_px is not None
    assert lens.intrinsics_px[0, 0] == 600
    assert by_rule(recording.findings)["calibration_is_constant"].value == 1


HALF = 0.7071067811865476


def test_static_transforms_place_a_camera_in_the_frame_that_its_mounts_hang_on(
    tmp_path: Path,
) -> None:
    mounts = static(
        transform("flange", "camera_link", [0.1, 0.0, 0.2], [0.0, 0.0, HALF, HALF]),
        transform("camera_link", "camera_optical", [0.0, 0.01, 0.0], [-0.5, 0.5, -0.5, 0.5]),
        transform("world", "table", [9.0, 9.0, 9.0], [0.0, 0.0, 0.0, 1.0]),
    )
    recording = read(tmp_path, mounts, info())
    placed = camera(recording, "cam").calibration
    assert placed is not None
    assert (placed.parent_frame, placed.pose_origin) == ("flange", "data")
    assert (placed.stated_direction, placed.stated_axes) == ("base_from_cam", "opencv")
    # By hand: a quarter turn about z; then the usual turn from a link to its optical frame, after
    # which the optical z axis is the link's x, and x its -y.
    expected = [[1, 0, 0, 0.09], [0, 0, 1, 0.0], [0, -1, 0, 0.2], [0, 0, 0, 1]]
    assert placed.base_from_cam is not None
    np.testing.assert_allclose(placed.base_from_cam, np.array(expected), atol=1e-12)
    entries = json.loads(recording.metadata["tf_static"])
    assert [entry["child"] for entry in entries] == ["camera_link", "camera_optical", "table"]


def test_a_place_is_known_without_a_lens(tmp_path: Path) -> None:
    mount = transform("base", "camera_optical", [1.0, 2.0, 3.0], [0.0, 0.0, 0.0, 1.0])
    placed = camera(read(tmp_path, static(mount)), "cam").calibration
    assert placed is not None
    assert placed.base_from_cam is not None
    assert placed.base_from_cam[:3, 3].tolist() == [1, 2, 3]
    assert placed.intrinsics_px is None


def test_a_rotation_that_is_none_is_left_out_and_told(tmp_path: Path) -> None:
    mount = transform("base", "camera_optical", [0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0])
    recording = read(tmp_path, static(mount), info())
    lens = camera(recording, "cam").calibration
    assert lens is not None
    assert lens.base_from_cam is None
    assert (
        "has to have the length 1" in by_rule(recording.findings)["calibration_is_readable"].message
    )


def test_frames_that_hang_on_each_other_place_nothing(tmp_path: Path) -> None:
    one = transform("loop", "camera_optical", [0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0])
    two = transform("camera_optical", "loop", [0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0])
    assert camera(read(tmp_path, static(one, two)), "cam").calibration is None


def test_transforms_that_move_are_left_out_and_told(tmp_path: Path) -> None:
    moving = transform("base", "camera_optical", [0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0])
    sent = plain("/tf", "tf2_msgs/msg/TFMessage", {"transforms": [moving]})
    recording = read(tmp_path, sent)
    assert camera(recording, "cam").calibration is None
    assert "/tf (transforms that change" in by_rule(recording.findings)["topics_are_read"].message


def test_latched_transforms_do_not_set_the_start(tmp_path: Path) -> None:
    mount = transform("base", "camera_optical", [0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0])
    recording = read(tmp_path, static(mount))
    assert min(int(s.timestamp_ns[0]) for s in recording.signals) == time_of(0)
