"""Profiles are read strictly, and a mistake is told with its line and key."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from robot_data_platform.errors import ErrorKind, InvalidInputError
from robot_data_platform.formats.profile import (
    MAX_PROFILE_BYTES,
    PROFILE_FILE,
    Profile,
    find_profile,
    load_profile,
)
from robot_data_platform.storage.source import LocalSource

WHOLE = """\
version: 1
robot: aloha
description: two arms, three cameras
task: insert the peg
control_hz: 50
joints:
  unit: rad
  names: [waist, shoulder]
  sign: [1, -1]
  offset: [0, 0.5]
gripper:
  convention: zero_is_closed
picture_channel_order: bgr
quaternion_order: wxyz
cameras:
  cam_high: {fps: 50, rename: top}
  cam_low: {}
"""


SIZE = "width_px: 4\n      height_px: 4"
LENS = f"cameras:\n  a:\n    intrinsics:\n      {SIZE}"
PLACE = "cameras:\n  a:\n    extrinsics:\n      direction: base_from_cam\n      axes: opencv"
ANGLES = "axes: extrinsic, unit: rad, values: [0, 0, 0]"


def test_every_key_is_read() -> None:
    profile = load_profile(WHOLE)
    assert (profile.robot, profile.control_hz, profile.joints.unit) == ("aloha", 50.0, "rad")
    assert (profile.joints.names, profile.joints.sign) == (("waist", "shoulder"), (1, -1))
    assert profile.gripper.convention == "zero_is_closed"
    assert (profile.picture_channel_order, profile.quaternion_order) == ("bgr", "wxyz")
    assert (profile.cameras["cam_high"].rename, profile.cameras["cam_low"].fps) == ("top", None)


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("robot: aloha\nrobbot: x", 2, "'robbot' is not known"),
        ("cameras:\n  top:\n    fpss: 3", 3, "'cameras.top.fpss' is not known"),
        ("robot: aloha\ncontrol_hz: -1", 2, "'control_hz'"),
        ("control_hz: true", 1, "'control_hz'"),
        ("control_hz: .nan", 1, "'control_hz'"),
        ("robot: no", 1, "'robot'"),
        ("version: 2", 1, "'version'"),
        ("joints:\n  unit: radians", 2, "'joints.unit'"),
        ("joints:\n  sign:\n  - 1\n  - 2", 4, "'joints.sign.1'"),
        ("\njoints:\n  sign: [1]\n  offset: [1, 2]", 2, "not as many"),
        ("cameras:\n  a: {rename: c}\n  b: {rename: c}", 1, "get the names"),
        ("cameras:\n  a: {rename: Top}", 2, "'cameras.a.rename'"),
        ("joints:\n  unit:\n  - rad\n  - radians", 4, "'joints.unit.1'"),
        ("joints:\n  unit: [rad, deg]\n  names: [a]", 1, "'unit': 2"),
        ("joints:\n  order:\n  - a\n  - a", 2, "'joints.order': a name is there twice"),
        ("joints:\n  order: {a: x, b: x}", 2, "a recorded name is there twice"),
        ("joints:\n  order: [a, b]\n  sign: [1]", 1, "'order': 2"),
        ("joints:\n  order: 3", 2, "'joints.order'"),
        ("joints:\n  limits:\n  - [0, 1]\n  - [1, 0]", 4, "'joints.limits.1': the lowest"),
        ("joints:\n  limits: [[0, .inf]]", 2, "'joints.limits.0.1'"),
        ("joints:\n  stored_as:\n    unit: turns", 3, "'joints.stored_as.unit'"),
        ("joints:\n  stored_as:\n    scale:\n    - 1\n    - x", 5, "'joints.stored_as.scale.1'"),
        ("joints:\n  stored_as:\n    factor: 2", 3, "'joints.stored_as.factor' is not known"),
        ("joints:\n  unit: percent\n  stored_as: {unit: rad}", 1, "percent can't become rad"),
        ("gripper:\n  range: [1, 0]", 2, "'gripper.range'"),
        ("gripper:\n  joints: [3]", 2, "'gripper.joints.0'"),
        ("cameras:\n  a:\n    channel_order: grb", 3, "'cameras.a.channel_order'"),
        ("cameras:\n  a:\n    time_offset_ns: 0.5", 3, "'cameras.a.time_offset_ns'"),
        ("cameras:\n  a:\n    intrinsics:\n      fx: 4", 3, "width_px': Field required"),
        (f"cameras:\n  a:\n    intrinsics:\n      {SIZE}\n      fx: 4", 3, "either `fx`"),
        (f"{LENS}\n      fx: -4\n      fy: 4\n      cx: 2\n      cy: 2", 3, "positive pixels"),
        (f"{LENS}\n      matrix: [[1, 2], [3, 4]]", 3, "(3, 3)"),
        (f"{LENS}\n      matrix: [[x]]", 6, "'cameras.a.intrinsics.matrix.0.0'"),
        (f"{LENS}\n      distortion: {{model: k}}", 6, "distortion.coefficients': Field required"),
        ("cameras:\n  a:\n    extrinsics:\n      axes: opencv", 3, "direction': Field required"),
        (f"{PLACE[:-6]}ros", 5, "'cameras.a.extrinsics.axes'"),
        ("cameras:\n  a:\n    extrinsics:\n      direction: out", 4, "extrinsics.direction'"),
        (f"{PLACE}", 3, "a place is a `matrix`, or `xyz_m`"),
        (f"{PLACE}\n      xyz_m: [0, 0, 0]", 3, "a place is a `matrix`, or `xyz_m`"),
        (f"{PLACE}\n      xyz_m: [0, 0]", 6, "'cameras.a.extrinsics.xyz_m.2'"),
        (f"{PLACE}\n      parent: ''", 6, "'cameras.a.extrinsics.parent'"),
        (f"{PLACE}\n      matrix: [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, -1, 0]]", 3, "reflection"),
        (f"{PLACE}\n      quaternion:\n        order: xwyz", 7, "quaternion.order'"),
        (f"{PLACE}\n      quaternion:\n        values: [1, 0, 0, 0]", 6, "order': Field required"),
        (f"{PLACE}\n      quaternion: {{order: wxyz, values: [1, 1, 0, 0]}}", 6, "length 1"),
        (f"{PLACE}\n      euler: {{order: xyz, axes: moving}}", 6, "euler.axes'"),
        (f"{PLACE}\n      euler: {{order: xxy, {ANGLES}}}", 6, "three axes"),
        ("robot: a\n\nrobot: b", 3, "'robot' is there twice"),
        ("a: &x [1]\nb: *x", 2, "alias '*x'"),
        ("robot: [", 1, "expected the node content"),
        ("!!python/object/apply:os.getcwd []", 1, "could not determine a constructor"),
        ("x: 2020-99-99", 1, "month must be in 1..12"),
        ("- a", 1, "valid dictionary"),
    ],
)
def test_a_mistake_is_told_with_its_line(text: str, line: int, what: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        load_profile(text)
    assert caught.value.kind is ErrorKind.INVALID_PROFILE
    assert caught.value.facts["line"] == line
    assert what in str(caught.value)


def test_an_empty_text_states_nothing() -> None:
    assert load_profile("# only a comment\n") == Profile()


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"#" * (MAX_PROFILE_BYTES + 1), None])
def test_a_file_that_can_not_be_read_is_named(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "stated.yaml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InvalidInputError, match=r"stated\.yaml"):
        load_profile(path)


def test_equal_statements_have_equal_digests_however_they_are_written() -> None:
    one = load_profile("robot: a\ncontrol_hz: 50\n")
    same = load_profile("{control_hz: 50.0, version: 1, robot: 'a', joints: {}, cameras: {}}")
    other = load_profile("robot: a\ncontrol_hz: 51\n")
    assert one.digest() == same.digest() != other.digest()


def test_another_order_of_joints_is_another_statement() -> None:
    one, other = (load_profile(f"joints: {{order: {names}}}") for names in ("[a, b]", "[b, a]"))
    assert one.digest() != other.digest()
    same = load_profile("joints: {order: {a: a, b: b}}")
    assert one.digest() == same.digest()


def test_the_channel_order_of_a_camera_wins_over_that_of_all() -> None:
    profile = load_profile("picture_channel_order: bgr\ncameras: {top: {channel_order: rgb}}")
    assert (profile.channel_order("top"), profile.channel_order("other")) == ("rgb", "bgr")


def test_a_profile_crosses_processes() -> None:
    profile = load_profile(WHOLE)
    assert pickle.loads(pickle.dumps(profile)) == profile


def test_a_source_brings_its_own_profile_and_an_override_wins(tmp_path: Path) -> None:
    (tmp_path / PROFILE_FILE).write_text("robot: own")
    source = LocalSource(tmp_path)
    assert find_profile(source).robot == "own"
    assert find_profile(source, Profile(robot="given")).robot == "given"


def test_a_source_without_a_profile_states_nothing(tmp_path: Path) -> None:
    assert find_profile(LocalSource(tmp_path)) == Profile()
