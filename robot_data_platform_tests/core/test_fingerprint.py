"""Fingerprints count values and nothing else; `to_pylist` and hand-made digests are the truth."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from enum import IntEnum

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from robot_data_platform.core.fingerprint import digest, table_digest
from robot_data_platform.errors import ErrorKind, InvalidInputError

NUMBERS = st.booleans() | st.integers() | st.floats(allow_nan=False)
PLAIN = st.recursive(
    st.none() | NUMBERS | st.text() | st.binary(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)

SCHEMA = pa.schema(
    [
        ("number", pa.int64()),
        ("real", pa.float32()),
        ("flag", pa.bool_()),
        ("text", pa.string()),
        ("raw", pa.binary()),
        ("vector", pa.list_(pa.float32(), 2)),
        ("names", pa.list_(pa.string())),
        ("facts", pa.list_(pa.struct([("name", pa.string()), ("count", pa.int32())]))),
    ]
)
REALS = st.floats(width=32, allow_nan=False)
ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "number": st.none() | st.integers(-(2**63), 2**63 - 1),
            "real": st.none() | REALS,
            "flag": st.none() | st.booleans(),
            "text": st.none() | st.text(max_size=3),
            "raw": st.none() | st.binary(max_size=3),
            "vector": st.none() | st.lists(REALS, min_size=2, max_size=2),
            "names": st.none() | st.lists(st.none() | st.text(max_size=2), max_size=3),
            "facts": st.none()
            | st.lists(
                st.fixed_dictionaries({"name": st.text(max_size=2), "count": st.integers(0, 9)})
                | st.none(),
                max_size=2,
            ),
        }
    ),
    max_size=5,
)


def table_of(rows: list[dict[str, object]]) -> pa.Table:
    return pa.Table.from_pylist(rows, schema=SCHEMA)


def test_the_canonical_form_of_a_value_is_tag_length_and_bytes() -> None:
    form = b"{2:s1:as2:\xc3\xa4s1:b[3:n0:t1:1f3:0.5"
    assert digest({"b": [None, True, 0.5], "a": "ä"}) == hashlib.sha256(form).hexdigest()


@given(PLAIN, PLAIN)
def test_two_plain_values_share_a_digest_only_if_they_are_alike(one: object, two: object) -> None:
    assert (digest(one) == digest(two)) == (repr(sorted_keys(one)) == repr(sorted_keys(two)))


def sorted_keys(value: object) -> object:
    if isinstance(value, dict):
        return {key: sorted_keys(value[key]) for key in sorted(value)}
    return [sorted_keys(item) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (1, 1.0),
        (1, True),
        ("1", 1),
        ("a", b"a"),
        (0.0, -0.0),
        (None, "None"),
        (["a", "b"], ["ab"]),
        ([["a"], "b"], [["a", "b"]]),
        ([], {}),
    ],
)
def test_values_that_look_alike_have_different_digests(one: object, two: object) -> None:
    assert digest(one) != digest(two)


def test_subclasses_of_plain_types_count_as_the_plain_value() -> None:
    number = IntEnum("number", {"SEVEN": 7})
    assert digest([np.float64(0.1), number(7)]) == digest([0.1, 7])


@pytest.mark.parametrize("value", [{1, 2}, np.int64(1), {1: "a"}, object()])
def test_a_value_of_another_type_is_refused(value: object) -> None:
    with pytest.raises(InvalidInputError, match="has no fingerprint") as caught:
        digest(value)
    assert caught.value.kind is ErrorKind.INVALID_ARGUMENT


@given(ROWS, st.integers(0, 5), st.integers(0, 5))
def test_the_chunks_of_a_table_are_no_part_of_its_digest(
    rows: list[dict[str, object]], first: int, second: int
) -> None:
    whole = table_of(rows)
    cuts = sorted((min(first, len(rows)), min(second, len(rows))))
    parts = [whole.slice(0, cuts[0]), whole.slice(cuts[0], cuts[1] - cuts[0]), whole.slice(cuts[1])]
    assert table_digest(pa.concat_tables(parts)) == table_digest(whole)


@given(ROWS, ROWS)
def test_two_tables_share_a_digest_only_if_their_rows_are_equal(
    one: list[dict[str, object]], two: list[dict[str, object]]
) -> None:
    same = repr(table_of(one).to_pylist()) == repr(table_of(two).to_pylist())
    assert (table_digest(table_of(one)) == table_digest(table_of(two))) == same


@given(ROWS)
def test_a_slice_has_the_digest_of_its_rows_written_alone(rows: list[dict[str, object]]) -> None:
    assume(len(rows) > 1)
    assert table_digest(table_of(rows).slice(1)) == table_digest(table_of(rows[1:]))


def vectors(below_null: float) -> pa.Array:
    values = pa.array([1.0, below_null], pa.float32())
    return pa.FixedSizeListArray.from_arrays(values, 1, mask=pa.array([False, True]))


def structs(below_null: float) -> pa.Array:
    values = pa.array([1.0, below_null], pa.float32())
    return pa.StructArray.from_arrays([values], ["x"], mask=pa.array([False, True]))


def numbers(below_null: float) -> pa.Array:
    return pa.array(np.array([1.0, below_null]), mask=np.array([False, True]))


@pytest.mark.parametrize("make", [numbers, vectors, structs])
def test_what_lies_below_a_null_does_not_count(make: Callable[[float], pa.Array]) -> None:
    one, two = (pa.table({"a": make(hidden)}) for hidden in (2.0, 3.0))
    assert table_digest(one) == table_digest(two)


def test_a_null_is_neither_zero_nor_empty_text() -> None:
    columns = [pa.array([None, 0], pa.int64()), pa.array([None, ""], pa.string())]
    digests = {
        table_digest(pa.table({"a": column.slice(row, 1)})) for column in columns for row in (0, 1)
    }
    assert len(digests) == 4


@pytest.mark.parametrize(
    ("one", "two"),
    [(["a", "bc"], ["ab", "c"]), ([b"a", b""], [b"", b"a"]), ([[1], [2, 3]], [[1, 2], [3]])],
)
def test_where_a_value_ends_counts(one: list[object], two: list[object]) -> None:
    assert table_digest(pa.table({"a": one})) != table_digest(pa.table({"a": two}))


def test_encodings_of_one_value_share_a_digest() -> None:
    words = pa.array(["a", None, "a"])
    forms = [words, words.cast(pa.large_string()), words.dictionary_encode()]
    assert len({table_digest(pa.table({"w": form})) for form in forms}) == 1


def test_the_order_of_columns_is_no_part_of_a_table() -> None:
    table = table_of([{"number": 1, "text": "a"}])
    assert table_digest(table.select(SCHEMA.names[::-1])) == table_digest(table)


def test_the_order_of_rows_is_part_of_a_table() -> None:
    assert table_digest(pa.table({"a": [1, 2]})) != table_digest(pa.table({"a": [2, 1]}))


@pytest.mark.parametrize("kind", [pa.int32(), pa.int64(), pa.float32(), pa.timestamp("ns")])
def test_the_type_of_a_column_counts(kind: pa.DataType) -> None:
    others = {pa.int8(), pa.int32(), pa.int64(), pa.float32(), pa.timestamp("ns")} - {kind}
    mine = table_digest(pa.table({"a": pa.array([1, None], kind)}))
    assert mine not in {table_digest(pa.table({"a": pa.array([1, None], k)})) for k in others}


def test_a_column_type_without_canonical_bytes_is_refused() -> None:
    table = pa.table({"a": pa.array([[("k", 1)]], pa.map_(pa.string(), pa.int64()))})
    with pytest.raises(InvalidInputError, match="has no fingerprint"):
        table_digest(table)
