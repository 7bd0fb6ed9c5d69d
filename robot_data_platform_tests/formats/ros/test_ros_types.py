"""Definitions come from files that anybody may have written."""

from __future__ import annotations

from pathlib import Path

import pytest

from robot_data_platform.errors import DataFaultError
from robot_data_platform.formats.profile import load_profile
from robot_data_platform.formats.ros.ros_types import DefinitionError, known_type, recorded_type
from robot_data_platform_tests.formats.reading import by_rule, read_episode, refusal, signal
from robot_data_platform_tests.formats.ros_files import cdr, definition, plain, write_mcap

BAD = {
    "code in a type's name": ("a/msg/X:\n  import os\nclass Y", "int32 x"),
    "code in a name of a nested type": (
        "a/msg/X",
        "int32 x\n" + "=" * 80 + "\nMSG: a/b();c\nint32 y",
    ),
    "a name that starts with a number": ("1/msg/2", "int32 x"),
    "a name that climbs": ("../../msg/X", "int32 x"),
    "no name": ("", "int32 x"),
    "a missing type": ("a/msg/X", "b/Missing y"),
    "a type made of itself": ("a/msg/X", "a/X[] inner"),
    "a type that holds itself": ("a/msg/X", "a/X inner"),
    "an array that would unroll without end": ("a/msg/X", "string[1000000000] x"),
    "an array of no size": ("a/msg/X", "int32[-1] x"),
    "a value that is none": ("a/msg/X", "float64 A=1e999\nint32 x"),
    "two fields of one name": ("a/msg/X", "int32 x\nint32 x"),
    "no definition at all": ("a/msg/X", "\0\0\0"),
    "a service": ("a/srv/X_Event", "int64 a\n---\nint64 b"),
    "a definition beyond all bounds": ("a/msg/X", "int32 x\n" * 300_000),
}


@pytest.mark.parametrize("name", BAD)
def test_a_definition_that_is_none_never_runs(name: str) -> None:
    kind, text = BAD[name]
    try:
        found = recorded_type(kind, "ros2msg", text.encode(), is_cdr=True)
    except DefinitionError:
        return
    with pytest.raises((ValueError, KeyError, RecursionError, IndexError)):
        found.decode(b"\0\1\0\0" + bytes(64))


def test_definitions_with_other_line_ends_and_separators_are_read() -> None:
    text = "geometry_msgs/Vector3 v\r\n===\r\nMSG: geometry_msgs/Vector3\r\nfloat64 x\r\n"
    found = recorded_type("a/msg/X", "ros2msg", text.encode(), is_cdr=True)
    message = found.decode(b"\0\1\0\0" + bytes(6) + b"\xf0\x3f")
    assert message.v.x == 1.0  # type: ignore[attr-defined]


def test_big_endian_messages_are_read() -> None:
    found = known_type("std_msgs/msg/Float64", None, {}, is_cdr=True)
    assert found.decode(b"\0\0\0\0\x3f\xf0" + bytes(6)).data == 1.0  # type: ignore[attr-defined]


IDL = """\
================================================================================
IDL: own_msgs/msg/Grip
module own_msgs { module msg {
  struct Grip { double width; long force[2]; };
}; };
"""


def test_definitions_in_idl_are_read() -> None:
    found = recorded_type("own_msgs/msg/Grip", "ros2idl", IDL.encode(), is_cdr=True)
    data = cdr(
        "own_msgs/msg/Grip", {"width": 0.5, "force": [3, 4]}, "float64 width\nint32[2] force\n"
    )
    message = found.decode(data)
    assert (message.width, message.force.tolist()) == (0.5, [3, 4])  # type: ignore[attr-defined]


@pytest.mark.parametrize("distro", ["foxy", "humble", "jazzy", "rolling", None])
def test_standard_types_are_known_of_every_distribution(distro: str | None) -> None:
    found = known_type("sensor_msgs/msg/JointState", distro, {}, is_cdr=True)
    content = {"name": ["a"], "position": [1.5], "header": {"stamp": {"sec": 1, "nanosec": 2}}}
    message = found.decode(cdr("sensor_msgs/msg/JointState", content))
    assert message.position.tolist() == [1.5]  # type: ignore[attr-defined]


HAND = "own_msgs/msg/Hand"
PROFILE = """\
message_definitions:
  own_msgs/msg/Hand: |
    geometry_msgs/Vector3 force
    own_msgs/Finger[2] fingers
  own_msgs/msg/Finger: |
    float64 angle
"""


def write_undefined(root: Path) -> Path:
    """Write a type of one's own whose definition the file leaves empty."""
    text = (
        "geometry_msgs/Vector3 force\nown_msgs/Finger[2] fingers\n"
        + "=" * 80
        + "\nMSG: own_msgs/Finger\nfloat64 angle\n"
        + "=" * 80
        + "\nMSG: geometry_msgs/Vector3\n"
        + definition("geometry_msgs/msg/Vector3")
    )
    content = {
        "force": {"x": 1.0, "y": 2.0, "z": 3.0},
        "fingers": [{"angle": 0.25}, {"angle": 0.75}],
    }
    messages = [plain("/hand", HAND, content, k) for k in range(3)]
    write_mcap(root / "a.mcap", messages, definitions={HAND: text}, is_defined=False)
    return root


def test_a_type_without_definition_is_refused_by_name(tmp_path: Path) -> None:
    error = refusal(write_undefined(tmp_path), "a.mcap")
    assert "'/hand' (own_msgs/msg/Hand" in str(error)
    assert "`message_definitions`" in str(error)


def test_the_profile_may_bring_the_definition(tmp_path: Path) -> None:
    recording = read_episode(write_undefined(tmp_path), "a.mcap", load_profile(PROFILE))
    found = signal(recording, "observation_hand")
    assert found.names == ("force.x", "force.y", "force.z", "fingers[0].angle", "fingers[1].angle")
    assert found.values[0].tolist() == [1, 2, 3, 0.25, 0.75]
    assert HAND in by_rule(recording.findings)["message_definitions_are_recorded"].message


def test_a_definition_of_the_profile_that_is_none_is_told(tmp_path: Path) -> None:
    profile = load_profile("message_definitions: {own_msgs/msg/Hand: '%%%'}")
    with pytest.raises(DataFaultError, match="`message_definitions` of 'own_msgs/msg/Hand'"):
        read_episode(write_undefined(tmp_path), "a.mcap", profile)
