"""Recorded end-effector poses against forward kinematics: step, tool, unit, quaternion order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from robot_data_platform.core.rotation import Float64Array, QuaternionOrder
from robot_data_platform.spatial.quaternion_order import angles_by_order, better_order

POSITION_FACTOR_BY_UNIT: Mapping[str, float] = {"m": 1.0, "cm": 1e-2, "mm": 1e-3}
SHIFTS_ROWS = (0, 1, -1, 2, -2)
"""Rows by which records may be late, in order of preference."""

_MIN_ROWS = 8
_MIN_TRAVEL_M = 0.01
"""Hands that move less fit any step, and many tools."""
_CLEARLY = 10
"""How many times better a freer fit has to be."""
_CLEAR_RATIO = 2.0
"""How many times worse an earlier entry of `SHIFTS_ROWS` has to fit to be passed over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EndEffectorMatch:
    """What makes recorded poses fit forward kinematics best: ``recorded[t + shift] = fk[t]``."""

    shift_rows: int
    """Rows by which the record is late."""
    unit: str
    """Unit of the recorded positions."""
    tool_m: tuple[float, float, float]
    """Where the recorded point is in the link, metres."""
    error_mean_m: float
    error_max_m: float
    unshifted_error_mean_m: float
    """With the same tool and no shift."""
    origin_m: tuple[float, float, float] | None = None
    """Where the robot's base is in the frame of the record; None = the record is in its frame."""
    quaternion_order: QuaternionOrder | None = None
    """Order in which the recorded rotations fit; None = not recorded, or both fit alike."""
    error_deg_by_order: Mapping[str, float]
    """Mean angle between the recorded rotations and the link's."""
    scatter_deg_by_order: Mapping[str, float]
    """The same after the best constant turn of the tool."""


def match_end_effector(
    base_from_link: Float64Array,
    position: Float64Array,
    quaternion: Float64Array | None = None,
) -> EndEffectorMatch | None:
    """Return what makes recorded poses fit best; None = they move too little to tell.

    Parameters
    ----------
    base_from_link : ndarray of float64, shape (T, 4, 4)
        Of the tool's link, by forward kinematics.
    position : ndarray of float64, shape (T, 3)
        As recorded, in the base's frame, of unknown unit.
    quaternion : ndarray of float64, shape (T, 4), optional
        As recorded, of unknown order.

    Notes
    -----
    The tool is fitted along z alone, as flanges and grippers go, and in all three axes only where
    that fits ten times better. So is the base's place in the record's frame, which is not turned:
    simulators record where the hand is in their world.
    """
    good = np.isfinite(position).all(axis=1)
    if good.sum() < _MIN_ROWS or _travel(base_from_link[:, :3, 3]) < _MIN_TRAVEL_M:
        return None
    trials = [
        _Trial.of(base_from_link, factor * position, shift, unit)
        for unit, factor in POSITION_FACTOR_BY_UNIT.items()
        for shift in SHIFTS_ROWS
    ]
    best = _best(trials)
    metres = POSITION_FACTOR_BY_UNIT[best.unit] * position
    in_base = metres - np.array(best.origin_m or (0.0, 0.0, 0.0))
    unshifted = _errors(base_from_link, in_base, np.array(best.tool_m))
    turns = angles_by_order(*_paired(base_from_link, quaternion, best.shift_rows))
    return EndEffectorMatch(
        shift_rows=best.shift_rows,
        unit=best.unit,
        tool_m=best.tool_m,
        origin_m=best.origin_m,
        error_mean_m=best.error_mean_m,
        error_max_m=best.error_max_m,
        unshifted_error_mean_m=float(unshifted.mean()),
        quaternion_order=better_order(turns),
        error_deg_by_order={order: mean for order, (mean, _) in turns.items()},
        scatter_deg_by_order={order: scatter for order, (_, scatter) in turns.items()},
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Trial:
    shift_rows: int
    unit: str
    tool_m: tuple[float, float, float]
    error_mean_m: float
    error_max_m: float
    origin_m: tuple[float, float, float] | None = None

    @classmethod
    def of(
        cls, base_from_link: Float64Array, position_m: Float64Array, shift: int, unit: str
    ) -> _Trial:
        poses, recorded = _paired(base_from_link, position_m, shift)
        good = np.isfinite(recorded).all(axis=1)
        poses, recorded = poses[good], recorded[good]
        in_link = np.einsum("tji,tj->ti", poses[:, :3, :3], recorded - poses[:, :3, 3])
        # A rotation keeps lengths, so the best tool is the mean of what the link sees.
        anywhere = in_link.mean(axis=0)
        along_z = anywhere * [0, 0, 1]
        errors = {
            name: _errors(poses, recorded, tool)
            for name, tool in (("z", along_z), ("xyz", anywhere))
        }
        name = "xyz" if _CLEARLY * errors["xyz"].mean() < errors["z"].mean() else "z"
        tool, error, origin = (anywhere if name == "xyz" else along_z), errors[name], None
        tool_there, origin_there = _tool_and_origin(poses, recorded)
        there = _errors(poses, recorded - origin_there, tool_there)
        if _CLEARLY * there.mean() < error.mean():
            tool, error, origin = tool_there, there, tuple(origin_there.tolist())
        return cls(
            shift_rows=shift,
            unit=unit,
            tool_m=tuple(tool.tolist()),
            error_mean_m=float(error.mean()),
            error_max_m=float(error.max()),
            origin_m=origin,
        )


def _tool_and_origin(
    poses: Float64Array, recorded: Float64Array
) -> tuple[Float64Array, Float64Array]:
    """Return the tool and the base's place that fit best together: both enter linearly."""
    unknowns = np.concatenate([poses[:, :3, :3], np.tile(np.eye(3), (len(poses), 1, 1))], axis=2)
    wanted = (recorded - poses[:, :3, 3]).reshape(-1)
    solution = np.linalg.lstsq(unknowns.reshape(-1, 6), wanted, rcond=None)[0]
    return solution[:3], solution[3:]


def _best(trials: list[_Trial]) -> _Trial:
    """Return the trial that fits best; another step only where it fits clearly better."""
    best = min(trials, key=lambda trial: trial.error_mean_m)
    same_unit = (trial for trial in trials if trial.unit == best.unit)
    return next(
        trial for trial in same_unit if trial.error_mean_m <= _CLEAR_RATIO * best.error_mean_m
    )


def _errors(poses: Float64Array, position_m: Float64Array, tool_m: Float64Array) -> Float64Array:
    distance = np.linalg.norm(poses[:, :3, :3] @ tool_m + poses[:, :3, 3] - position_m, axis=1)
    return np.asarray(distance[np.isfinite(distance)])


def _paired(
    poses: Float64Array, recorded: Float64Array | None, shift: int
) -> tuple[Float64Array, Float64Array]:
    """Return the poses and the records that belong together: record ``t + shift`` to pose ``t``."""
    if recorded is None:
        return poses[:0], np.zeros((0, 4))
    start, stop = max(0, -shift), len(poses) - max(0, shift)
    return poses[start:stop], recorded[start + shift : stop + shift]


def _travel(xyz_m: Float64Array) -> float:
    return float(np.linalg.norm(np.ptp(xyz_m, axis=0)))
