"""Rotation matrices from the ways in which people write rotations, checked.

Every function names its convention in its arguments: a bare "quaternion" or "Euler angles" can't
be read.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Literal

import numpy as np
import numpy.typing as npt

from robot_data_platform.errors import ErrorKind, InvalidInputError

Float64Array = npt.NDArray[np.float64]
QuaternionOrder = Literal["wxyz", "xyzw"]
EulerAxes = Literal["extrinsic", "intrinsic"]
"""Turned about the fixed axes (``xyz`` of SciPy and ROS), or about the moving ones (``XYZ``)."""

ROTATION_TOLERANCE = 2e-3
"""Largest deviation from a rotation, as of numbers written with three decimals."""
ROUNDING = 1e-12
"""Deviation of a rotation in float64; such a matrix is kept to the bit."""


def finite_array(values: object, shape: tuple[int, ...], what: str) -> Float64Array:
    """Return numbers as float64 of ``shape``; nothing is reshaped.

    Raises
    ------
    InvalidInputError
        ``invalid-argument``: they are no numbers, of another shape, or not all finite.
    """
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as err:
        raise _invalid(
            f"{what} has to be numbers of the shape {shape}, got {values!r:.80}"
        ) from err
    if array.shape != shape:
        raise _invalid(f"{what} has to have the shape {shape}, got {array.shape}")
    if not np.isfinite(array).all():
        raise _invalid(f"{what} has to be finite, got {array.tolist()!s:.120}")
    return array


def rotation_from_matrix(matrix: object) -> Float64Array:
    """Return the rotation next to a matrix that is one but for rounding.

    Parameters
    ----------
    matrix : array-like, shape (3, 3)
        Row by row.

    Returns
    -------
    ndarray of float64, shape (3, 3)
        Orthonormal, determinant +1.

    Raises
    ------
    InvalidInputError
        ``invalid-argument``: not finite, not orthonormal within `ROTATION_TOLERANCE`, or a
        reflection.
    """
    array = finite_array(matrix, (3, 3), "A rotation matrix")
    deviation = float(np.abs(array @ array.T - np.eye(3)).max())
    if deviation > ROTATION_TOLERANCE:
        raise _invalid(
            f"A rotation matrix has to be orthonormal within {ROTATION_TOLERANCE}, got rows that "
            f"are off by {deviation:.4g}"
        )
    if np.linalg.det(array) < 0:
        raise _invalid("A rotation matrix has to have the determinant +1, got -1 (a reflection)")
    if deviation <= ROUNDING:
        return array
    left, _, right = np.linalg.svd(array)
    nearest: Float64Array = left @ right
    return nearest


def rotation_from_quaternion(quaternion: object, *, order: QuaternionOrder) -> Float64Array:
    """Return the rotation of a unit quaternion.

    Parameters
    ----------
    quaternion : array-like, shape (4,)
        Of length 1 within `ROTATION_TOLERANCE`.
    order : {"wxyz", "xyzw"}
        Whether the real part comes first or last.

    Raises
    ------
    InvalidInputError
        ``invalid-argument``: not four finite numbers, or not of length 1.

    Examples
    --------
    >>> rotation_from_quaternion([0, 0, 1, 0], order="xyzw").tolist()
    [[-1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    array = finite_array(quaternion, (4,), "A quaternion")
    length = float(np.linalg.norm(array))
    if abs(length - 1) > ROTATION_TOLERANCE:
        raise _invalid(
            f"A quaternion has to have the length 1 within {ROTATION_TOLERANCE}, got {length:.6g}"
        )
    w, x, y, z = array / length if order == "wxyz" else np.roll(array, 1) / length
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def rotation_from_euler_rad(angles_rad: object, *, order: str, axes: EulerAxes) -> Float64Array:
    """Return the rotation of three turns, one after the other.

    Parameters
    ----------
    angles_rad : array-like, shape (3,)
        Radians, in the order of ``order``.
    order : str
        The axes as they come, lower case: ``xyz``, ``zyx``, ``zyz``.
    axes : {"extrinsic", "intrinsic"}
        Whether each turn is about the fixed axes, or about the axes that the turns before it moved.

    Raises
    ------
    InvalidInputError
        ``invalid-argument``: not three finite numbers, or no order of three axes.

    Examples
    --------
    >>> quarter = np.pi / 2
    >>> fixed = rotation_from_euler_rad([quarter, 0, quarter], order="xyz", axes="extrinsic")
    >>> bool(np.allclose(fixed @ [0, 1, 0], [0, 0, 1]))
    True
    """
    angles = finite_array(angles_rad, (3,), "Euler angles")
    if len(order) != 3 or not set(order) <= set("xyz") or any(a == b for a, b in pairwise(order)):
        raise _invalid(f"An order of Euler angles is three axes as in 'xyz', got {order!r}")
    turns = [_turn(axis, angle) for axis, angle in zip(order, angles.tolist(), strict=True)]
    first, second, third = turns if axes == "intrinsic" else reversed(turns)
    rotation: Float64Array = first @ second @ third
    return rotation


def _turn(axis: str, angle_rad: float) -> Float64Array:
    cosine, sine = np.cos(angle_rad), np.sin(angle_rad)
    first, second = _OTHER_AXES[axis]
    turn = np.eye(3)
    turn[first, first] = turn[second, second] = cosine
    turn[first, second], turn[second, first] = -sine, sine
    return turn


_OTHER_AXES = {"x": (1, 2), "y": (2, 0), "z": (0, 1)}


def rigid_transform(rotation: object, xyz_m: object) -> Float64Array:
    """Return the (4, 4) transform that turns by ``rotation``, then moves by ``xyz_m`` metres.

    Raises
    ------
    InvalidInputError
        ``invalid-argument``: see `rotation_from_matrix`; or not three finite numbers.
    """
    transform = np.eye(4)
    transform[:3, :3] = rotation_from_matrix(rotation)
    transform[:3, 3] = finite_array(xyz_m, (3,), "A position in metres")
    return transform


def rigid_transform_from_matrix(matrix: object) -> Float64Array:
    """Return a (4, 4) or (3, 4) matrix as a (4, 4) rigid transform, checked.

    Raises
    ------
    InvalidInputError
        ``invalid-argument``: another shape, not finite, no rotation, or a last row that is not
        ``0 0 0 1``.
    """
    rows = len(matrix) if isinstance(matrix, Sequence | np.ndarray) else 4
    array = finite_array(matrix, (3 if rows == 3 else 4, 4), "A transform")
    if rows != 3 and array[3].tolist() != [0, 0, 0, 1]:
        raise _invalid(f"A transform has to end with the row 0 0 0 1, got {array[3].tolist()}")
    return rigid_transform(array[:3, :3], array[:3, 3])


def _invalid(what: str) -> InvalidInputError:
    return InvalidInputError(f"{what}.", kind=ErrorKind.INVALID_ARGUMENT)
