"""Which order recorded quaternions are in, by trial against forward kinematics."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from robot_data_platform.core.rotation import Float64Array, QuaternionOrder

_MIN_ROWS = 8
_DECISIVE_RATIO = 3.0
"""How many times worse the other order has to be."""


def angles_by_order(
    poses: Float64Array, quaternion: Float64Array
) -> dict[QuaternionOrder, tuple[float, float]]:
    """Return how far recorded rotations are from a link's, by the order they are read in.

    Parameters
    ----------
    poses : ndarray of float64, shape (T, 4, 4)
        ``base_from_link``.
    quaternion : ndarray of float64, shape (T, 4)
        As recorded; rows that are not of length 1 are left out.

    Returns
    -------
    dict of str to tuple of float
        The mean angle in degrees, and that after the best constant turn; nothing where too few
        rows are usable.
    """
    length = np.linalg.norm(quaternion, axis=1)
    good = np.isfinite(length) & (np.abs(length - 1) < 0.02)
    if good.sum() < _MIN_ROWS:
        return {}
    orders: tuple[QuaternionOrder, QuaternionOrder] = ("wxyz", "xyzw")
    return {order: _angles(poses[good], quaternion[good], order) for order in orders}


def _angles(
    poses: Float64Array, quaternion: Float64Array, order: QuaternionOrder
) -> tuple[float, float]:
    turn = poses[:, :3, :3].transpose(0, 2, 1) @ _rotations(quaternion, order)
    left, _, right = np.linalg.svd(turn.mean(axis=0))
    usual = left @ np.diag([1, 1, np.linalg.det(left @ right)]) @ right
    return _mean_angle_deg(turn), _mean_angle_deg(usual.T @ turn)


def _rotations(quaternion: Float64Array, order: QuaternionOrder) -> Float64Array:
    """Return unit quaternions as rotations, (T, 3, 3)."""
    unit = quaternion / np.linalg.norm(quaternion, axis=1, keepdims=True)
    real, axis = (unit[:, 0], unit[:, 1:]) if order == "wxyz" else (unit[:, 3], unit[:, :3])
    cross = np.cross(np.eye(3)[None], axis[:, None, :])  # rows e_i x a
    outer = axis[:, :, None] * axis[:, None, :]
    diagonal = (2 * real**2 - 1)[:, None, None] * np.eye(3)
    return np.asarray(diagonal + 2 * outer + 2 * real[:, None, None] * cross)


def _mean_angle_deg(turns: Float64Array) -> float:
    # By the chord: the arc cosine of a trace is blind below a thousandth of a degree.
    chord = np.linalg.norm(turns - np.eye(3), axis=(1, 2)) / np.sqrt(8)
    return float(np.degrees(2 * np.arcsin(np.clip(chord, 0, 1))).mean())


def better_order(turns: Mapping[QuaternionOrder, tuple[float, float]]) -> QuaternionOrder | None:
    """Return the order that fits clearly better, from `angles_by_order`; None = neither does."""
    if not turns:
        return None
    best, other = sorted(turns, key=lambda order: turns[order][1])
    decided = turns[other][1] > _DECISIVE_RATIO * max(turns[best][1], 0.5)
    return best if decided else None
