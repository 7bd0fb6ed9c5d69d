"""Messages of numbers become vectors with named dimensions; what is none is told."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from robot_data_platform.core.recording import Recording
from robot_data_platform.errors import ErrorKind
from robot_data_platform.formats.profile import Profile, load_profile
from robot_data_platform_tests.formats.reading import by_rule, read_episode, refusal, signal
from robot_data_platform_tests.formats.ros_files import (
    Content,
    Sent,
    header,
    joint_states,
    plain,
    time_of,
    write_mcap,
)

XYZ = {"x": 1.0, "y": 2.0, "z": 3.0}


def read(
    root: Path, messages: list[Sent], profile: Profile | None = None, **types: str
) -> Recording:
    definitions = {kind.replace("__", "/"): text for kind, text in types.items()}
    write_mcap(root / "a.mcap", messages, definitions=definitions)
    return read_episode(root, "a.mcap", profile)


def many(kind: str, content: Content, topic: str = "/x", count: int = 3) -> list[Sent]:
    return [plain(topic, kind, content, k) for k in range(count)]


@pytest.mark.parametrize(
    ("kind", "content", "names", "values"),
    [
        (
            "geometry_msgs/msg/Twist",
            {"linear": XYZ, "angular": {"x": 4.0, "y": 5.0, "z": 6.0}},
            ("linear.x", "linear.y", "linear.z", "angular.x", "angular.y", "angular.z"),
            [1, 2, 3, 4, 5, 6],
        ),
        (
            "geometry_msgs/msg/WrenchStamped",
            {"header": header(5), "wrench": {"force": XYZ, "torque": XYZ}},
            tuple(f"wrench.{part}.{axis}" for part in ("force", "torque") for axis in "xyz"),
            [1, 2, 3, 1, 2, 3],
        ),
        ("std_msgs/msg/Float64", {"data": 2.5}, ("data",), [2.5]),
        ("std_msgs/msg/Bool", {"data": True}, ("data",), [1]),
        (
            "std_msgs/msg/Float64MultiArray",
            {
                "layout": {"dim": [{"label": "n", "size": 2, "stride": 2}], "data_offset": 9},
                "data": [7.0, 8.0],
            },
            None,
            [7, 8],
        ),
        (
            "sensor_msgs/msg/Joy",
            {"header": header(5), "axes": [0.5, -0.5], "buttons": [1]},
            ("axes[0]", "axes[1]", "buttons[0]"),
            [0.5, -0.5, 1],
        ),
    ],
)
def test_numbers_are_named_by_their_path(
    kind: str,
    content: Content,
    names: tuple[str, ...] | None,
    values: list[float],
    tmp_path: Path,
) -> None:
    found = signal(read(tmp_path, many(kind, content)), "observation_x")
    assert found.names == names
    np.testing.assert_array_equal(found.values, [values] * 3)


def test_a_stamped_pose_has_the_time_of_its_header(tmp_path: Path) -> None:
    pose = {"position": XYZ, "orientation": {"x": 0.0, "y": 0.0, "z": 0.0, "w": 1.0}}
    kind = "geometry_msgs/msg/PoseStamped"
    messages = [
        plain("/pose", kind, {"header": header(time_of(k), "base"), "pose": pose}, k)
        for k in range(3)
    ]
    recording = read(tmp_path, messages)
    found = signal(recording, "observation_pose")
    assert found.timestamp_ns.tolist() == [time_of(k) for k in range(3)]
    assert found.names is not None
    assert found.names[-1] == "pose.orientation.w"


CUSTOM = "own_msgs/msg/Hand"
TEXT = "string serial\nfloat32[3] force\nint64 tick\nstring mode\nbuiltin_interfaces/Time at\n"
TIMES = "=" * 80 + "\nMSG: builtin_interfaces/Time\nint32 sec\nuint32 nanosec\n"


def hand(number: int, mode: str) -> Content:
    return {
        "serial": "A7",
        "force": [1.5, 2.5, number],
        "tick": (1 << 30) + number,
        "mode": mode,
        "at": {"sec": 1, "nanosec": 2},
    }


def test_a_type_of_ones_own_is_read_by_its_recorded_definition(tmp_path: Path) -> None:
    messages = [plain("/hand", CUSTOM, hand(k, "grip"), k) for k in range(3)]
    recording = read(tmp_path, messages, own_msgs__msg__Hand=TEXT + TIMES)
    found = signal(recording, "observation_hand")
    assert found.names == ("force[0]", "force[1]", "force[2]", "tick")
    assert found.values[2].tolist() == [1.5, 2.5, 2, (1 << 30) + 2]
    assert recording.metadata["/hand.serial"] == "A7"
    findings = by_rule(recording.findings)
    assert "/hand.tick" in findings["integers_fit_float32"].message
    assert "/hand.at" in findings["columns_are_read"].message


def test_changing_texts_are_left_out_and_told(tmp_path: Path) -> None:
    messages = [plain("/hand", CUSTOM, hand(k, f"mode {k}"), k) for k in range(3)]
    recording = read(tmp_path, messages, own_msgs__msg__Hand=TEXT + TIMES)
    assert "/hand.serial" not in recording.metadata
    assert "/hand.mode" in by_rule(recording.findings)["columns_are_read"].message


def arrays(*lengths: int) -> list[Sent]:
    content = [{"layout": {"dim": [], "data_offset": 0}, "data": [0.5] * n} for n in lengths]
    kind = "std_msgs/msg/Float64MultiArray"
    return [plain("/array", kind, c, k) for k, c in enumerate(content)]


def test_numbers_that_change_their_count_are_no_signal(tmp_path: Path) -> None:
    recording = read(tmp_path, [*joint_states(), *arrays(3, 3, 4)])
    assert "message 2 has 4 numbers" in by_rule(recording.findings)["topics_are_read"].message
    assert "observation_array" not in {s.name for s in recording.signals}


def test_numbers_that_change_their_count_are_refused_where_the_profile_names_them(
    tmp_path: Path,
) -> None:
    write_mcap(tmp_path / "a.mcap", [*joint_states(), *arrays(3, 4)])
    profile = load_profile("streams: {/array: {signal: action}}")
    error = refusal(tmp_path, "a.mcap", profile)
    assert (error.kind, error.facts["topic"]) == (ErrorKind.SHAPE_MISMATCH, "/array")


def test_a_scan_is_a_signal_only_where_the_profile_says_so(tmp_path: Path) -> None:
    messages = [*joint_states(), *arrays(300, 300)]
    recording = read(tmp_path, messages)
    assert "over 256 numbers" in by_rule(recording.findings)["topics_are_read"].message
    profile = load_profile("streams: {/array: {signal: observation_scan}}")
    assert signal(read(tmp_path, messages, profile), "observation_scan").values.shape == (2, 300)


def test_the_machinery_of_a_robots_software_is_listed_and_not_read(tmp_path: Path) -> None:
    log = {"stamp": {"sec": 0, "nanosec": 0}, "level": 20, "name": "n", "msg": "m", "file": "f",
           "function": "g", "line": 3}  # fmt: skip
    recording = read(tmp_path, [*joint_states(), plain("/rosout", "rcl_interfaces/msg/Log", log)])
    assert (
        "/rosout (type rcl_interfaces/msg/Log"
        in by_rule(recording.findings)["topics_are_read"].message
    )


def test_texts_alone_are_refused_as_no_rows(tmp_path: Path) -> None:
    write_mcap(tmp_path / "a.mcap", many("std_msgs/msg/String", {"data": "hello"}))
    error = refusal(tmp_path, "a.mcap")
    assert (error.kind, "/x (its messages hold no number)" in str(error)) == (
        ErrorKind.NO_ROWS,
        True,
    )


def test_two_topics_with_one_name_are_refused_until_the_profile_tells_them_apart(
    tmp_path: Path,
) -> None:
    messages = many("std_msgs/msg/Float64", {"data": 1.0}, "/a/b") + many(
        "std_msgs/msg/Float64", {"data": 2.0}, "/a_b"
    )
    write_mcap(tmp_path / "a.mcap", messages)
    assert refusal(tmp_path, "a.mcap").kind is ErrorKind.METADATA_CONTRADICTION
    profile = load_profile("streams: {/a_b: {signal: observation_other}}")
    assert signal(read(tmp_path, messages, profile), "observation_other").values[0, 0] == 2.0
