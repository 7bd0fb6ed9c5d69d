"""DROID's 6-vectors take points of the camera to the base, turned about fixed axes."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import numpy.typing as npt
import pytest

from robot_data_platform.core.calibration import CameraCalibration
from robot_data_platform.formats.droid.calibration import transform_of
from robot_data_platform_tests.formats.droid_files import (
    EXT1,
    EXT1_VECTOR,
    EXT2,
    INTRINSICS,
    OFFSET_VECTOR,
    ROWS,
    WRIST,
    write_episode,
)
from robot_data_platform_tests.formats.reading import by_rule, camera, read_episode, signal

KEY = "trajectory.h5"


def edit(root: Path, member: str, rows: object) -> None:
    with h5py.File(root / KEY, "a") as file:
        if member in file:
            del file[member]
        file[member] = rows


def calibration(root: Path, name: str) -> CameraCalibration:
    found = camera(read_episode(root, KEY), name).calibration
    assert found is not None
    return found


def turn(axis: int, angle_rad: float) -> npt.NDArray[np.float64]:
    """Return the matrix of a turn about one axis: the two others, in cyclic order, rotate."""
    first, second = (axis + 1) % 3, (axis + 2) % 3
    matrix = np.eye(3)
    matrix[first, first] = matrix[second, second] = np.cos(angle_rad)
    matrix[first, second], matrix[second, first] = -np.sin(angle_rad), np.sin(angle_rad)
    return matrix


def same_place(found: CameraCalibration, vector: list[float]) -> bool:
    """Return whether a camera is where a 6-vector says, by turns about fixed x, y, z in turn."""
    expected = np.eye(4)
    expected[:3, :3] = turn(2, vector[5]) @ turn(1, vector[4]) @ turn(0, vector[3])
    expected[:3, 3] = vector[:3]
    return found.base_from_cam is not None and np.allclose(found.base_from_cam, expected)


def test_angles_turn_about_the_fixed_axes_one_after_the_other() -> None:
    # A quarter about x takes y to z; a quarter about the fixed z leaves z where it is. About the
    # moved z, which lies along -y by then, the second turn would take it to x.
    turned = transform_of(np.array(EXT1_VECTOR)) @ [0, 1, 0, 1]
    np.testing.assert_allclose(turned, [0.25, 0.5, 1.75, 1], atol=1e-12)


def test_the_origin_of_the_camera_is_where_the_vector_says() -> None:
    np.testing.assert_array_equal(
        transform_of(np.array(EXT1_VECTOR)) @ [0, 0, 0, 1], [0.25, 0.5, 0.75, 1]
    )


def test_a_fixed_camera_is_calibrated_to_the_base(tmp_path: Path) -> None:
    write_episode(tmp_path)
    found = calibration(tmp_path, "ext1")
    assert (found.parent_frame, found.pose_origin) == ("base", "data")
    assert (found.stated_direction, found.stated_axes) == ("base_from_cam", "opencv")
    assert found.stated_rotation == "euler xyz extrinsic rad"
    assert found.intrinsics_px is not None
    assert found.intrinsics_px.tolist() == INTRINSICS
    assert same_place(found, EXT1_VECTOR)


def test_a_camera_on_the_arm_is_calibrated_to_the_gripper(tmp_path: Path) -> None:
    write_episode(tmp_path)
    found = calibration(tmp_path, "wrist")
    assert found.parent_frame == "gripper"
    assert same_place(found, OFFSET_VECTOR)


def test_the_path_of_a_camera_on_the_arm_is_a_signal(tmp_path: Path) -> None:
    write_episode(tmp_path)
    values = signal(read_episode(tmp_path, KEY), "observation_camera_extrinsics_wrist").values
    expected = np.array(OFFSET_VECTOR) + np.arange(ROWS)[:, None] / 100
    np.testing.assert_array_equal(values, expected)


def test_the_convention_and_the_vectors_are_metadata(tmp_path: Path) -> None:
    write_episode(tmp_path)
    stated = read_episode(tmp_path, KEY).metadata
    assert "fixed axes x, y, z (SciPy 'xyz')" in stated["camera_extrinsics"]
    assert stated["camera_extrinsics/ext1"].startswith("[0.25, 0.5, 0.75, 1.57")


def test_a_moving_camera_without_offset_has_a_lens_but_no_place(tmp_path: Path) -> None:
    write_episode(tmp_path)
    with h5py.File(tmp_path / KEY, "a") as file:
        del file[f"observation/camera_extrinsics/{WRIST}_left_gripper_offset"]
    found = calibration(tmp_path, "wrist")
    assert found.base_from_cam is None
    assert found.intrinsics_px is not None


def test_an_episode_without_intrinsics_still_has_places(tmp_path: Path) -> None:
    write_episode(tmp_path)
    with h5py.File(tmp_path / KEY, "a") as file:
        del file["observation/camera_intrinsics"]
    found = calibration(tmp_path, "ext2")
    assert found.intrinsics_px is None
    assert found.base_from_cam is not None


def test_a_lens_that_can_not_be_one_is_left_out_and_told(tmp_path: Path) -> None:
    write_episode(tmp_path)
    edit(tmp_path, f"observation/camera_intrinsics/{EXT2}_left", np.zeros((ROWS, 3, 3)))
    finding = by_rule(read_episode(tmp_path, KEY).findings)["calibration_is_readable"]
    assert finding.where == "camera=ext2"
    assert calibration(tmp_path, "ext2").base_from_cam is not None


def test_places_that_are_not_finite_are_left_out_and_told(tmp_path: Path) -> None:
    write_episode(tmp_path)
    edit(tmp_path, f"observation/camera_extrinsics/{EXT2}_left", np.full((ROWS, 6), np.nan))
    recording = read_episode(tmp_path, KEY)
    found = [f for f in recording.findings if f.rule == "calibration_is_readable"]
    assert [f.where for f in found] == ["camera=ext2"]


def test_a_lens_that_changes_is_told_and_the_first_is_taken(tmp_path: Path) -> None:
    write_episode(tmp_path)
    lenses = np.tile(INTRINSICS, (ROWS, 1, 1))
    lenses[4:, 0, 0] += 1
    edit(tmp_path, f"observation/camera_intrinsics/{EXT1}_left", lenses)
    finding = by_rule(read_episode(tmp_path, KEY).findings)["calibration_is_constant"]
    assert finding.where == "camera=ext1"
    intrinsics = calibration(tmp_path, "ext1").intrinsics_px
    assert intrinsics is not None
    assert intrinsics.tolist() == INTRINSICS


@pytest.mark.parametrize("rows", [np.zeros((ROWS, 5)), np.zeros(ROWS), [b"x"] * ROWS])
def test_vectors_of_another_shape_are_no_extrinsics(tmp_path: Path, rows: object) -> None:
    write_episode(tmp_path)
    edit(tmp_path, f"observation/camera_extrinsics/{EXT1}_left", rows)
    assert calibration(tmp_path, "ext1").base_from_cam is None
