from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from robot_data_platform.core.finding import Severity
from robot_data_platform.core.rotation import Float64Array
from robot_data_platform.spatial.camera_checks import (
    DeclaredCamera,
    SessionPose,
    check_camera,
    difference,
    robot_is_in_view,
    same_camera_stays_put,
)
from robot_data_platform.spatial.judgement import is_not_measured
from robot_data_platform.spatial.thresholds import SpatialThresholds
from robot_data_platform_tests.spatial.scenes import lens_px, look_at

LIMITS = SpatialThresholds()
PLACE = look_at((1.0, 0.2, 0.8), (0.0, 0.0, 0.3))
CAMERA = DeclaredCamera(
    name="env",
    base_from_cam=PLACE,
    intrinsics_px=lens_px(640, 480, 45),
    width_px=640,
    height_px=480,
)


def placed(
    rotation: Float64Array = PLACE[:3, :3], xyz: Float64Array = PLACE[:3, 3]
) -> DeclaredCamera:
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = rotation, xyz
    return replace(CAMERA, base_from_cam=pose)


def with_lens(change: Float64Array) -> DeclaredCamera:
    return replace(CAMERA, intrinsics_px=change)


def test_a_plausible_camera_has_no_finding() -> None:
    assert check_camera(CAMERA, LIMITS) == []


@pytest.mark.parametrize(
    ("camera", "rule", "severity"),
    [
        (placed(rotation=1.01 * PLACE[:3, :3]), "camera_rotation_is_orthonormal", Severity.FAIL),
        (
            placed(rotation=np.round(PLACE[:3, :3], 2)),
            "camera_rotation_is_orthonormal",
            Severity.WARN,
        ),
        (
            placed(rotation=PLACE[:3, :3] @ np.diag([1, 1, -1])),
            "camera_rotation_is_right_handed",
            Severity.FAIL,
        ),
        (placed(xyz=1000 * PLACE[:3, 3]), "camera_distance_is_plausible", Severity.FAIL),
        (placed(xyz=0 * PLACE[:3, 3]), "camera_distance_is_plausible", Severity.FAIL),
        (placed(xyz=np.nan * PLACE[:3, 3]), "camera_pose_is_rigid", Severity.FAIL),
        (with_lens(-lens_px(640, 480, 45)), "intrinsics_are_plausible", Severity.FAIL),
        (
            with_lens(np.diag([4 / 3, 1, 1]) @ lens_px(640, 480, 45)),
            "focal_lengths_agree",
            Severity.FAIL,
        ),
        (with_lens(lens_px(1280, 720, 45)), "intrinsics_fit_picture", Severity.FAIL),
    ],
)
def test_a_wrong_number_breaks_its_rule(
    camera: DeclaredCamera, rule: str, severity: Severity
) -> None:
    severities = {finding.rule: finding.severity for finding in check_camera(camera, LIMITS)}
    assert severities[rule] is severity


def test_rounding_to_three_decimals_is_no_finding() -> None:
    assert check_camera(placed(rotation=np.round(PLACE[:3, :3], 3)), LIMITS) == []


def test_millimetres_are_suspected_by_name() -> None:
    (finding,) = check_camera(placed(xyz=1000 * PLACE[:3, 3]), LIMITS)
    assert "millimetres" in finding.message


@pytest.mark.parametrize("scale", [2, 3])
def test_intrinsics_of_another_size_are_told_with_their_factor(scale: int) -> None:
    lens = lens_px(640 * scale, 480 * scale, 45)
    (finding,) = check_camera(with_lens(lens), LIMITS)
    assert f"{scale} times the size" in finding.message


def test_what_is_not_declared_is_not_measured_and_no_pass() -> None:
    unknown = replace(CAMERA, base_from_cam=None, intrinsics_px=None)
    findings = check_camera(unknown, LIMITS)
    assert len(findings) == 2
    assert all(is_not_measured(finding) for finding in findings)


def test_a_camera_that_moves_within_a_session_is_found_at_the_episode() -> None:
    moved = PLACE.copy()
    moved[0, 3] += 0.03
    poses = [
        SessionPose(serial=serial, episode=episode, base_from_cam=pose)
        for serial, episode, pose in [
            ("A", "ep1", PLACE),
            ("B", "ep1", moved),
            ("A", "ep2", PLACE),
            ("A", "ep3", moved),
            ("B", "ep3", moved),
        ]
    ]
    (finding,) = same_camera_stays_put(poses, LIMITS)
    assert finding.where == "camera serial=A episode=ep3"
    assert finding.value == pytest.approx(0.03)
    assert finding.severity is Severity.WARN


def test_a_camera_that_turns_within_a_session_is_found() -> None:
    angle = np.radians(3)
    turn = np.eye(4)
    turn[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    assert list(difference(PLACE, PLACE @ turn)) == pytest.approx([0.0, 3.0])
    poses = [
        SessionPose(serial="A", episode=name, base_from_cam=pose)
        for name, pose in (("a", PLACE), ("b", PLACE @ turn))
    ]
    (finding,) = same_camera_stays_put(poses, LIMITS)
    assert finding.unit == "deg"
    assert finding.value == pytest.approx(3.0)


@pytest.mark.parametrize(
    ("share", "severity"), [(0.5, None), (0.03, Severity.WARN), (0.0, Severity.FAIL)]
)
def test_a_robot_out_of_view_is_found(share: float, severity: Severity | None) -> None:
    findings = robot_is_in_view(np.full(5, share), "camera=env", LIMITS)
    assert [finding.severity for finding in findings] == ([severity] if severity else [])
