from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

from robot_data_platform.errors import DataFaultError, ErrorKind, InvalidInputError
from robot_data_platform.spatial.kinematics import forward_kinematics
from robot_data_platform.spatial.optional_packages import file_of_package
from robot_data_platform.spatial.robot_loader import load_robot, robot_named
from robot_data_platform.spatial.robot_model import RobotModel
from robot_data_platform.spatial.robot_sources import ROBOT_SOURCES, robot_source
from robot_data_platform_tests.spatial.scenes import TWO_JOINTS, two_joint_arm

pytest.importorskip("mujoco", reason="it reads robot models")

JOINTS_BY_ROBOT = {
    "aloha": 16,
    "g1": 43,
    "panda": 9,
    "panda_2f85": 15,
    "so101": 6,
    "ur5": 6,
    "xarm7": 13,
}


def robot_or_skip(name: str) -> RobotModel:
    try:
        return robot_named(name)
    except InvalidInputError as err:
        if err.kind is not ErrorKind.NOT_INSTALLED:
            raise
        pytest.skip(str(err))


@pytest.mark.parametrize("name", sorted(JOINTS_BY_ROBOT))
def test_a_robot_of_a_package_is_loaded_by_its_name(name: str) -> None:
    assert len(robot_or_skip(name).joint_names) == JOINTS_BY_ROBOT[name]


def test_the_name_of_a_robot_may_be_written_as_people_do() -> None:
    assert robot_source("Unitree G1") is ROBOT_SOURCES["g1"]


def test_an_unknown_robot_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InvalidInputError, match=r"'hal9000'.*'panda'") as caught:
        robot_named("hal9000")
    assert caught.value.kind is ErrorKind.INVALID_ARGUMENT


def test_a_package_that_is_missing_is_named_with_the_way_to_get_it() -> None:
    with pytest.raises(InvalidInputError, match=r"pip install --no-deps no-such-robots") as caught:
        file_of_package("no-such-robots", "robot.urdf")
    assert caught.value.kind is ErrorKind.NOT_INSTALLED


def test_a_file_that_is_missing_from_a_package_is_named() -> None:
    with pytest.raises(InvalidInputError, match=r"'numpy' .* has no file 'robot.urdf'"):
        file_of_package("numpy", "robot.urdf")


def test_links_that_are_no_robot_are_left_out(tmp_path: Path) -> None:
    assert two_joint_arm(tmp_path, root_links=["fore"]).link_names == ("fore", "slider")  # type: ignore[arg-type]


def test_links_that_the_real_robot_lacks_are_left_out(tmp_path: Path) -> None:
    assert "slider" not in two_joint_arm(tmp_path, ignored_links=["slider"]).link_names  # type: ignore[arg-type]


def test_the_last_links_of_each_arm_are_distal() -> None:
    distal = robot_or_skip("aloha").distal_links()
    assert {name.partition("/")[0] for name in distal} == {"vx300s_left", "vx300s_right"}
    assert "vx300s_left/upper_arm_link" not in distal


def test_a_mimic_joint_follows_its_leader() -> None:
    robot = robot_or_skip("panda")
    joints = np.full((1, 9), np.nan)
    joints[0, :7] = 0.1
    joints[0, robot.joint_index("panda_finger_joint1")] = 0.03
    poses = forward_kinematics(robot, joints)
    hand = np.linalg.inv(poses["panda_hand"][0])
    fingers = [hand @ poses[f"panda_{side}finger"][0, :, 3] for side in ("left", "right")]
    np.testing.assert_allclose([finger[1] for finger in fingers], [0.03, -0.03], atol=1e-12)


def test_a_joint_that_the_data_has_does_not_follow() -> None:
    robot = robot_or_skip("panda")
    joints = np.zeros((1, 9))
    joints[0, robot.joint_index("panda_finger_joint2")] = 0.02
    poses = forward_kinematics(robot, joints)
    hand = np.linalg.inv(poses["panda_hand"][0])
    assert (hand @ poses["panda_rightfinger"][0, :, 3])[1] == pytest.approx(-0.02)


def test_a_robot_keeps_its_kinematics_across_processes(tmp_path: Path) -> None:
    robot = two_joint_arm(tmp_path)
    again = pickle.loads(pickle.dumps(robot))
    joints = np.array([[0.3, 0.4, 0.05]])
    np.testing.assert_array_equal(
        forward_kinematics(again, joints)["slider"], forward_kinematics(robot, joints)["slider"]
    )


def test_a_link_that_is_not_in_the_model_is_refused_with_those_that_are(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"no link 'hand'.*'slider'"):
        two_joint_arm(tmp_path, tool_link="hand")


@pytest.mark.parametrize("text", ["", "<mujoco", "<robot/>", TWO_JOINTS[:200], "\0" * 64])
@pytest.mark.parametrize("name", ["arm.xml", "arm.urdf"])
def test_a_broken_model_is_refused_by_name(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(DataFaultError, match=name) as caught:
        load_robot(tmp_path / name)
    assert caught.value.kind is ErrorKind.UNREADABLE_FILE


def test_a_model_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataFaultError, match=r"arm\.xml") as caught:
        load_robot(tmp_path / "arm.xml")
    assert caught.value.kind is ErrorKind.MISSING_FILE
