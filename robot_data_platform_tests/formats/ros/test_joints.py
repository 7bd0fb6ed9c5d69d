"""Joint states: columns by name, whatever the order and the publisher."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from robot_data_platform.core.finding import Severity
from robot_data_platform.errors import ErrorKind
from robot_data_platform.formats.profile import load_profile
from robot_data_platform_tests.formats.reading import by_rule, read_episode, refusal, signal
from robot_data_platform_tests.formats.ros_files import (
    JOINTS,
    Sent,
    header,
    joint_state,
    joint_states,
    plain,
    time_of,
    write_mcap,
)


def read(root: Path, messages: list[Sent], profile: str = "{}") -> dict[str, list[list[float]]]:
    """Return the values of every signal."""
    write_mcap(root / "a.mcap", messages)
    recording = read_episode(root, "a.mcap", load_profile(profile))
    return {s.name: s.values.round(6).tolist() for s in recording.signals}


def test_joints_are_columns_by_name_whatever_their_order(tmp_path: Path) -> None:
    turned = [
        joint_state(k, names=JOINTS if k % 2 else ("grip", "shoulder", "elbow")) for k in range(4)
    ]
    write_mcap(tmp_path / "a.mcap", turned)
    state = signal(read_episode(tmp_path, "a.mcap"), "observation_state")
    assert state.names == ("grip", "shoulder", "elbow")
    assert state.values.round(6).tolist() == [[k + 0.2, k + 0.0, k + 0.1] for k in range(4)]


def test_empty_fields_are_no_signals(tmp_path: Path) -> None:
    found = read(tmp_path, [joint_state(k, position=[], effort=[1.0, 2.0, 3.0]) for k in range(3)])
    assert sorted(found) == ["observation_effort", "observation_velocity"]


def test_a_field_that_comes_and_goes_keeps_the_times_of_its_messages(tmp_path: Path) -> None:
    messages = [joint_state(k, velocity=[]) if k % 2 else joint_state(k) for k in range(6)]
    write_mcap(tmp_path / "a.mcap", messages)
    recording = read_episode(tmp_path, "a.mcap")
    assert len(signal(recording, "observation_state").values) == 6
    velocity = signal(recording, "observation_velocity")
    assert velocity.timestamp_ns.tolist() == [time_of(k) for k in (0, 2, 4)]


def test_two_publishers_of_one_topic_become_two_signals(tmp_path: Path) -> None:
    messages = [joint_state(k, names=("grip",) if k % 3 == 2 else JOINTS[:2]) for k in range(9)]
    write_mcap(tmp_path / "a.mcap", messages)
    recording = read_episode(tmp_path, "a.mcap")
    arm, grip = (signal(recording, f"observation_state{end}") for end in ("", "_2"))
    assert (arm.names, len(arm.values)) == (JOINTS[:2], 6)
    assert (grip.names, grip.timestamp_ns.tolist()) == (("grip",), [time_of(k) for k in (2, 5, 8)])
    finding = by_rule(recording.findings)["joint_names_are_constant"]
    assert (finding.severity, finding.value) == (Severity.WARN, 1)
    assert "/joint_states [['shoulder', 'elbow'], ['grip']]" in finding.message


def test_unnamed_joints_stay_unnamed(tmp_path: Path) -> None:
    write_mcap(tmp_path / "a.mcap", joint_states(3, name=[]))
    assert signal(read_episode(tmp_path, "a.mcap"), "observation_state").names is None


def test_more_names_than_values_are_refused_with_the_message(tmp_path: Path) -> None:
    messages = [*joint_states(3), joint_state(3, position=[1.0])]
    write_mcap(tmp_path / "a.mcap", messages)
    error = refusal(tmp_path, "a.mcap")
    assert error.kind is ErrorKind.SHAPE_MISMATCH
    assert "topic '/joint_states' message 3" in str(error)
    assert "got 1 of position, expected 3" in str(error)


def test_a_joint_that_is_named_twice_is_refused(tmp_path: Path) -> None:
    write_mcap(tmp_path / "a.mcap", joint_states(2, name=["a", "b", "a"]))
    assert refusal(tmp_path, "a.mcap").kind is ErrorKind.METADATA_CONTRADICTION


def test_several_topics_of_joints_are_named_after_themselves_and_told(tmp_path: Path) -> None:
    messages = [joint_state(k, topic=f"/{side}/joints") for k in range(3) for side in ("l", "r")]
    write_mcap(tmp_path / "a.mcap", messages)
    recording = read_episode(tmp_path, "a.mcap")
    assert {s.name for s in recording.signals} == {
        "observation_l_joints",
        "observation_l_joints_velocity",
        "observation_r_joints",
        "observation_r_joints_velocity",
    }
    finding = by_rule(recording.findings)["state_and_action_are_known"]
    assert (finding.severity, finding.value) == (Severity.WARN, 2)
    assert "/l/joints, /r/joints" in finding.message


def test_the_profile_says_which_topic_is_the_action(tmp_path: Path) -> None:
    messages = [joint_state(k, topic=t) for k in range(3) for t in ("/joint_states", "/commands")]
    found = read(tmp_path, messages, "streams: {/commands: {signal: action}}")
    assert sorted(found) == [
        "action",
        "action_velocity",
        "observation_state",
        "observation_velocity",
    ]


def trajectory(number: int, num_points: int = 1) -> Sent:
    point = {
        "positions": [number + 0.5, 7.0],
        "velocities": [],
        "accelerations": [],
        "effort": [],
        "time_from_start": {"sec": 0, "nanosec": 0},
    }
    content = {
        "header": header(time_of(number)),
        "joint_names": ["shoulder", "elbow"],
        "points": [point] * num_points,
    }
    return plain("/command", "trajectory_msgs/msg/JointTrajectory", content, number)


def test_a_trajectory_of_one_point_is_a_command_by_joint_name(tmp_path: Path) -> None:
    write_mcap(tmp_path / "a.mcap", [*joint_states(4), *(trajectory(k) for k in range(4))])
    profile = load_profile("streams: {/command: {signal: action}}")
    action = signal(read_episode(tmp_path, "a.mcap", profile), "action")
    assert action.names == ("shoulder", "elbow")
    assert action.values.tolist() == [[k + 0.5, 7.0] for k in range(4)]


def test_a_trajectory_of_several_points_is_a_plan_and_left_out(tmp_path: Path) -> None:
    write_mcap(tmp_path / "a.mcap", [*joint_states(4), *(trajectory(k, 2) for k in range(4))])
    recording = read_episode(tmp_path, "a.mcap")
    assert (
        "/command (message 0 has 2 points" in by_rule(recording.findings)["topics_are_read"].message
    )


def test_nan_stays(tmp_path: Path) -> None:
    write_mcap(tmp_path / "a.mcap", joint_states(3, position=[float("nan"), float("inf"), 1.0]))
    values = signal(read_episode(tmp_path, "a.mcap"), "observation_state").values
    np.testing.assert_array_equal(values, [[np.nan, np.inf, 1.0]] * 3)


@pytest.mark.parametrize("topic", ["/joint_states", "/arm/joint_states"])
def test_the_only_topic_of_joints_is_the_state_whatever_its_name(
    topic: str, tmp_path: Path
) -> None:
    found = read(tmp_path, [joint_state(k, topic=topic) for k in range(2)])
    assert found["observation_state"] == [[0.0, 0.1, 0.2], [1.0, 1.1, 1.2]]
