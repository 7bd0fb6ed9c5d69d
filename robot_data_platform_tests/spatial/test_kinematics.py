from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from robot_data_platform.core.rotation import Float64Array
from robot_data_platform.errors import InvalidInputError
from robot_data_platform.spatial.kinematics import forward_kinematics
from robot_data_platform_tests.spatial.scenes import two_joint_arm
from robot_data_platform_tests.spatial.test_robot_loader import robot_or_skip

pytest.importorskip("mujoco", reason="it computes the kinematics")

UR5_DH = [
    # a, d, alpha of the maker's table (support article "DH parameters")
    (0.0, 0.089159, np.pi / 2),
    (-0.425, 0.0, 0.0),
    (-0.39225, 0.0, 0.0),
    (0.0, 0.10915, np.pi / 2),
    (0.0, 0.09465, -np.pi / 2),
    (0.0, 0.0823, 0.0),
]
PANDA_CRAIG = [
    # a, d, alpha of the maker's table (Franka Control Interface, "Denavit-Hartenberg parameters")
    (0.0, 0.333, 0.0),
    (0.0, 0.0, -np.pi / 2),
    (0.0, 0.316, np.pi / 2),
    (0.0825, 0.0, np.pi / 2),
    (-0.0825, 0.384, -np.pi / 2),
    (0.0, 0.0, np.pi / 2),
    (0.088, 0.0, np.pi / 2),
]


def screw(axis: int, angle: float, along: float) -> Float64Array:
    pose = np.eye(4)
    first, second = {0: (1, 2), 2: (0, 1)}[axis]
    pose[first, first] = pose[second, second] = np.cos(angle)
    pose[second, first], pose[first, second] = np.sin(angle), -np.sin(angle)
    pose[axis, 3] = along
    return pose


def test_a_planar_arm_is_where_trigonometry_puts_it(tmp_path: Path) -> None:
    shoulder, elbow, reach = 0.3, -0.8, 0.05
    poses = forward_kinematics(two_joint_arm(tmp_path), np.array([[shoulder, elbow, reach]]))
    tip = [
        0.5 * np.cos(shoulder) + (0.3 + reach) * np.cos(shoulder + elbow),
        0.5 * np.sin(shoulder) + (0.3 + reach) * np.sin(shoulder + elbow),
        0.1,
    ]
    np.testing.assert_allclose(poses["slider"][0, :3, 3], tip, atol=1e-12)


def test_poses_are_given_in_the_base_link(tmp_path: Path) -> None:
    poses = forward_kinematics(two_joint_arm(tmp_path, base_link="base"), np.zeros((1, 3)))
    np.testing.assert_allclose(poses["slider"][0, :3, 3], [0.8, 0, 0], atol=1e-12)


def test_a_ur5_agrees_with_its_makers_table() -> None:
    robot = robot_or_skip("ur5")
    joints = np.random.default_rng(5).uniform(-3, 3, (20, 6))
    poses = forward_kinematics(robot, joints)
    tool = np.linalg.inv(poses["base"]) @ poses["tool0"]
    for row, angles in enumerate(joints):
        expected = np.eye(4)
        for angle, (a, d, alpha) in zip(angles, UR5_DH, strict=True):
            expected = expected @ screw(2, angle, d) @ screw(0, alpha, a)
        np.testing.assert_allclose(tool[row, :3, 3], expected[:3, 3], atol=1e-5)


def test_a_panda_agrees_with_its_makers_table() -> None:
    robot = robot_or_skip("panda")
    joints = np.full((20, 9), np.nan)
    joints[:, :7] = np.random.default_rng(7).uniform(-2, 2, (20, 7))
    found = forward_kinematics(robot, joints)["panda_link7"]
    for row, angles in enumerate(joints[:, :7]):
        expected = np.eye(4)
        for angle, (a, d, alpha) in zip(angles, PANDA_CRAIG, strict=True):
            expected = expected @ screw(0, alpha, a) @ screw(2, angle, d)
        np.testing.assert_allclose(found[row], expected, atol=1e-6)


def test_joints_that_are_not_known_rest(tmp_path: Path) -> None:
    robot = two_joint_arm(tmp_path)
    poses = forward_kinematics(robot, np.full((1, 3), np.nan))
    np.testing.assert_allclose(poses["slider"][0, :3, 3], [0.8, 0, 0.1], atol=1e-12)


def test_joints_of_another_width_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"\(T, 3\), got \(4, 2\)"):
        forward_kinematics(two_joint_arm(tmp_path), np.zeros((4, 2)))
