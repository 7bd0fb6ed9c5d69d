"""Which dataset is the state is said, and the row that it belongs to is measured."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import pytest

from robot_data_platform.core.finding import Severity
from robot_data_platform.formats.profile import Profile
from robot_data_platform.formats.robomimic_hdf5.state import state_dataset
from robot_data_platform_tests.formats.reading import by_rule, read_episode, signal
from robot_data_platform_tests.formats.robomimic_files import (
    DEFAULT_POSE,
    ROWS,
    edit,
    joints,
    write_file,
    write_isaac,
)

FILE = "dataset.hdf5"
KEY = f"{FILE}/demo_0"
ARM = "states/articulation/robot/joint_position"


def test_the_state_of_isaac_lab_is_the_absolute_joints(tmp_path: Path) -> None:
    write_isaac(tmp_path / FILE, demos=(0,))
    recording = read_episode(tmp_path, KEY)
    expected = joints(0, ROWS + 2)[1 : ROWS + 1]
    np.testing.assert_array_equal(signal(recording, "observation_state").values, expected)
    finding = by_rule(recording.findings)["state_dataset_is_stated"]
    assert (finding.where, finding.severity) == (ARM, Severity.INFO)
    assert recording.metadata["observation_state"] == ARM


def test_relative_joints_are_told_with_the_pose_that_they_are_relative_to(tmp_path: Path) -> None:
    write_isaac(tmp_path / FILE, demos=(0,))
    recording = read_episode(tmp_path, KEY)
    message = by_rule(recording.findings)["state_dataset_is_stated"].message
    assert "'obs/joint_pos' is relative to a default pose of [0.5, -1.25, 2]" in message
    assert "observation_joint_pos" in {s.name for s in recording.signals}


@pytest.mark.parametrize("lag", [1, 0, -1])
def test_rows_between_observations_and_states_are_measured(tmp_path: Path, lag: int) -> None:
    write_isaac(tmp_path / FILE, demos=(0,), lag=lag)
    recording = read_episode(tmp_path, KEY)
    finding = by_rule(recording.findings).get("observations_share_the_row_of_states")
    assert (finding.value if finding else 0) == lag


def test_values_stay_in_the_rows_that_they_were_recorded_in(tmp_path: Path) -> None:
    write_isaac(tmp_path / FILE, demos=(0,), lag=1)
    recording = read_episode(tmp_path, KEY)
    observed = signal(recording, "observation_joint_pos").values
    np.testing.assert_array_equal(observed, joints(0, ROWS + 2)[:ROWS] - DEFAULT_POSE)


def test_a_robot_that_stands_still_shows_no_lag(tmp_path: Path) -> None:
    write_isaac(tmp_path / FILE, demos=(0,))
    edit(tmp_path / FILE, f"data/demo_0/{ARM}", np.ones((ROWS, 3), np.float32))
    edit(tmp_path / FILE, "data/demo_0/obs/joint_pos", np.ones((ROWS, 3), np.float32))
    rules = by_rule(read_episode(tmp_path, KEY).findings)
    assert "observations_share_the_row_of_states" not in rules


def test_joints_that_may_be_relative_are_doubtful_without_absolute_ones(tmp_path: Path) -> None:
    write_isaac(tmp_path / FILE, demos=(0,))
    with h5py.File(tmp_path / FILE, "a") as file:
        del file["data/demo_0/states"]
    recording = read_episode(tmp_path, KEY)
    finding = by_rule(recording.findings)["state_dataset_is_stated"]
    assert (finding.where, finding.severity) == ("obs/joint_pos", Severity.WARN)
    assert "nothing states whether they are absolute" in finding.message


def test_a_demo_without_a_known_state_is_read_without_one_and_flagged(tmp_path: Path) -> None:
    write_file(tmp_path / FILE, demos=(0,))
    with h5py.File(tmp_path / FILE, "a") as file:
        del file["data/demo_0/obs/robot0_joint_pos"]
    recording = read_episode(tmp_path, KEY, Profile(control_hz=20.0))
    assert by_rule(recording.findings)["state_is_recorded"].severity is Severity.WARN
    assert {"action", "states"} <= {s.name for s in recording.signals}


@pytest.mark.parametrize(
    ("paths", "state"),
    [
        ({ARM, "obs/joint_pos"}, ARM),
        ({ARM, "states/articulation/cabinet/joint_position"}, ARM),
        ({"states/articulation/panda/joint_position"}, "states/articulation/panda/joint_position"),
        ({"states/articulation/a/joint_position", "states/articulation/b/joint_position"}, None),
        ({"obs/robot0_joint_pos", "obs/robot1_joint_pos", "states"}, "obs/robot0_joint_pos"),
        ({"obs/joint_states", "obs/ee_states", "robot_states"}, "obs/joint_states"),
        ({"obs/state", ARM}, "obs/state"),
        ({"actions", "states"}, None),
    ],
)
def test_the_state_is_taken_by_name(paths: set[str], state: str | None) -> None:
    assert state_dataset(paths) == state
