"""What measurements of a camera come to: findings, and one word."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from enum import StrEnum
from statistics import median

from robot_data_platform.core.finding import Finding, Severity
from robot_data_platform.spatial.judgement import is_not_measured, judged, not_measured
from robot_data_platform.spatial.mask_sources import MaskSource
from robot_data_platform.spatial.measurements import CameraMeasurements
from robot_data_platform.spatial.thresholds import (
    EDGE_FLOOR_PX,
    EPIPOLAR_FLOOR_PX,
    GROSS_EPIPOLAR_PX,
    GROSS_IOU,
    GROSS_MOTION_AUC,
    MIN_LAG_CORRELATION,
    MIN_ROBOT_PX,
    MISPLACEMENT_FLOOR_PX,
    SpatialThresholds,
)

RULE_BY_MEASUREMENT = {
    "camera": "camera_is_measurable",
    "edge_offset_px": "edges_lie_on_outline",
    "edge_z_distal": "edges_lie_on_outline",
    "epipolar_px_per_10px": "background_moves_with_camera",
    "lag_ms": "pictures_are_on_time",
    "mask_iou": "mask_covers_projection",
    "misplacement_mrad": "camera_is_in_place",
    "motion_auc": "change_is_where_robot_moves",
}
"""Which rule a measurement belongs to."""


class CameraStatus(StrEnum):
    """What an episode's camera comes to."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"
    NOT_VISIBLE = "not_visible"
    INSUFFICIENT_MOTION = "insufficient_motion"
    NO_CALIBRATION = "no_calibration"


def judge_camera(found: CameraMeasurements, limits: SpatialThresholds) -> list[Finding]:
    """Return what the measurements of a camera come to.

    A test alone warns at most unless it is grossly off: clutter fools one test at times, and
    seldom two.
    """
    where = f"camera={found.camera}"
    findings = [
        *_placement(found, where, limits),
        *_edges(found, where, limits),
        *_motion(found, where, limits),
    ]
    if len({finding.rule for finding in findings}) < 2 and not is_grossly_off(found):
        findings = [_doubted(finding) for finding in findings]
    return [*findings, *_not_measured(found, where)]


def camera_status(
    found: CameraMeasurements, findings: Sequence[Finding], limits: SpatialThresholds
) -> CameraStatus:
    """Return one word for a camera, from its measurements and what they came to."""
    if "camera" in found.not_measured:
        return CameraStatus.NO_CALIBRATION
    if _is_out_of_view(found, limits):
        return CameraStatus.NOT_VISIBLE
    severities = {finding.severity for finding in findings if not is_not_measured(finding)}
    if Severity.FAIL in severities:
        return CameraStatus.FAIL
    if Severity.WARN in severities:
        return CameraStatus.WARN
    moved = found.motion_auc if found.is_static else found.epipolar_px_per_10px
    return CameraStatus.INSUFFICIENT_MOTION if moved is None else CameraStatus.OK


def is_grossly_off(found: CameraMeasurements) -> bool:
    """Return whether one test is so far off that nothing but a wrong calibration explains it."""
    return (
        (found.iou_median is not None and found.iou_median < GROSS_IOU)
        or (found.motion_auc is not None and found.motion_auc < GROSS_MOTION_AUC)
        or (found.epipolar_px_per_10px or 0.0) > GROSS_EPIPOLAR_PX
    )


def _is_out_of_view(found: CameraMeasurements, limits: SpatialThresholds) -> bool:
    """Return whether the robot is beside the picture, or so far off that it is a dot."""
    sizes = [frame.robot_px for frame in found.frames]
    return (
        found.visible_frac is None
        or found.visible_frac < limits.in_view.fail
        or (bool(sizes) and median(sizes) < MIN_ROBOT_PX)
    )


def _exceeds(value_px: float | None, floor_px: float) -> bool:
    return value_px is not None and value_px > floor_px


