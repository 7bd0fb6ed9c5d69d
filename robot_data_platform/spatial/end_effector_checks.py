"""Findings on recorded end-effector poses: whether they fit the joints, and as what."""

from __future__ import annotations

from collections.abc import Iterator

from robot_data_platform.core.finding import Finding, Severity
from robot_data_platform.core.rotation import QuaternionOrder
from robot_data_platform.spatial.end_effector import EndEffectorMatch
from robot_data_platform.spatial.judgement import judged, not_measured
from robot_data_platform.spatial.thresholds import SpatialThresholds

RULE = "end_effector_fits_joints"
"""Rule of what recorded poses come to against forward kinematics."""


def end_effector_agrees(
    match: EndEffectorMatch | None,
    declared_order: QuaternionOrder | None,
    where: str,
    limits: SpatialThresholds,
) -> list[Finding]:
    """Return where recorded end-effector poses contradict the joints, or what is declared."""
    if match is None:
        return [not_measured(RULE, where, "the end effector is not recorded, or does not move")]
    text = (
        f"Recorded positions are off from forward kinematics by {1e3 * match.error_mean_m:.3g} mm "
        f"on average, with the best tool {_said(match.tool_m)} m, step and unit: joints, model or "
        "frame differ."
    )
    return [
        *judged(RULE, where, match.error_mean_m, limits.end_effector_m, text),
        *_frame(match, where),
        *_step(match, where),
        *_unit(match, where),
        *_quaternions(match, declared_order, where, limits),
    ]


def _step(match: EndEffectorMatch, where: str) -> Iterator[Finding]:
    if match.shift_rows:
        yield Finding(
            rule="end_effector_is_of_its_row",
            severity=Severity.WARN,
            message=f"The recorded end effector fits the joints {match.shift_rows} row(s) before: "
            f"{1e3 * match.error_mean_m:.3g} mm off there, and "
            f"{1e3 * match.unshifted_error_mean_m:.3g} mm in its own row.",
            where=where,
            value=float(match.shift_rows),
            threshold=0.0,
            unit="rows",
        )


def _frame(match: EndEffectorMatch, where: str) -> Iterator[Finding]:
    if match.origin_m is not None:
        yield Finding(
            rule="end_effector_is_in_base_frame",
            severity=Severity.INFO,
            message=f"Recorded positions fit the joints in a frame in which the robot's base is at "
            f"{_said(match.origin_m)} m, as simulators have it, {1e3 * match.error_mean_m:.3g} mm "
            "off.",
            where=where,
            value=sum(value**2 for value in match.origin_m) ** 0.5,
            threshold=0.0,
            unit="m",
        )


def _unit(match: EndEffectorMatch, where: str) -> Iterator[Finding]:
    if match.unit != "m":
        yield Finding(
            rule="end_effector_is_in_metres",
            severity=Severity.WARN,
            message=f"The recorded end effector fits the joints in {match.unit}, not in metres.",
            where=where,
        )


def _quaternions(
    match: EndEffectorMatch,
    declared: QuaternionOrder | None,
    where: str,
    limits: SpatialThresholds,
) -> Iterator[Finding]:
    rule = "quaternion_order_fits_joints"
    order = match.quaternion_order
    if order is None:
        yield not_measured(rule, where, "no order of the recorded quaternions fits better")
    elif declared is not None and declared != order:
        error = match.scatter_deg_by_order[declared]
        yield Finding(
            rule=rule,
            severity=Severity.FAIL,
            message=f"Recorded quaternions are declared {declared} and fit the joints as {order}: "
            f"{match.error_deg_by_order[declared]:.3g} deg off as declared, "
            f"{match.error_deg_by_order[order]:.3g} deg as {order}.",
            where=where,
            value=error,
            threshold=limits.end_effector_deg.ok,
            unit="deg",
        )
    else:
        if declared is None:
            yield _told(match, order, where)
        scatter = match.scatter_deg_by_order[order]
        yield from judged(
            rule,
            where,
            scatter,
            limits.end_effector_deg,
            f"Recorded rotations scatter by {scatter:.3g} deg about the link's in either order.",
        )


def _told(match: EndEffectorMatch, order: QuaternionOrder, where: str) -> Finding:
    other: QuaternionOrder = "xyzw" if order == "wxyz" else "wxyz"
    return Finding(
        rule="quaternion_order_is_declared",
        severity=Severity.INFO,
        message=f"Recorded quaternions fit the joints as {order}, "
        f"{match.error_deg_by_order[order]:.2g} deg off, and {match.error_deg_by_order[other]:.3g} "
        f"deg as {other}: the profile may declare `quaternion_order: {order}`.",
        where=where,
    )


def _said(xyz_m: tuple[float, float, float]) -> str:
    return "(" + ", ".join(f"{value:.4f}" for value in xyz_m) + ")"
