"""Arrow columns of any nesting become plain arrays, as ``to_pylist`` sees them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robot_data_platform.errors import DataFaultError
from robot_data_platform.formats.vectors import is_numeric, to_float64, to_int64, to_matrix

ROW = st.one_of(st.none(), st.lists(st.floats(width=32), min_size=3, max_size=3))


@given(st.lists(ROW, min_size=1, max_size=12), st.booleans(), st.integers(0, 3))
def test_lists_come_out_as_arrow_prints_them(
    rows: list[list[float] | None], is_fixed: bool, start: int
) -> None:
    kind = pa.list_(pa.float32(), 3) if is_fixed else pa.list_(pa.float32())
    column = pa.chunked_array([pa.array(rows, kind).slice(min(start, len(rows) - 1))])
    slow = [row or [np.nan] * 3 for row in column.to_pylist()]
    if any(row for row in column.to_pylist()):
        np.testing.assert_array_equal(to_matrix(column, "c"), np.array(slow, dtype=np.float32))


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (pa.bool_(), np.float32),
        (pa.int8(), np.float32),
        (pa.uint16(), np.float32),
        (pa.float16(), np.float32),
        (pa.float32(), np.float32),
        (pa.int32(), np.float64),
        (pa.int64(), np.float64),
        (pa.float64(), np.float64),
    ],
)
def test_the_type_holds_every_value_of_the_source(kind: pa.DataType, expected: type) -> None:
    matrix = to_matrix(pa.chunked_array([pa.array([1, 0], pa.int8()).cast(kind)]), "c")
    assert (matrix.dtype.type, matrix.tolist()) == (expected, [[1], [0]])


def test_null_is_nan_and_no_rows_are_no_rows() -> None:
    assert np.isnan(to_matrix(pa.chunked_array([pa.array([None], pa.int64())]), "c")).all()
    assert to_matrix(pa.chunked_array([], pa.float32()), "c").shape == (0, 1)


def test_rows_of_different_width_are_refused_with_the_row_of_the_table() -> None:
    with pytest.raises(DataFaultError, match="got 1 values at row 3, expected 2 as in row 1"):
        to_matrix(pa.chunked_array([[None, [1.0, 2.0]], [[3.0, 4.0], [5.0]]]), "c")


def test_whole_numbers_of_any_type_are_integers() -> None:
    for values in ([1.0, 2.0], pa.array([1, 2], pa.uint8()), [1, 2]):
        assert to_int64(pa.chunked_array([pa.array(values)]), "c").tolist() == [1, 2]


@pytest.mark.parametrize(
    "values",
    [[1.5], [None, 1], ["a"], [float("nan")], [1e300], pa.array([1 << 63], pa.uint64())],
    ids=["fraction", "null", "text", "nan", "huge", "beyond int64"],
)
def test_anything_else_is_refused(values: object) -> None:
    with pytest.raises(DataFaultError, match="has the wrong shape"):
        to_int64(pa.chunked_array([pa.array(values)]), "c")


def test_texts_and_structs_are_no_numbers() -> None:
    kinds = [pa.string(), pa.struct([("a", pa.int8())]), pa.list_(pa.string()), pa.binary()]
    assert not any(map(is_numeric, kinds))
    assert is_numeric(pa.list_(pa.list_(pa.bool_(), 2)))


def test_null_may_stand_for_a_number_where_one_is_given() -> None:
    for column in (pa.array([1, None]), pa.array([1.0, None])):
        assert to_int64(pa.chunked_array([column]), "c", -1).tolist() == [1, -1]
    assert to_int64(pa.chunked_array([pa.nulls(2)]), "c", -1).tolist() == [-1, -1]


@pytest.mark.parametrize(
    "values", [pa.nulls(2), pa.array([["a"]]), pa.array([1], pa.timestamp("s"))]
)
def test_a_matrix_is_made_of_numbers_alone(values: pa.Array) -> None:
    with pytest.raises(DataFaultError, match="expected numbers"):
        to_matrix(pa.chunked_array([values]), "c")


def test_single_numbers_are_floats_and_null_is_nan() -> None:
    column = pa.chunked_array([pa.array([1, None], pa.uint64()), pa.array([1 << 60], pa.uint64())])
    np.testing.assert_array_equal(to_float64(column, "c"), [1, np.nan, float(1 << 60)])
    assert np.isnan(to_float64(pa.chunked_array([pa.nulls(1)]), "c")).all()
    with pytest.raises(DataFaultError, match="got type string, expected one number"):
        to_float64(pa.chunked_array([["1.5"]]), "c")
