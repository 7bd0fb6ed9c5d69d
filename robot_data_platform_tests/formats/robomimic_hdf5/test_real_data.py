"""Demos that people recorded in Isaac Lab are read as h5py sees them."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import pytest

from robot_data_platform.core.finding import Severity
from robot_data_platform.errors import InvalidInputError
from robot_data_platform.formats.profile import Profile
from robot_data_platform_tests.formats.reading import (
    by_rule,
    list_folder,
    read_episode,
    signal,
)

FILE, FAILED = "dataset.hdf5", "generated_dataset_small_failed.hdf5"
AT_20_HZ = Profile(control_hz=20.0)
DEMOS = [0, 1, 2, 6, 8, 9, 12, 13, 14, 16]


@pytest.fixture(scope="module")
def root(shared_data: Path) -> Path:
    folder = shared_data / "hdf5_isaaclab_franka_stack"
    if not folder.is_dir():
        pytest.skip(f"no recordings in {folder}")
    return folder


def test_every_demo_of_both_files_is_listed_in_natural_order(root: Path) -> None:
    listing = list_folder(root)
    numbers = [r.source_episode_index for r in listing.episodes if r.files == (FILE,)]
    assert numbers == DEMOS
    assert len(listing.episodes) == len(DEMOS) + 16


def test_the_counter_of_removed_demos_is_flagged_with_both_numbers(root: Path) -> None:
    finding = by_rule(list_folder(root).findings)["total_frames_as_declared"]
    assert (finding.value, finding.threshold) == (2163, 3901)
    assert finding.where == f"{FILE} total"


def test_all_rows_are_read(root: Path) -> None:
    lengths = [
        len(signal(read_episode(root, ref.source_key, AT_20_HZ), "action").values)
        for ref in list_folder(root).episodes
    ]
    assert (sum(lengths[:10]), min(lengths[:10]), max(lengths[:10])) == (2163, 179, 247)
    assert sum(lengths[10:]) == 3736


@pytest.mark.parametrize("demo", [0, 16])
def test_values_are_those_of_the_file(root: Path, demo: int) -> None:
    recording = read_episode(root, f"{FILE}/demo_{demo}", AT_20_HZ)
    with h5py.File(root / FILE, "r") as file:
        group = file[f"data/demo_{demo}"]
        pairs = {
            "action": "actions",
            "observation_state": "states/articulation/robot/joint_position",
            "observation_joint_pos": "obs/joint_pos",
            "observation_eef_quat": "obs/eef_quat",
            "states_rigid_object_cube_2_root_pose": "states/rigid_object/cube_2/root_pose",
        }
        for name, path in pairs.items():
            np.testing.assert_array_equal(signal(recording, name).values, group[path][()])


def test_the_state_is_absolute_and_the_observations_are_one_row_behind_it(root: Path) -> None:
    for ref in list_folder(root).episodes:
        found = by_rule(read_episode(root, ref.source_key, AT_20_HZ).findings)
        assert found["observations_share_the_row_of_states"].value == 1
        stated = found["state_dataset_is_stated"]
        assert stated.where == "states/articulation/robot/joint_position"
        assert "[0.0444, -0.1894, -0.1107, -2.515, 0.0044, 2.378" in stated.message


def test_failed_demos_are_flagged(root: Path) -> None:
    for ref in list_folder(root).episodes:
        found = by_rule(read_episode(root, ref.source_key, AT_20_HZ).findings)
        assert ("episode_is_successful" in found) is (ref.files == (FAILED,))


def test_no_action_leaves_the_range_and_none_is_said_to(root: Path) -> None:
    for ref in list_folder(root).episodes:
        recording = read_episode(root, ref.source_key, AT_20_HZ)
        assert np.abs(signal(recording, "action").values).max() == 1
        assert "actions_in_declared_range" not in by_rule(recording.findings)


def test_nothing_else_is_doubtful(root: Path) -> None:
    expected = {"observations_share_the_row_of_states", "episode_is_successful"}
    for ref in list_folder(root).episodes:
        findings = read_episode(root, ref.source_key, AT_20_HZ).findings
        assert {f.rule for f in findings if f.severity is not Severity.INFO} <= expected


def test_the_file_states_no_rate(root: Path) -> None:
    with pytest.raises(InvalidInputError, match="State `control_hz` in the profile"):
        read_episode(root, f"{FILE}/demo_0")
