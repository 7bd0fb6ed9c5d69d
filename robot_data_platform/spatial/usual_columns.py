"""Which joint a column of the data moves, by the names that data sets usually give them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from robot_data_platform.core.rotation import Float64Array
from robot_data_platform.spatial.joint_map import JointColumn, JointMap, joint_map_by_name
from robot_data_platform.spatial.robot_model import RobotModel

GripperConvention = Literal["zero_is_open", "zero_is_closed"]

_SUFFIX = ".pos"
"""What LeRobot appends to the names of positions."""
_SHARE_MARGIN = 0.25
"""Openings are shares from 0 to 1, and overshoot by less than this."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GripperFact:
    """How a data set says that a gripper is open; None = it does not say."""

    convention: GripperConvention | None = None
    range: tuple[float, float] | None = None
    """Smallest and largest value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Finger:
    joint: str
    closed: float
    """Value of the joint, rad or m, at a closed gripper."""
    opened: float


def _aloha_arms() -> dict[str, str]:
    joints = ("waist", "shoulder", "elbow", "forearm_roll", "wrist_angle", "wrist_rotate")
    sides = ("left", "right")
    return {f"{side}_{joint}": f"vx300s_{side}/{joint}" for side in sides for joint in joints}


def _aloha_fingers(side: str) -> tuple[_Finger, ...]:
    return (
        _Finger(joint=f"vx300s_{side}/left_finger", closed=0.01844, opened=0.058),
        _Finger(joint=f"vx300s_{side}/right_finger", closed=-0.01844, opened=-0.058),
    )


_NUMBERED = {f"joint{number}": f"panda_joint{number}" for number in range(1, 8)}
_DRIVERS = tuple(
    _Finger(joint=f"{s}_driver_joint", closed=0.8, opened=0.0) for s in ("left", "right")
)
_PANDA_FINGERS = (_Finger(joint="panda_finger_joint1", closed=0.0, opened=0.04),)

_ARMS: Mapping[str, Mapping[str, str]] = {
    "vx300s_left/waist": _aloha_arms(),
    "panda_joint1": _NUMBERED,
    "joint1": {f"panda_joint{number}": f"joint{number}" for number in range(1, 8)},
}
"""Joint by usual name, by a joint that tells which robot it is."""
_GRIPPERS: Mapping[str, tuple[_Finger, ...]] = {
    "left_gripper": _aloha_fingers("left"),
    "right_gripper": _aloha_fingers("right"),
}
_LONE_GRIPPERS: Mapping[str, tuple[_Finger, ...]] = {
    "panda_finger_joint1": _PANDA_FINGERS,
    "left_driver_joint": _DRIVERS,
}
_LONE_GRIPPER_NAMES = ("gripper", "gripper_position")


def usual_joint_map(
    columns: Sequence[str],
    units: Sequence[str | None],
    values: Float64Array,
    robot: RobotModel,
    gripper: GripperFact,
) -> JointMap:
    """Return the map of the columns that are known to move a joint; others are left out.

    Parameters
    ----------
    columns : sequence of str, length D
        Names of the dimensions; with or without ``.pos`` behind.
    units : sequence of str or None, length D
        Unit of each.
    values : ndarray of float64, shape (N, D)
        As recorded: openings of grippers are told by their range where none is stated.
    robot : RobotModel
        The robot.
    gripper : GripperFact
        What is stated of grippers: no opening is guessed.
    """
    plain = [column.removesuffix(_SUFFIX) for column in columns]
    alias = next((names for joint, names in _ARMS.items() if joint in robot.joint_names), {})
    found = list(joint_map_by_name([alias.get(name, name) for name in plain], units, robot))
    column_of = {alias.get(name, name): column for name, column in zip(plain, columns, strict=True)}
    arms = [replace(entry, column=column_of[entry.column]) for entry in found]
    mapped = {entry.joint for entry in arms}
    fingers = [
        entry
        for place, name in enumerate(plain)
        for entry in _fingers(columns[place], name, values[:, place], robot, gripper)
        if entry.joint not in mapped
    ]
    return (*arms, *fingers)


def _fingers(
    column: str, name: str, values: Float64Array, robot: RobotModel, gripper: GripperFact
) -> list[JointColumn]:
    bounds = gripper.range or _share_range(values)
    fingers = [f for f in _fingers_of(name, robot) if f.joint in robot.joint_names]
    if gripper.convention is None or bounds is None:
        return []
    lowest, highest = bounds
    result = []
    for finger in fingers:
        at = (finger.closed, finger.opened)
        first, last = at if gripper.convention == "zero_is_closed" else at[::-1]
        scale = (last - first) / (highest - lowest)
        offset = first - scale * lowest
        result.append(
            JointColumn(column=column, joint=finger.joint, unit="1", scale=scale, offset=offset)
        )
    return result


def _fingers_of(name: str, robot: RobotModel) -> tuple[_Finger, ...]:
    if name in _LONE_GRIPPER_NAMES:
        lone = (f for joint, f in _LONE_GRIPPERS.items() if joint in robot.joint_names)
        return next(lone, ())
    return _GRIPPERS.get(name, ())


def _share_range(values: Float64Array) -> tuple[float, float] | None:
    known = values[np.isfinite(values)]
    if not len(known) or known.min() < -_SHARE_MARGIN or known.max() > 1 + _SHARE_MARGIN:
        return None
    return 0.0, 1.0


def misplaced_joints(joint_map: JointMap, robot: RobotModel) -> tuple[str, ...]:
    """Return the joints without a column that a joint with one hangs on, or that hang on none.

    Fingers may rest; an arm of which a part is not known can't be drawn.
    """
    moved = {entry.joint for entry in joint_map}
    moved |= {robot.joint_names[c.joint] for c in robot.couplings if _leads(c.leader, moved, robot)}
    chain = _chains(robot)
    return tuple(
        joint
        for joint in robot.joint_names
        if joint not in moved
        and (not moved & set(chain(joint)) or any(joint in chain(other) for other in moved))
    )


def _leads(leader: int, moved: set[str], robot: RobotModel) -> bool:
    return robot.joint_names[leader] in moved


def _chains(robot: RobotModel) -> Callable[[str], list[str]]:
    """Return what gives the joints from the base to a joint, itself left out."""
    model = robot.compiled
    joint_of_body: dict[int, list[str]] = {}
    for name in robot.joint_names:
        joint_of_body.setdefault(int(model.joint(name).bodyid[0]), []).append(name)

    def chain(joint: str) -> list[str]:
        body = int(model.body_parentid[int(model.joint(joint).bodyid[0])])
        names: list[str] = []
        while body:
            names += joint_of_body.get(body, [])
            body = int(model.body_parentid[body])
        return names

    return chain


def finger_ends(robot: RobotModel) -> dict[str, tuple[float, float]]:
    """Return the values of each finger joint of a robot at a closed and at an open gripper."""
    known = (*_GRIPPERS.values(), *_LONE_GRIPPERS.values())
    return {
        finger.joint: (finger.closed, finger.opened)
        for fingers in known
        for finger in fingers
        if finger.joint in robot.joint_names
    }
