from __future__ import annotations

from dataclasses import replace

import pytest

from robot_data_platform.core.finding import Severity
from robot_data_platform.spatial.judgement import is_not_measured
from robot_data_platform.spatial.mask_sources import MaskSource
from robot_data_platform.spatial.measurements import CameraMeasurements
from robot_data_platform.spatial.thresholds import Band, SpatialThresholds
from robot_data_platform.spatial.verdict import CameraStatus, camera_status, judge_camera

LIMITS = SpatialThresholds()
CLEAN = CameraMeasurements(
    camera="env",
    is_static=True,
    focal_px=265.0,
    num_frames=12,
    visible_frac=0.8,
    mask_source=MaskSource.DATASET,
    iou_median=0.9,
    contour_mean_px=1.0,
    misplacement_px=0.7,
    misplacement_mrad=2.6,
    edge_offset_px=1.0,
    edge_z=8.0,
    edge_z_distal=9.0,
    motion_auc=0.98,
    lag_ms=-6.0,
    lag_corr=0.9,
)


def judged(**changes: object) -> tuple[CameraStatus, dict[str, Severity]]:
    found = replace(CLEAN, **changes)  # type: ignore[arg-type]
    findings = judge_camera(found, LIMITS)
    severities = {f.rule: f.severity for f in findings if not is_not_measured(f)}
    return camera_status(found, findings, LIMITS), severities


def test_a_clean_camera_is_ok() -> None:
    assert judged() == (CameraStatus.OK, {})


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"misplacement_mrad": 30.0, "misplacement_px": 8.0}, "camera_is_in_place"),
        ({"iou_median": 0.7}, "mask_covers_projection"),
        ({"edge_offset_px": 9.0}, "edges_lie_on_outline"),
        ({"motion_auc": 0.8}, "change_is_where_robot_moves"),
        ({"lag_ms": 120.0}, "pictures_are_on_time"),
        ({"edge_z_distal": 2.0}, "edges_lock_onto_outline"),
    ],
)
def test_one_test_alone_warns_however_far_it_is_off(changes: dict[str, float], rule: str) -> None:
    assert judged(**changes) == (CameraStatus.WARN, {rule: Severity.WARN})


def test_two_tests_that_agree_fail() -> None:
    status, severities = judged(misplacement_mrad=30.0, misplacement_px=8.0, edge_offset_px=4.0)
    assert status is CameraStatus.FAIL
    assert severities["camera_is_in_place"] is Severity.FAIL


@pytest.mark.parametrize(
    "changes",
    [
        {"iou_median": 0.2},
        {"motion_auc": 0.55},
        {
            "is_static": False,
            "motion_auc": None,
            "epipolar_px": 6.0,
            "epipolar_px_per_10px": 11.0,
        },
    ],
)
def test_one_test_fails_alone_where_it_is_grossly_off(changes: dict[str, object]) -> None:
    assert judged(**changes)[0] is CameraStatus.FAIL


def test_a_small_edge_offset_is_noise_whatever_the_focal_length() -> None:
    assert judged(edge_offset_px=2.2, focal_px=100.0)[0] is CameraStatus.OK


def test_less_than_tracking_or_fitting_can_tell_is_noise() -> None:
    assert judged(misplacement_mrad=12.0, misplacement_px=1.2)[0] is CameraStatus.OK
    wrist = {"is_static": False, "motion_auc": None, "epipolar_px_per_10px": 3.0}
    assert judged(**wrist, epipolar_px=0.9)[0] is CameraStatus.OK


def test_a_lag_that_something_else_may_explain_is_not_measured() -> None:
    found = replace(CLEAN, lag_ms=120.0, lag_corr=0.4)
    (finding,) = judge_camera(found, LIMITS)
    assert is_not_measured(finding)
    assert "0.40" in finding.message


def test_a_camera_without_calibration_is_no_pass() -> None:
    bare = CameraMeasurements(
        camera="env", is_static=True, not_measured={"camera": "no place of it is declared"}
    )
    findings = judge_camera(bare, LIMITS)
    assert camera_status(bare, findings, LIMITS) is CameraStatus.NO_CALIBRATION
    assert [finding.rule for finding in findings] == ["camera_is_measurable"]


def test_a_robot_out_of_view_is_no_pass() -> None:
    assert judged(visible_frac=0.0)[0] is CameraStatus.NOT_VISIBLE


def test_a_robot_at_rest_is_no_pass() -> None:
    assert judged(motion_auc=None)[0] is CameraStatus.INSUFFICIENT_MOTION


def test_rough_masks_only_warn() -> None:
    _, severities = judged(mask_source=MaskSource.GRABCUT, iou_median=0.6, edge_offset_px=9.0)
    assert severities["mask_covers_projection"] is Severity.WARN


@pytest.mark.parametrize(
    ("value", "severity"),
    [(0.9, None), (0.8, None), (0.7, Severity.WARN), (0.5, Severity.WARN), (0.4, Severity.FAIL)],
)
def test_a_band_where_more_is_better_fails_downwards(
    value: float, severity: Severity | None
) -> None:
    assert Band(0.8, 0.5, "1", "").severity_of(value) is severity
