"""Whole episodes with true calibrations, and the same with one thing wrong."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from robot_data_platform.core.calibration import inverse
from robot_data_platform.core.finding import Severity
from robot_data_platform.core.rotation import Float64Array
from robot_data_platform.errors import InvalidInputError
from robot_data_platform.spatial.camera_fit import twist_motion
from robot_data_platform.spatial.check import check_episode
from robot_data_platform.spatial.declared_checks import check_declared
from robot_data_platform.spatial.episode_input import SpatialInput
from robot_data_platform.spatial.mask_sources import MaskSource
from robot_data_platform.spatial.measure import measure_episode
from robot_data_platform.spatial.measurements import CameraMeasurements
from robot_data_platform.spatial.thresholds import SpatialThresholds
from robot_data_platform.spatial.verdict import CameraStatus, camera_status, judge_camera
from robot_data_platform_tests.spatial.scenes import (
    AlohaScene,
    Change,
    lens_px,
    recorded_aloha,
    sample_aloha,
)
from robot_data_platform_tests.spatial.test_robot_loader import robot_or_skip

for package in ("cv2", "mujoco", "numba"):
    pytest.importorskip(package, reason="it is needed for measuring")

LIMITS = SpatialThresholds()
BAD = {CameraStatus.WARN, CameraStatus.FAIL, CameraStatus.NOT_VISIBLE}


@functools.cache
def cached_sample(samples: Path, name: str) -> AlohaScene:
    return sample_aloha(samples, name)


@functools.cache
def cached_recording(folder: Path) -> AlohaScene:
    return recorded_aloha(folder)


@pytest.fixture
def sample(samples: Path) -> AlohaScene:
    robot_or_skip("aloha")
    return cached_sample(samples, "fold_000")


@pytest.fixture
def recording(shared_data: Path) -> AlohaScene:
    robot_or_skip("aloha")
    return cached_recording(shared_data / "lerobot_v1_arrow" / "aloha_sim_insertion_human")


def status_of(found: CameraMeasurements) -> CameraStatus:
    return camera_status(found, judge_camera(found, LIMITS), LIMITS)


def statuses(episode: SpatialInput, *, with_grabcut: bool = True) -> Mapping[str, CameraStatus]:
    measured = measure_episode(episode, with_grabcut=with_grabcut)
    return {found.camera: status_of(found) for found in measured}


def moved(*twist: float) -> Change:
    return lambda pose: pose @ twist_motion(np.array(twist, dtype=np.float64))


def swapped_arms(state: Float64Array) -> Float64Array:
    return np.concatenate([state[:, 7:], state[:, :7]], axis=1)


def flipped_shoulders(state: Float64Array) -> Float64Array:
    return state * np.where(np.isin(np.arange(14), [1, 8]), -1, 1)


def in_degrees(state: Float64Array) -> Float64Array:
    return np.degrees(state)


def reversed_joints(state: Float64Array) -> Float64Array:
    return np.concatenate(
        [state[:, 5::-1], state[:, 6:7], state[:, 12:6:-1], state[:, 13:]], axis=1
    )


GROSS: Mapping[str, dict[str, Change]] = {
    "inverted": {"place": inverse},
    "axes of OpenGL": {"place": lambda pose: pose @ np.diag([1.0, -1.0, -1.0, 1.0])},
    "millimetres": {
        "place": lambda pose: np.block([[pose[:3, :3], 1e3 * pose[:3, 3:]], [pose[3:]]])
    },
    "lens of twice the size": {"lens": lambda lens: np.diag([2.0, 2.0, 1.0]) @ lens},
    "another field of view": {
        "lens": lambda lens: np.diag([1.4, 1.4, 1.0]) @ (lens - off(lens)) + off(lens)
    },
    "arms swapped": {"state": swapped_arms},
    "shoulders negated": {"state": flipped_shoulders},
    "degrees for radians": {"state": in_degrees},
    "joints in reverse": {"state": reversed_joints},
}


def off(lens: Float64Array) -> Float64Array:
    """Return the part of intrinsics that does not scale with the focal length."""
    return np.array([[0, 0, lens[0, 2]], [0, 0, lens[1, 2]], [0, 0, 1]])


SMALL: Mapping[str, dict[str, Change]] = {
    "2 cm sideways": {"place": moved(0, 0, 0, 0.02, 0, 0)},
    "1 degree": {"place": moved(0, np.radians(1), 0, 0, 0, 0)},
    "3 cm and 3 degrees": {"place": moved(0.03, -0.03, 0.03, 0.015, 0.015, 0.02)},
}


@pytest.mark.parametrize("name", ["fold_000", "fold_002", "fold_005"])
def test_true_calibrations_of_the_samples_are_ok_on_time_and_in_place(
    samples: Path, name: str
) -> None:
    robot_or_skip("aloha")
    for found in measure_episode(cached_sample(samples, name).episode()):
        assert status_of(found) is CameraStatus.OK, found
        assert found.lag_ms == pytest.approx(0, abs=15)
        assert found.mask_source is MaskSource.GRABCUT


@pytest.mark.parametrize("fault", GROSS)
def test_a_gross_fault_is_found_in_every_camera_of_the_samples_without_masks(
    sample: AlohaScene, fault: str
) -> None:
    found = statuses(sample.episode(**GROSS[fault]), with_grabcut=False)  # type: ignore[arg-type]
    assert set(found.values()) <= BAD, found


@pytest.mark.parametrize("fault", SMALL)
def test_a_small_misplacement_is_found_in_every_camera_of_the_samples(
    sample: AlohaScene, fault: str
) -> None:
    found = statuses(sample.episode(**SMALL[fault]))  # type: ignore[arg-type]
    assert set(found.values()) <= BAD, found


@pytest.mark.parametrize("late_ms", [-120.0, -45.0, 60.0, 150.0])
def test_late_pictures_are_timed(sample: AlohaScene, late_ms: float) -> None:
    for found in measure_episode(sample.episode(late_ms=late_ms), with_grabcut=False):
        assert found.lag_ms == pytest.approx(late_ms, abs=15)
        assert status_of(found) in BAD


def test_the_true_calibration_of_a_recording_is_ok(recording: AlohaScene) -> None:
    (found,) = measure_episode(recording.episode())
    assert status_of(found) is CameraStatus.OK
    assert found.edge_offset_px == 0
    assert found.misplacement_mrad is not None
    assert found.misplacement_mrad < 3
    assert found.motion_auc is not None
    assert found.motion_auc > 0.97
    assert found.lag_ms == pytest.approx(0, abs=10)


# Its camera looks straight down, so that its pose is its own inverse.
@pytest.mark.parametrize("fault", [fault for fault in GROSS if fault != "inverted"])
def test_a_gross_fault_is_found_in_a_recording_without_masks(
    recording: AlohaScene, fault: str
) -> None:
    found = statuses(recording.episode(**GROSS[fault]), with_grabcut=False)  # type: ignore[arg-type]
    assert set(found.values()) <= BAD, found


@pytest.mark.parametrize("fault", ["2 cm sideways", "1 degree"])
def test_a_small_misplacement_is_found_in_a_recording(recording: AlohaScene, fault: str) -> None:
    assert set(statuses(recording.episode(**SMALL[fault])).values()) <= BAD  # type: ignore[arg-type]


def test_a_turned_camera_whose_place_is_nearly_its_own_inverse_has_moved(
    recording: AlohaScene,
) -> None:
    (camera,) = check_episode(recording.episode(**SMALL["1 degree"])).cameras  # type: ignore[arg-type]
    assert camera.diagnosis is not None
    assert camera.diagnosis.cause == "camera_has_moved"


def test_a_recording_that_is_late_by_five_frames_is_found(recording: AlohaScene) -> None:
    (found,) = measure_episode(recording.episode(late_ms=100))
    assert found.lag_ms == pytest.approx(100, abs=10)
    assert status_of(found) in BAD


def test_a_recording_seen_with_60_instead_of_78_degrees_is_found(recording: AlohaScene) -> None:
    (found,) = measure_episode(recording.episode(lens=lambda _: lens_px(640, 480, 60)))
    assert status_of(found) is CameraStatus.FAIL


def test_what_is_declared_of_the_samples_is_right_as_far_as_it_can_be_measured(
    sample: AlohaScene,
) -> None:
    (finding,) = check_declared(sample.episode(), LIMITS)
    assert finding.message.startswith("Not measured: not one signal is known to hold the pose")


def test_degrees_for_radians_are_found_without_any_picture(sample: AlohaScene) -> None:
    findings = check_declared(sample.episode(state=in_degrees), LIMITS)
    rules = {finding.rule for finding in findings if finding.severity is Severity.FAIL}
    assert "joints_are_within_limits" in rules


def test_a_camera_that_looks_away_is_found_without_any_picture(sample: AlohaScene) -> None:
    findings = check_declared(sample.episode(**GROSS["axes of OpenGL"]), LIMITS)  # type: ignore[arg-type]
    rules = [f.rule for f in findings if f.severity is Severity.FAIL]
    assert rules.count("robot_is_in_view") == 3


@pytest.mark.parametrize("missing", ["parent_from_cam", "intrinsics_px"])
def test_a_camera_without_calibration_is_not_measured(sample: AlohaScene, missing: str) -> None:
    episode = sample.episode()
    cameras = [replace(camera, **{missing: None}) for camera in episode.cameras]  # type: ignore[arg-type]
    for found in measure_episode(replace(episode, cameras=tuple(cameras))):
        assert status_of(found) is CameraStatus.NO_CALIBRATION
        assert found.iou_median is None


def test_a_camera_on_a_link_that_is_not_there_is_refused(sample: AlohaScene) -> None:
    episode = sample.episode()
    camera = replace(episode.cameras[1], parent_link="elbow_mount")
    with pytest.raises(InvalidInputError, match="elbow_mount"):
        measure_episode(replace(episode, cameras=(camera,)))


def test_a_robot_without_joint_values_is_not_measured(sample: AlohaScene) -> None:
    episode = sample.episode()
    unknown = replace(episode, joints=np.full_like(episode.joints, np.nan))
    for found in measure_episode(unknown):
        assert found.not_measured == {"camera": "no joint of the robot has values"}


def test_a_robot_at_rest_is_not_passed(sample: AlohaScene) -> None:
    resting = sample.episode(state=lambda state: np.repeat(state[:1], len(state), axis=0))
    for found in measure_episode(resting, with_grabcut=False):
        assert found.motion_auc is None
        assert found.epipolar_px_per_10px is None
        assert found.lag_ms is None
        assert status_of(found) is not CameraStatus.OK


def test_pictures_that_do_not_belong_to_the_plan_are_refused(sample: AlohaScene) -> None:
    camera = sample.episode().cameras[0]
    with pytest.raises(InvalidInputError, match=r"env: pictures have the shape"):
        replace(camera, pictures=camera.pictures[:-1])


def test_measuring_again_gives_the_same_numbers(sample: AlohaScene) -> None:
    episode = sample.episode()
    alone = replace(episode, cameras=episode.cameras[:1])
    assert measure_episode(alone) == measure_episode(alone)
