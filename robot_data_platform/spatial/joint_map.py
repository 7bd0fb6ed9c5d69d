"""Which column of the data is which joint of the robot, in what unit, sign and zero."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import pi

import numpy as np

from robot_data_platform.core.rotation import Float64Array
from robot_data_platform.errors import ErrorKind, InvalidInputError
from robot_data_platform.spatial.robot_model import RobotModel

SI_FACTOR_BY_UNIT = {"rad": 1.0, "deg": pi / 180, "m": 1.0, "cm": 1e-2, "mm": 1e-3, "1": 1.0}
"""Units that a value can be read in; of ``1`` (ticks, shares) the scale makes rad or m."""

_ANGLES, _LENGTHS = ("rad", "deg"), ("m", "cm", "mm")


@dataclass(frozen=True, slots=True, kw_only=True)
class JointColumn:
    """One column that moves one joint: ``joint = sign * scale * value in SI + offset``."""

    column: str
    """Name of the dimension in the data."""
    joint: str
    """Name of the joint in the model; one column may move several joints, in one entry each."""
    unit: str | None = None
    """A key of `SI_FACTOR_BY_UNIT`; None = not known, which no kinematics can be computed from."""
    sign: int = 1
    """-1 where the data counts the other way."""
    scale: float = 1.0
    """For values of another kind, as a gripper's opening of 0 to 1."""
    offset: float = 0.0
    """Value of the joint, rad or m, at the data's zero."""


JointMap = tuple[JointColumn, ...]


def joint_map_by_name(
    columns: Sequence[str], units: Sequence[str | None], robot: RobotModel
) -> JointMap:
    """Return the map of columns that bear the names of joints; the others are left out.

    Parameters
    ----------
    columns : sequence of str, length D
        Names of the dimensions.
    units : sequence of str or None, length D
        Unit of each.
    robot : RobotModel
        The robot.
    """
    return tuple(
        JointColumn(column=column, joint=column, unit=unit)
        for column, unit in zip(columns, units, strict=True)
        if column in robot.joint_names
    )


def mapped_joints(
    values: Float64Array, columns: Sequence[str], joint_map: JointMap, robot: RobotModel
) -> Float64Array:
    """Return the robot's joints from the columns of the data.

    Parameters
    ----------
    values : ndarray of float64, shape (T, D)
        As recorded.
    columns : sequence of str, length D
        Names of the dimensions.
    joint_map : tuple of JointColumn
        What each is.
    robot : RobotModel
        The robot.

    Returns
    -------
    ndarray of float64, shape (T, J)
        Radians or metres in the order of ``robot.joint_names``; NaN where no column is mapped.

    Raises
    ------
    InvalidInputError
        ``invalid-argument``: a column or joint that is not there, a joint that is mapped twice, or
        a unit that is not known or not one of the joint.
    """
    if values.ndim != 2 or values.shape[1] != len(columns):
        raise _invalid(f"{len(columns)} columns are named, got values of {values.shape}")
    place = {column: index for index, column in enumerate(columns)}
    joints = np.full((len(values), len(robot.joint_names)), np.nan)
    mapped: set[str] = set()
    for entry in joint_map:
        _check(entry, place, mapped, robot)
        mapped.add(entry.joint)
        factor = entry.sign * entry.scale * SI_FACTOR_BY_UNIT[str(entry.unit)]
        joints[:, robot.joint_index(entry.joint)] = (
            factor * values[:, place[entry.column]] + entry.offset
        )
    return joints


def unmapped_joints(joint_map: JointMap, robot: RobotModel) -> tuple[str, ...]:
    """Return the joints that neither a column nor a coupled joint moves: they are kept at rest."""
    moved = {entry.joint for entry in joint_map}
    moved |= {robot.joint_names[coupling.joint] for coupling in robot.couplings}
    return tuple(joint for joint in robot.joint_names if joint not in moved)


def _check(
    entry: JointColumn, place: Mapping[str, int], mapped: set[str], robot: RobotModel
) -> None:
    what = f"Column {entry.column!r} for joint {entry.joint!r}"
    if entry.column not in place:
        raise _invalid(f"{what} is not in the data: expected one of {list(place)}")
    if entry.joint in mapped:
        raise _invalid(f"{what}: another column moves this joint already")
    if entry.sign not in (-1, 1):
        raise _invalid(f"{what} has the sign {entry.sign}, expected 1 or -1")
    if entry.unit not in SI_FACTOR_BY_UNIT:
        expected = sorted(SI_FACTOR_BY_UNIT)
        raise _invalid(f"{what} has the unit {entry.unit!r}, expected one of {expected}")
    is_prismatic = bool(robot.is_prismatic[robot.joint_index(entry.joint)])
    if entry.unit in (_ANGLES if is_prismatic else _LENGTHS):
        kind = "slides" if is_prismatic else "turns"
        raise _invalid(f"{what} has the unit {entry.unit!r}, and the joint {kind}")


def _invalid(what: str) -> InvalidInputError:
    return InvalidInputError(f"{what}.", kind=ErrorKind.INVALID_ARGUMENT)
