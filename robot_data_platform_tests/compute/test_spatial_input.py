"""What can't be measured is told with the reason, before any picture is read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from robot_data_platform.compute.spatial_input import StatedFacts, joints_of, spatial_input
from robot_data_platform.core.calibration import CameraCalibration
from robot_data_platform.core.calibration_json import calibrations_to_json
from robot_data_platform.core.finding import Finding
from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform.quality.rules.values import SignalRows
from robot_data_platform.quality.stored_episode import StoredEpisode, read_episode
from robot_data_platform.spatial.judgement import is_not_measured
from robot_data_platform.spatial.robot_model import RobotModel
from robot_data_platform.storage.snapshot import open_snapshot
from robot_data_platform.storage.table import LakeTable
from robot_data_platform.testing.rawlog import RawlogShape
from robot_data_platform_tests.compute.uploads import IN_PROCESS, RUN, STEPS, land, workplace
from robot_data_platform_tests.spatial.scenes import two_joint_arm

pytest.importorskip("mujoco", reason="it reads robot models")

STATED = StatedFacts(robot="arm", calibrations_json=None)
NUM_ROWS = 24


@pytest.fixture
def arm(tmp_path: Path) -> RobotModel:
    return two_joint_arm(tmp_path)


def state(names: tuple[str, ...] | None, unit: str | None = "rad") -> SignalRows:
    width = len(names) if names else 3
    return SignalRows(
        name="observation_state",
        values=np.zeros((NUM_ROWS, width), np.float32),
        is_present=np.ones(NUM_ROWS, np.bool_),
        names=names,
        units=(unit,) * width,
    )


def why_not(signal: SignalRows, robot: RobotModel) -> str:
    joints, (finding,) = joints_of([signal], robot, STATED)
    assert joints is None
    assert (finding.rule, is_not_measured(finding)) == ("joints_are_known", True)
    return finding.message


def test_joints_without_names_are_not_measured(arm: RobotModel) -> None:
    assert "no column bears the name of a joint" in why_not(state(None), arm)


def test_joints_of_other_names_are_not_measured_and_the_names_are_told(arm: RobotModel) -> None:
    assert "got ['m0', 'm1']" in why_not(state(("m0", "m1")), arm)


def test_joints_of_an_unknown_unit_are_not_measured(arm: RobotModel) -> None:
    message = why_not(state(arm.joint_names, unit=None), arm)
    assert "has the unit None" in message


def test_an_arm_of_which_a_joint_is_missing_is_not_measured(arm: RobotModel) -> None:
    assert f"moves ['{arm.joint_names[0]}']" in why_not(state(arm.joint_names[1:]), arm)


def test_commands_are_not_taken_for_joints(arm: RobotModel) -> None:
    action = replace(state(arm.joint_names), name="action")
    joints, (finding,) = joints_of([action], arm, STATED)
    assert joints is None
    assert is_not_measured(finding)


Stored = tuple[LakeTable, StoredEpisode]


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Stored:
    place = workplace(tmp_path_factory.mktemp("input"))
    land(place, "robot", "u1", RawlogShape(num_episodes=1, num_rows=NUM_ROWS, cameras=("env",)))
    for name in ("raw_episodes", "gop_video", "frames", "episodes"):
        STEPS[name](place, "u1", IN_PROCESS, RUN)
    snapshot = open_snapshot(place.lake, "robot")
    return snapshot.gops, read_episode(snapshot, 0)


def told(
    stored: Stored, arm: RobotModel, stated: StatedFacts, monkeypatch: pytest.MonkeyPatch
) -> dict[str, Finding]:
    """Return what is told of an episode whose state is that of the arm, without its pictures."""
    gops, episode = stored
    joints = np.zeros((len(episode.timestamp_ns), len(arm.joint_names)))
    module = "robot_data_platform.compute.spatial_input"
    monkeypatch.setattr(f"{module}.robot_named", lambda name: arm)
    monkeypatch.setattr(f"{module}.joints_of", lambda *_: (joints, []))
    _, findings = spatial_input(gops, episode, "ep", stated, only=())
    assert all(is_not_measured(finding) for finding in findings)
    return {finding.rule: finding for finding in findings}


def test_a_calibrated_camera_that_is_not_in_the_data_is_told(
    stored: Stored, arm: RobotModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = CameraCalibration(base_from_cam=np.eye(4), pose_origin="data")
    stated = replace(STATED, calibrations_json=calibrations_to_json({"elsewhere": known}))
    finding = told(stored, arm, stated, monkeypatch)["camera_is_in_data"]
    assert finding.where == "camera=elsewhere"


def test_a_camera_on_an_unknown_link_is_told(
    stored: Stored, arm: RobotModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = CameraCalibration(base_from_cam=np.eye(4), pose_origin="data", parent_frame="tail")
    stated = replace(STATED, calibrations_json=calibrations_to_json({"env": known}))
    finding = told(stored, arm, stated, monkeypatch)["camera_is_measurable"]
    assert "no link 'tail'" in finding.message


def test_a_lens_whose_distortion_is_not_known_is_told(
    stored: Stored, arm: RobotModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = CameraCalibration(
        intrinsics_px=np.array([[60.0, 0, 32], [0, 60.0, 24], [0, 0, 1]]),
        intrinsics_origin="data",
        distortion_model="mei",
        distortion_coefficients=(0.1,),
    )
    stated = replace(STATED, calibrations_json=calibrations_to_json({"env": known}))
    finding = told(stored, arm, stated, monkeypatch)["camera_is_measurable"]
    assert "model 'mei' can't be undone" in finding.message


def test_an_episode_whose_robot_nobody_names_is_not_measured(stored: Stored) -> None:
    gops, episode = stored
    measured, (finding,) = spatial_input(gops, episode, "ep", replace(STATED, robot=None))
    assert measured is None
    assert finding.message.startswith("Not measured: neither the data nor the profile names")


def test_a_robot_without_its_meshes_is_not_measured_with_the_file(
    stored: Stored, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(name: str) -> RobotModel:
        raise DataFaultError(
            "Mesh 'link1.stl' of the robot is not there.", kind=ErrorKind.MISSING_FILE
        )

    monkeypatch.setattr("robot_data_platform.compute.spatial_input.robot_named", refuse)
    gops, episode = stored
    measured, (finding,) = spatial_input(gops, episode, "ep", STATED)
    assert measured is None
    assert finding.message == "Not measured: Mesh 'link1.stl' of the robot is not there."
