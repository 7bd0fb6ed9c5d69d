"""A recorded end effector against the joints of a lake: the exact control of Isaac Lab's Franka."""

from __future__ import annotations

import re
from pathlib import Path

import h5py
import pytest

from robot_data_platform.compute.ingestion import Workplace
from robot_data_platform.compute.listed_findings import FindingFacts, list_findings
from robot_data_platform_tests.compute.uploads import ingest, workplace
from robot_data_platform_tests.spatial.test_robot_loader import robot_or_skip

JOINTS = [f"panda_joint{number}" for number in range(1, 8)]
PROFILE = f"""
robot: panda
control_hz: 20
joints: {{names: [{", ".join(JOINTS)}, panda_finger_joint1, panda_finger_joint2],
  unit: [{", ".join(["rad"] * 7)}, m, m]}}
"""


def franka(folder: Path, shared_data: Path, extra: str = "") -> Workplace:
    """Ingest one demo of the recording with the names that it lacks."""
    robot_or_skip("panda")
    source = folder / "source"
    source.mkdir(parents=True)
    (source / "profile.yaml").write_text(PROFILE + extra)
    recorded = shared_data / "hdf5_isaaclab_franka_stack" / "dataset.hdf5"
    with h5py.File(recorded) as old, h5py.File(source / "one.hdf5", "w") as new:
        old.copy("data/demo_9", new.create_group("data"), name="demo_9")
    place = workplace(folder)
    place.landing.put(source, "franka", "u1")
    ingest(place, "u1")
    return place


def told(place: Workplace) -> dict[str, FindingFacts]:
    return {finding["rule"]: finding for finding in list_findings(place.lake, "franka")}


@pytest.fixture(scope="module")
def undeclared(
    tmp_path_factory: pytest.TempPathFactory, shared_data: Path
) -> dict[str, FindingFacts]:
    return told(franka(tmp_path_factory.mktemp("franka"), shared_data))


def test_the_row_that_poses_are_of_is_found_below_a_tenth_of_a_millimetre(
    undeclared: dict[str, FindingFacts],
) -> None:
    step = undeclared["end_effector_is_of_its_row"]
    assert (step["value"], step["unit"]) == (1.0, "rows")
    off_mm = [float(text) for text in re.findall(r"([0-9.e-]+) mm", step["message"])]
    assert off_mm[0] < 0.1
    assert off_mm[1] > 4


def test_poses_that_fit_are_no_contradiction(undeclared: dict[str, FindingFacts]) -> None:
    assert "end_effector_fits_joints" not in undeclared


def test_the_order_of_their_quaternions_is_told(undeclared: dict[str, FindingFacts]) -> None:
    message = undeclared["quaternion_order_is_declared"]["message"]
    assert message.startswith("Recorded quaternions fit the joints as wxyz")


def test_quaternions_that_are_declared_the_other_way_round_fail(
    tmp_path: Path, shared_data: Path
) -> None:
    place = franka(tmp_path, shared_data, "quaternion_order: xyzw\n")
    finding = told(place)["quaternion_order_fits_joints"]
    assert (finding["severity"], finding["unit"]) == ("fail", "deg")
    assert "and fit the joints as wxyz" in finding["message"]
