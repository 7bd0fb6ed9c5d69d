"""Checks of joint values against the robot's model; no picture is needed."""

from __future__ import annotations

from collections.abc import Mapping
from math import pi

import numpy as np

from robot_data_platform.core.finding import Finding
from robot_data_platform.core.rotation import Float64Array
from robot_data_platform.spatial.judgement import judged, not_measured
from robot_data_platform.spatial.robot_model import RobotModel
from robot_data_platform.spatial.thresholds import SpatialThresholds

ANGLE_FACTOR_BY_UNIT: Mapping[str, float] = {"rad": 1.0, "deg": pi / 180}
"""Units of angles that data comes in."""

_SLACK_SHARE = 0.02
"""Share of a joint's range by which encoders, backlash and a mounted zero overshoot."""
_MIN_TRAVEL_RAD = 0.05
"""Angles that never change by more could be of any unit."""


def joints_within_limits(
    robot: RobotModel, joints: Float64Array, limits: SpatialThresholds
) -> list[Finding]:
    """Return the joints that are outside the limits of the robot's model.

    Parameters
    ----------
    robot : RobotModel
        The robot.
    joints : ndarray of float64, shape (T, J)
        Radians or metres; NaN = not known.
    limits : SpatialThresholds
        The limits.
    """
    rule = "joints_are_within_limits"
    known = ~np.isnan(joints).all(axis=0) & ~np.isnan(robot.joint_limits).any(axis=1)
    if not known.any():
        return [not_measured(rule, robot.name, "no joint with limits has values")]
    share = share_outside(joints, robot.joint_limits)
    return [
        finding
        for index in np.flatnonzero(known)
        for finding in judged(
            rule,
            f"joint={robot.joint_names[index]}",
            float(share[index]),
            limits.outside_joint_limits,
            f"{share[index]:.0%} of the rows are outside the joint's limits "
            f"{_said(robot.joint_limits[index])}, got {_said(_range(joints[:, index]))}: its unit, "
            "sign, zero or place in the order may be wrong.",
        )
    ]


def share_outside(joints: Float64Array, joint_limits: Float64Array) -> Float64Array:
    """Return the share of the known rows of each joint that are outside its limits, (J,)."""
    slack = _SLACK_SHARE * (joint_limits[:, 1] - joint_limits[:, 0])
    outside = (joints < joint_limits[:, 0] - slack) | (joints > joint_limits[:, 1] + slack)
    known = np.maximum((~np.isnan(joints)).sum(axis=0), 1)
    return np.asarray(outside.sum(axis=0) / known)


def angle_unit_by_trial(robot: RobotModel, angles: Float64Array) -> str | None:
    """Return the unit in which recorded angles are within limits; None = several are, or none.

    Parameters
    ----------
    robot : RobotModel
        The robot.
    angles : ndarray of float64, shape (T, J)
        Of unknown unit, in the order of ``robot.joint_names``; NaN = not known. Sliding joints are
        left out.
    """
    turning = np.where(robot.is_prismatic, np.nan, angles)
    known = np.isfinite(turning)
    travel = np.ptp(turning[:, known.all(axis=0)], axis=0) if len(turning) else np.zeros(0)
    if not travel.size:
        return None
    fitting = [
        unit
        for unit, factor in ANGLE_FACTOR_BY_UNIT.items()
        if (share_outside(factor * turning, robot.joint_limits) < 0.01).all()
        and factor * travel.max() > _MIN_TRAVEL_RAD
    ]
    # Radians read as degrees are within limits too, and hardly move.
    return fitting[0] if len(fitting) == 1 or fitting[:1] == ["rad"] else None


def _range(values: Float64Array) -> Float64Array:
    return np.array([np.nanmin(values), np.nanmax(values)])


def _said(pair: Float64Array) -> str:
    return f"{pair[0]:.3g} .. {pair[1]:.3g}"
