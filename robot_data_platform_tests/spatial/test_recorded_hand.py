"""Which signals are recorded end effectors, and when their samples were taken."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from robot_data_platform.core.rotation import Float64Array
from robot_data_platform.spatial.judgement import is_not_measured
from robot_data_platform.spatial.kinematics import forward_kinematics
from robot_data_platform.spatial.recorded_hand import RecordedHand, hand_fits_joints, hand_signals
from robot_data_platform.spatial.robot_model import RobotModel
from robot_data_platform.spatial.thresholds import SpatialThresholds
from robot_data_platform_tests.spatial.test_robot_loader import robot_or_skip

LIMITS = SpatialThresholds()
STEP_NS = 20_000_000
NUM_ROWS = 120
ROW_NS = STEP_NS * np.arange(NUM_ROWS, dtype=np.int64)


@pytest.mark.parametrize(
    ("widths", "expected"),
    [
        ({"observation_eef_pos": 3, "observation_eef_quat": 4}, {"observation_eef_pos": True}),
        ({"observation_robot0_eef_pos": 3}, {"observation_robot0_eef_pos": False}),
        ({"observation_cartesian_position": 6}, {"observation_cartesian_position": False}),
        ({"observation_tcp_pose": 7}, {"observation_tcp_pose": True}),
        ({"observation_eef_pos": 4, "action": 7, "observation_creep_pos": 3}, {}),
        ({"action_cartesian_position": 6, "observation_target_eef": 3}, {}),
    ],
)
def test_hands_are_known_by_the_usual_names(
    widths: dict[str, int], expected: dict[str, bool]
) -> None:
    found = hand_signals(widths)
    assert {name: other is not None for name, other in found.items()} == expected


@pytest.fixture(scope="module")
def moving() -> tuple[RobotModel, Float64Array, Float64Array]:
    """Return a Panda, its joints in each row, and where its hand is."""
    robot = robot_or_skip("panda")
    t_s = ROW_NS / 1e9
    joints = np.full((NUM_ROWS, len(robot.joint_names)), np.nan)
    for number in range(7):
        place = robot.joint_index(f"panda_joint{number + 1}")
        joints[:, place] = 0.4 * np.sin(t_s * (1 + number / 5)) - (1.5 if number == 3 else 0.0)
    return robot, joints, forward_kinematics(robot, joints)["panda_hand"][:, :3, 3]


def hand(position: Float64Array) -> RecordedHand:
    return RecordedHand(
        signal="observation_eef_pos", t_ns=ROW_NS, position=position, quaternion=None
    )


def rules(found: RecordedHand, robot: RobotModel, joints: Float64Array) -> set[str]:
    findings = hand_fits_joints(found, robot, ROW_NS, joints, LIMITS)
    return {finding.rule for finding in findings if not is_not_measured(finding)}


def test_true_positions_are_no_finding(
    moving: tuple[RobotModel, Float64Array, Float64Array],
) -> None:
    robot, joints, position = moving
    assert rules(hand(position), robot, joints) == set()


def test_positions_of_another_joint_angle_are_found(
    moving: tuple[RobotModel, Float64Array, Float64Array],
) -> None:
    robot, joints, position = moving
    wrong = joints.copy()
    wrong[:, robot.joint_index("panda_joint2")] *= -1
    assert rules(hand(position), robot, wrong) == {"end_effector_fits_joints"}


def test_a_slower_record_is_held_against_the_joints_of_its_own_time(
    moving: tuple[RobotModel, Float64Array, Float64Array],
) -> None:
    """Every sixth sample, held: read as of its row, it would be centimetres off."""
    robot, joints, position = moving
    last = np.arange(NUM_ROWS) // 6 * 6
    held = replace(hand(position[last]), t_ns=ROW_NS[last])
    assert rules(held, robot, joints) == set()


def test_rows_without_joints_say_nothing(
    moving: tuple[RobotModel, Float64Array, Float64Array],
) -> None:
    robot, joints, position = moving
    (finding,) = hand_fits_joints(hand(position), robot, ROW_NS, joints * np.nan, LIMITS)
    assert is_not_measured(finding)


def test_a_robot_without_a_tool_link_is_not_measured_with_the_reason(
    moving: tuple[RobotModel, Float64Array, Float64Array],
) -> None:
    robot, joints, position = moving
    bare = replace(robot, tool_link=None)
    (finding,) = hand_fits_joints(hand(position), bare, ROW_NS, joints, LIMITS)
    assert finding.message.startswith("Not measured: the model of 'panda' names no link")
