"""Rotations against SciPy's, whose conventions are the ones that people cite."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robot_data_platform.core.rotation import (
    ROTATION_TOLERANCE,
    EulerAxes,
    QuaternionOrder,
    finite_array,
    rigid_transform,
    rigid_transform_from_matrix,
    rotation_from_euler_rad,
    rotation_from_matrix,
    rotation_from_quaternion,
)
from robot_data_platform.errors import ErrorKind, InvalidInputError

transform = pytest.importorskip("scipy.spatial.transform", reason="SciPy is the truth")

angles = st.floats(-7, 7)
orders = st.sampled_from(["xyz", "xzy", "yxz", "yzx", "zxy", "zyx", "zyz", "xyx"])


@given(st.tuples(angles, angles, angles), orders, st.sampled_from(["extrinsic", "intrinsic"]))
def test_euler_angles_turn_as_scipy_turns_them(
    angles_rad: tuple[float, float, float], order: str, axes: EulerAxes
) -> None:
    cited = order if axes == "extrinsic" else order.upper()
    expected = transform.Rotation.from_euler(cited, angles_rad).as_matrix()
    found = rotation_from_euler_rad(angles_rad, order=order, axes=axes)
    np.testing.assert_allclose(found, expected, atol=1e-12)


@given(st.tuples(*[st.floats(-1, 1)] * 4).filter(lambda q: np.linalg.norm(q) > 0.1))
def test_a_quaternion_turns_as_scipy_turns_it_in_both_orders(
    numbers: tuple[float, float, float, float],
) -> None:
    x, y, z, w = (np.array(numbers) / np.linalg.norm(numbers)).tolist()
    expected = transform.Rotation.from_quat([x, y, z, w]).as_matrix()
    written: dict[QuaternionOrder, list[float]] = {"xyzw": [x, y, z, w], "wxyz": [w, x, y, z]}
    for order, values in written.items():
        found = rotation_from_quaternion(values, order=order)
        np.testing.assert_allclose(found, expected, atol=1e-12)


@given(st.tuples(angles, angles, angles))
def test_a_matrix_of_three_decimals_becomes_the_rotation_that_it_was(
    angles_rad: tuple[float, float, float],
) -> None:
    true = transform.Rotation.from_euler("xyz", angles_rad).as_matrix()
    found = rotation_from_matrix(true.round(3))
    np.testing.assert_allclose(found, true, atol=2e-3)
    np.testing.assert_allclose(found @ found.T, np.eye(3), atol=1e-12)
    assert np.linalg.det(found) == pytest.approx(1)


def test_a_rotation_is_kept_to_the_bit() -> None:
    exact = rotation_from_euler_rad([0.1, 0.2, 0.3], order="zyx", axes="intrinsic")
    np.testing.assert_array_equal(rotation_from_matrix(exact), exact)


def test_a_transform_turns_and_then_moves() -> None:
    quarter_about_z = [[0, -1, 0], [1, 0, 0], [0, 0, 1]]
    moved = rigid_transform(quarter_about_z, [10, 20, 30]) @ [1, 0, 0, 1]
    assert moved.tolist() == [10, 21, 30, 1]


def test_three_rows_are_a_transform_too() -> None:
    rows = [[1, 0, 0, 4], [0, 1, 0, 5], [0, 0, 1, 6]]
    whole = rigid_transform_from_matrix([*rows, [0, 0, 0, 1]])
    np.testing.assert_array_equal(rigid_transform_from_matrix(rows), whole)
    np.testing.assert_array_equal(rigid_transform_from_matrix(np.array(rows)), whole)


@pytest.mark.parametrize(
    ("matrix", "told"),
    [
        (np.diag([1, 1, -1]), "determinant +1"),
        (np.diag([1, 1, 1 + 2 * ROTATION_TOLERANCE]), "orthonormal within 0.002"),
        (np.zeros((3, 3)), "orthonormal"),
        (np.diag([1, 1, np.nan]), "finite"),
        (np.eye(4), "shape (3, 3), got (4, 4)"),
        ([[1, 0], [0]], "numbers of the shape (3, 3)"),
        ("up", "numbers of the shape (3, 3)"),
    ],
)
def test_what_is_no_rotation_is_refused(matrix: object, told: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        rotation_from_matrix(matrix)
    assert caught.value.kind is ErrorKind.INVALID_ARGUMENT
    assert told in str(caught.value)


@pytest.mark.parametrize(
    ("matrix", "told"),
    [
        (np.diag([1, 1, 1, 2]), "end with the row 0 0 0 1, got [0.0, 0.0, 0.0, 2.0]"),
        (np.eye(3), "shape (3, 4)"),
        (np.eye(5), "shape (4, 4)"),
        (None, "(4, 4)"),
    ],
)
def test_what_is_no_transform_is_refused(matrix: object, told: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        rigid_transform_from_matrix(matrix)
    assert told in str(caught.value)


def test_a_quaternion_of_another_length_is_refused_with_its_length() -> None:
    with pytest.raises(InvalidInputError, match=r"length 1 .* got 2"):
        rotation_from_quaternion([2, 0, 0, 0], order="wxyz")


@pytest.mark.parametrize("order", ["xy", "xxy", "xyy", "abc", "XYZ", ""])
def test_an_order_that_is_no_three_axes_is_refused(order: str) -> None:
    with pytest.raises(InvalidInputError, match="three axes"):
        rotation_from_euler_rad([0, 0, 0], order=order, axes="extrinsic")


def test_numbers_are_copied() -> None:
    mine = np.ones(3)
    finite_array(mine, (3,), "Numbers")[0] = 5
    assert mine[0] == 1
