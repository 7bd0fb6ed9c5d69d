from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from robot_data_platform.errors import InvalidInputError
from robot_data_platform.spatial.joint_map import (
    JointColumn,
    joint_map_by_name,
    mapped_joints,
    unmapped_joints,
)
from robot_data_platform.spatial.robot_model import RobotModel
from robot_data_platform_tests.spatial.scenes import two_joint_arm
from robot_data_platform_tests.spatial.test_robot_loader import robot_or_skip

pytest.importorskip("mujoco", reason="it reads robot models")


@pytest.fixture
def robot(tmp_path: Path) -> RobotModel:
    return two_joint_arm(tmp_path)


def test_columns_are_joined_by_name_and_not_by_place(robot: RobotModel) -> None:
    columns = ["reach", "elbow", "shoulder"]
    by_name = joint_map_by_name(columns, ["m", "rad", "rad"], robot)
    joints = mapped_joints(np.array([[0.05, 2.0, 1.0]]), columns, by_name, robot)
    np.testing.assert_array_equal(joints, [[1.0, 2.0, 0.05]])


def test_ur_joints_in_alphabetical_order_come_out_in_the_robots(robot: RobotModel) -> None:
    ur5 = robot_or_skip("ur5")
    columns = sorted(ur5.joint_names)
    values = np.arange(6.0)[None] / 10
    joints = mapped_joints(values, columns, joint_map_by_name(columns, ["rad"] * 6, ur5), ur5)
    expected = [columns.index(joint) / 10 for joint in ur5.joint_names]
    np.testing.assert_allclose(joints[0], expected)
    assert columns != list(ur5.joint_names)


@pytest.mark.parametrize(
    ("entry", "value", "expected"),
    [
        (JointColumn(column="a", joint="elbow", unit="deg"), 90.0, np.pi / 2),
        (JointColumn(column="a", joint="elbow", unit="rad", sign=-1), 0.5, -0.5),
        (JointColumn(column="a", joint="elbow", unit="deg", offset=np.pi / 2), 45, 3 * np.pi / 4),
        (JointColumn(column="a", joint="reach", unit="mm"), 40.0, 0.04),
        (JointColumn(column="a", joint="reach", unit="1", scale=0.1), 0.5, 0.05),
        (JointColumn(column="a", joint="elbow", unit="1", scale=np.pi / 2048), 1024.0, np.pi / 2),
    ],
)
def test_a_value_is_read_in_its_unit_sign_and_zero(
    robot: RobotModel, entry: JointColumn, value: float, expected: float
) -> None:
    joints = mapped_joints(np.array([[value]]), ["a"], (entry,), robot)
    assert joints[0, robot.joint_index(entry.joint)] == pytest.approx(expected)


def test_a_joint_that_no_column_moves_is_not_known(robot: RobotModel) -> None:
    entry = JointColumn(column="a", joint="elbow", unit="rad")
    assert np.isnan(mapped_joints(np.ones((1, 1)), ["a"], (entry,), robot)[0, 0])
    assert unmapped_joints((entry,), robot) == ("shoulder", "reach")


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (JointColumn(column="a", joint="elbow"), "unit None"),
        (JointColumn(column="a", joint="elbow", unit="ticks"), "unit 'ticks'"),
        (JointColumn(column="a", joint="elbow", unit="mm"), "the joint turns"),
        (JointColumn(column="a", joint="reach", unit="deg"), "the joint slides"),
        (JointColumn(column="b", joint="elbow", unit="rad"), "not in the data"),
        (JointColumn(column="a", joint="hip", unit="rad"), "no joint 'hip'"),
        (JointColumn(column="a", joint="elbow", unit="rad", sign=2), "sign 2"),
    ],
)
def test_a_column_that_can_not_be_read_is_refused(
    robot: RobotModel, entry: JointColumn, message: str
) -> None:
    with pytest.raises(InvalidInputError, match=message):
        mapped_joints(np.ones((1, 1)), ["a"], (entry,), robot)


def test_two_columns_for_one_joint_are_refused(robot: RobotModel) -> None:
    entries = [JointColumn(column=name, joint="elbow", unit="rad") for name in "ab"]
    with pytest.raises(InvalidInputError, match="another column"):
        mapped_joints(np.ones((1, 2)), ["a", "b"], tuple(entries), robot)
