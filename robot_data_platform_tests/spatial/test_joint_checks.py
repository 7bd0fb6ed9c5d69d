from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from robot_data_platform.core.finding import Severity
from robot_data_platform.spatial.joint_checks import angle_unit_by_trial, joints_within_limits
from robot_data_platform.spatial.joint_map import joint_map_by_name, mapped_joints
from robot_data_platform.spatial.judgement import is_not_measured
from robot_data_platform.spatial.kinematics import forward_kinematics
from robot_data_platform.spatial.thresholds import SpatialThresholds
from robot_data_platform_tests.spatial.scenes import two_joint_arm
from robot_data_platform_tests.spatial.test_robot_loader import robot_or_skip

pytest.importorskip("mujoco", reason="it reads robot models")

LIMITS = SpatialThresholds()


def test_joints_within_their_limits_have_no_finding(tmp_path: Path) -> None:
    joints = np.tile([1.9, -1.9, 0.1], (50, 1))
    assert joints_within_limits(two_joint_arm(tmp_path), joints, LIMITS) == []


def test_the_joint_that_is_outside_is_named_with_its_share(tmp_path: Path) -> None:
    joints = np.zeros((50, 3))
    joints[:10, 1] = 2.5
    (finding,) = joints_within_limits(two_joint_arm(tmp_path), joints, LIMITS)
    assert finding.where == "joint=elbow"
    assert finding.value == pytest.approx(0.2)
    assert finding.severity is Severity.FAIL


def test_without_values_nothing_is_measured(tmp_path: Path) -> None:
    joints = np.full((5, 3), np.nan)
    (finding,) = joints_within_limits(two_joint_arm(tmp_path), joints, LIMITS)
    assert is_not_measured(finding)


@pytest.mark.parametrize(("unit", "factor"), [("rad", 1.0), ("deg", 180 / np.pi)])
def test_the_unit_of_angles_is_found_by_trial(tmp_path: Path, unit: str, factor: float) -> None:
    angles = np.zeros((30, 3))
    angles[:, :2] = np.linspace([-1.5, -1.0], [1.5, 1.2], 30)
    assert angle_unit_by_trial(two_joint_arm(tmp_path), factor * angles) == unit


@pytest.mark.parametrize("angles", [np.zeros((30, 3)), np.full((30, 3), 2048.0)])
def test_a_unit_that_can_not_be_told_is_not_guessed(
    tmp_path: Path, angles: np.ndarray[tuple[int, int], np.dtype[np.float64]]
) -> None:
    assert angle_unit_by_trial(two_joint_arm(tmp_path), angles) is None


def test_a_real_g1_stands_within_its_limits(shared_data: Path) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    robot = robot_or_skip("g1")
    folder = shared_data / "lerobot_v21_g1_inspire"
    file = sorted(folder.rglob("episode_*.parquet"))[0]
    state = np.array(pq.read_table(file)["observation.state"].to_pylist(), dtype=np.float64)
    names = [
        f"{side}_{joint}_joint"
        for side in ("left", "right")
        for joint in (
            *("shoulder_pitch", "shoulder_roll", "shoulder_yaw", "elbow"),
            *("wrist_roll", "wrist_pitch", "wrist_yaw"),
        )
    ]
    joints = mapped_joints(
        state[:, :14], names, joint_map_by_name(names, ["rad"] * 14, robot), robot
    )
    assert joints_within_limits(robot, joints, LIMITS) == []
    hand = forward_kinematics(robot, joints)["left_wrist_yaw_link"][:, :3, 3]
    assert np.abs(hand).max() < 0.8