def _placement(
    found: CameraMeasurements, where: str, limits: SpatialThresholds
) -> Iterator[Finding]:
    if found.misplacement_mrad is not None and _exceeds(
        found.misplacement_px, MISPLACEMENT_FLOOR_PX
    ):
        yield from judged(
            "camera_is_in_place",
            where,
            found.misplacement_mrad,
            limits.misplacement_mrad,
            f"The projected robot has to move by {found.misplacement_mrad:.1f} mrad "
            f"({found.misplacement_px:.1f} px) to fit its {found.mask_source} masks.",
        )
    if found.iou_median is not None:
        overlaps = judged(
            "mask_covers_projection",
            where,
            found.iou_median,
            limits.mask_iou,
            f"The projected robot and its {found.mask_source} masks overlap by "
            f"{found.iou_median:.2f}, expected {limits.mask_iou.ok} or more.",
        )
        # Masks that are found without a model are rough: clean cameras overlap with theirs by 0.8.
        is_rough = found.mask_source is MaskSource.GRABCUT
        yield from overlaps if not is_rough else map(_doubted, filter(_is_fail, overlaps))


def _edges(found: CameraMeasurements, where: str, limits: SpatialThresholds) -> Iterator[Finding]:
    rule, focal = "edges_lie_on_outline", found.focal_px
    offset_px = found.edge_offset_px
    if offset_px is not None and focal and offset_px > EDGE_FLOOR_PX:
        yield from judged(
            rule,
            where,
            1e3 * offset_px / focal,
            limits.edge_offset_mrad,
            f"Edges in the pictures fit the projected outline best {offset_px:.1f} px away.",
        )
    scores = [z for z in (found.edge_z, found.edge_z_distal) if z is not None]
    if scores:
        weakest = min(scores)
        yield from (
            _doubted(finding)
            for finding in judged(
                "edges_lock_onto_outline",
                where,
                weakest,
                limits.edge_lock,
                f"Edges stand out on the projected outline by {weakest:.1f} standard deviations, "
                f"expected {limits.edge_lock.ok} or more; blurred pictures lower this too.",
            )
        )


def _motion(found: CameraMeasurements, where: str, limits: SpatialThresholds) -> Iterator[Finding]:
    if found.motion_auc is not None:
        yield from judged(
            "change_is_where_robot_moves",
            where,
            found.motion_auc,
            limits.motion_auc,
            f"Change in the pictures is where the robot should move at {found.motion_auc:.3f} "
            "(1 = everywhere, 0.5 = by chance).",
        )
    if found.epipolar_px_per_10px is not None and _exceeds(found.epipolar_px, EPIPOLAR_FLOOR_PX):
        yield from judged(
            "background_moves_with_camera",
            where,
            found.epipolar_px_per_10px,
            limits.epipolar_px_per_10px,
            f"The background is off the camera's predicted motion by "
            f"{found.epipolar_px_per_10px:.1f} px per 10 px.",
        )
    if found.lag_ms is not None and (found.lag_corr or 0.0) >= MIN_LAG_CORRELATION:
        side = "late" if found.lag_ms > 0 else "early"
        yield from judged(
            "pictures_are_on_time",
            where,
            abs(found.lag_ms),
            limits.lag_ms,
            f"Pictures are {abs(found.lag_ms):.0f} ms {side} against the joints (correlation "
            f"{found.lag_corr:.2f}).",
        )


def _not_measured(found: CameraMeasurements, where: str) -> Iterator[Finding]:
    for measurement, reason in found.not_measured.items():
        yield not_measured(RULE_BY_MEASUREMENT[measurement], where, reason)
    if found.lag_ms is not None and (found.lag_corr or 0.0) < MIN_LAG_CORRELATION:
        reason = (
            f"motion in the pictures follows the robot's by a correlation of {found.lag_corr:.2f} "
            f"only, expected {MIN_LAG_CORRELATION}"
        )
        yield not_measured(RULE_BY_MEASUREMENT["lag_ms"], where, reason)


def _is_fail(finding: Finding) -> bool:
    return finding.severity is Severity.FAIL


def _doubted(finding: Finding) -> Finding:
    """Return a finding that warns, where it would fail."""
    if finding.severity is not Severity.FAIL:
        return finding
    return replace(finding, severity=Severity.WARN)
