from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robot_data_platform.core.finding import Severity
from robot_data_platform.core.rotation import Float64Array, rotation_from_quaternion
from robot_data_platform.spatial.end_effector import match_end_effector
from robot_data_platform.spatial.end_effector_checks import end_effector_agrees
from robot_data_platform.spatial.judgement import is_not_measured
from robot_data_platform.spatial.kinematics import forward_kinematics
from robot_data_platform.spatial.thresholds import SpatialThresholds
from robot_data_platform_tests.spatial.test_robot_loader import robot_or_skip

LIMITS = SpatialThresholds()
RNG = np.random.default_rng(3)


def wandering(num_rows: int = 60) -> tuple[Float64Array, Float64Array]:
    """Return base_from_link and its quaternions (wxyz) of a hand on a smooth way."""
    time = np.linspace(0, 2, num_rows)
    quaternions = np.stack(
        [np.cos(time), 0.4 * np.sin(2 * time), 0.3 * np.sin(3 * time), np.sin(time)], axis=1
    )
    quaternions /= np.linalg.norm(quaternions, axis=1, keepdims=True)
    poses = np.tile(np.eye(4), (num_rows, 1, 1))
    poses[:, :3, :3] = [rotation_from_quaternion(q, order="wxyz") for q in quaternions]
    poses[:, :3, 3] = np.stack(
        [0.4 + 0.1 * time, 0.2 * np.sin(3 * time), 0.3 * np.cos(time)], axis=1
    )
    return poses, quaternions


def tool_points(poses: Float64Array, tool_m: tuple[float, float, float]) -> Float64Array:
    return np.asarray(poses[:, :3, :3] @ tool_m + poses[:, :3, 3])


@pytest.mark.parametrize("shift", [0, 1, -1, 2])
@pytest.mark.parametrize(("unit", "factor"), [("m", 1.0), ("mm", 1000.0)])
def test_step_and_unit_are_found(shift: int, unit: str, factor: float) -> None:
    poses, _ = wandering()
    recorded = np.roll(factor * tool_points(poses, (0, 0, 0.1)), shift, axis=0)
    recorded[: max(0, shift)] = np.nan
    recorded[len(recorded) + min(0, shift) :] = np.nan
    match = match_end_effector(poses, recorded)
    assert match is not None
    assert (match.shift_rows, match.unit) == (shift, unit)
    assert match.tool_m == pytest.approx((0, 0, 0.1), abs=1e-9)


def test_a_tool_beside_the_axis_is_found_where_it_has_to_be() -> None:
    poses, _ = wandering()
    match = match_end_effector(poses, tool_points(poses, (0.05, -0.02, 0.1)))
    assert match is not None
    assert match.tool_m == pytest.approx((0.05, -0.02, 0.1), abs=1e-9)


def test_a_record_in_the_frame_of_a_simulated_world_is_told_with_the_base() -> None:
    poses, _ = wandering()
    recorded = tool_points(poses, (0, 0, 0.1)) + np.array([-0.56, 0.0, 0.912])
    match = match_end_effector(poses, recorded)
    assert match is not None
    assert match.origin_m == pytest.approx((-0.56, 0, 0.912), abs=1e-9)
    assert match.tool_m == pytest.approx((0, 0, 0.1), abs=1e-9)
    (finding,) = (f for f in end_effector_agrees(match, None, "", LIMITS) if "frame" in f.rule)
    assert (finding.severity, finding.unit) == (Severity.INFO, "m")


def test_another_step_is_not_preferred_for_noise() -> None:
    poses, _ = wandering()
    noisy = tool_points(poses, (0, 0, 0.1)) + RNG.normal(0, 0.02, (60, 3))
    match = match_end_effector(poses, noisy)
    assert match is not None
    assert match.shift_rows == 0


@given(order=st.sampled_from(["wxyz", "xyzw"]), turned=st.booleans())
def test_the_order_of_quaternions_is_found_also_with_a_turned_tool(
    order: str, turned: bool
) -> None:
    poses, quaternions = wandering()
    recorded = quaternions
    if turned:  # by 45 degrees about z: q * (cos 22.5, 0, 0, sin 22.5)
        c, s = np.cos(np.pi / 8), np.sin(np.pi / 8)
        w, x, y, z = quaternions.T
        recorded = np.stack([w * c - z * s, x * c + y * s, y * c - x * s, z * c + w * s], axis=1)
    if order == "xyzw":
        recorded = np.roll(recorded, -1, axis=1)
    match = match_end_effector(poses, poses[:, :3, 3], recorded)
    assert match is not None
    assert match.quaternion_order == order


def test_a_hand_that_does_not_move_says_nothing() -> None:
    poses, _ = wandering()
    still = np.tile(poses[:1], (30, 1, 1))
    assert match_end_effector(still, still[:, :3, 3]) is None
    (finding,) = end_effector_agrees(None, None, "eef", LIMITS)
    assert is_not_measured(finding)


def test_quaternions_in_another_order_than_declared_fail() -> None:
    poses, quaternions = wandering()
    match = match_end_effector(poses, poses[:, :3, 3], quaternions)
    findings = {f.rule: f for f in end_effector_agrees(match, "xyzw", "eef", LIMITS)}
    assert findings["quaternion_order_fits_joints"].severity is Severity.FAIL
    assert end_effector_agrees(match, "wxyz", "eef", LIMITS) == []


def test_the_order_of_quaternions_is_told_where_none_is_declared() -> None:
    poses, quaternions = wandering()
    match = match_end_effector(poses, poses[:, :3, 3], quaternions)
    (finding,) = end_effector_agrees(match, None, "eef", LIMITS)
    assert finding.rule == "quaternion_order_is_declared"
    assert "fit the joints as wxyz" in finding.message


def test_joints_of_another_robot_do_not_fit() -> None:
    poses, _ = wandering()
    match = match_end_effector(poses, RNG.normal(0, 0.2, (60, 3)))
    rules = {
        finding.rule: finding.severity for finding in end_effector_agrees(match, None, "", LIMITS)
    }
    assert rules["end_effector_fits_joints"] is Severity.FAIL


@pytest.mark.parametrize("demo", ["demo_0", "demo_9", "demo_16"])
def test_recorded_franka_poses_fit_exactly_one_row_later_as_wxyz(
    shared_data: Path, demo: str
) -> None:
    h5py = pytest.importorskip("h5py")
    robot = robot_or_skip("panda")
    with h5py.File(shared_data / "hdf5_isaaclab_franka_stack" / "dataset.hdf5") as file:
        group = file[f"data/{demo}"]
        joints = group["states/articulation/robot/joint_position"][:].astype(np.float64)
        position = group["obs/eef_pos"][:].astype(np.float64)
        quaternion = group["obs/eef_quat"][:].astype(np.float64)
        relative = group["obs/joint_pos"][:].astype(np.float64)
    hand = forward_kinematics(robot, joints)["panda_hand"]
    match = match_end_effector(hand, position, quaternion)
    assert match is not None
    assert (match.shift_rows, match.unit, match.quaternion_order) == (1, "m", "wxyz")
    assert match.error_max_m < 1e-5
    assert match.tool_m == pytest.approx((0, 0, 0.1034), abs=1e-6)
    assert match.unshifted_error_mean_m > 4e-3
    assert match.error_deg_by_order["wxyz"] < 0.4
    assert match.error_deg_by_order["xyzw"] > 140
    # Joints relative to a default pose are the trap of this data set.
    wrong = match_end_effector(forward_kinematics(robot, relative)["panda_hand"], position)
    assert wrong is not None
    assert wrong.error_mean_m > 0.01
