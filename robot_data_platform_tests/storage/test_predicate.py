"""Predicates hold for exactly the rows they name, whatever the values look like."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator

import lance
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robot_data_platform.errors import ErrorKind, InvalidInputError
from robot_data_platform.storage.predicate import all_of, equals, in_range, is_in, literal

TEXTS = [
    "plain",
    "it's",
    "''",
    "' OR 1 = 1 --",
    '"double"',
    "back`tick",
    "back\\slash",
    "percent%_",
    "new\nline",
    "ünïcode 日本 🤖",
    "nul\0",
    "",
]
NUMBERS = [0, 1, -1, 7, 2**31, -(2**31), 2**53 + 1, 2**63 - 1, -(2**63) + 1]


@pytest.fixture(scope="module")
def table() -> Iterator[lance.LanceDataset]:
    """Rows of odd texts and numbers, in columns named by words of SQL and with capitals."""
    columns = {
        "where": TEXTS,
        "group": list(range(len(TEXTS))),
        "CamelCase": TEXTS,
        "number": [*NUMBERS, *[None] * (len(TEXTS) - len(NUMBERS))],
        "flag": [n % 2 == 0 for n in range(len(TEXTS))],
    }
    with tempfile.TemporaryDirectory() as folder:
        yield lance.write_dataset(pa.table(columns), f"{folder}/odd.lance")


def groups(table: lance.LanceDataset, predicate: str | None) -> list[int]:
    return list(table.to_table(columns=["group"], filter=predicate)["group"].to_pylist())


@pytest.mark.parametrize("column", ["where", "CamelCase"])
@pytest.mark.parametrize("group", range(len(TEXTS)))
def test_a_text_is_found_as_it_is(table: lance.LanceDataset, column: str, group: int) -> None:
    assert groups(table, equals(column, TEXTS[group])) == [group]


@pytest.mark.parametrize("group", range(len(NUMBERS)))
def test_a_number_is_found_exactly(table: lance.LanceDataset, group: int) -> None:
    assert groups(table, equals("number", NUMBERS[group])) == [group]


def test_a_truth_value_is_found(table: lance.LanceDataset) -> None:
    assert groups(table, equals("flag", False)) == [1, 3, 5, 7, 9, 11]


@given(group=st.sets(st.integers(0, 20)))
def test_a_set_finds_its_members(table: lance.LanceDataset, group: set[int]) -> None:
    assert groups(table, is_in("group", group)) == sorted(group & set(range(len(TEXTS))))


def test_a_set_of_texts_finds_its_members(table: lance.LanceDataset) -> None:
    assert groups(table, is_in("where", [TEXTS[3], "absent", TEXTS[1]])) == [1, 3]


@given(start=st.integers(-3, 20), stop=st.integers(-3, 20))
def test_a_range_has_its_start_and_not_its_stop(
    table: lance.LanceDataset, start: int, stop: int
) -> None:
    expected = [n for n in range(len(TEXTS)) if start <= n < stop]
    assert groups(table, in_range("group", start, stop)) == expected


def test_all_of_holds_where_each_holds(table: lance.LanceDataset) -> None:
    either = f"{equals('group', 1)} OR {equals('group', 2)}"
    assert groups(table, all_of(either, None, equals("where", TEXTS[2]))) == [2]
    assert all_of(None) is None


@pytest.mark.parametrize("name", ["", "1st", "a-b", "a b", "a`b", "a' OR 'b", "naïve", "a\n"])
def test_a_name_that_could_be_more_than_a_name_is_refused(name: str) -> None:
    with pytest.raises(InvalidInputError, match="Column name") as caught:
        equals(name, 1)
    assert caught.value.kind is ErrorKind.INVALID_ARGUMENT


@pytest.mark.parametrize("value", [2**63, -(2**63), 10**30])
def test_a_number_that_no_column_holds_is_refused(value: int) -> None:
    with pytest.raises(InvalidInputError, match=str(value)):
        literal(value)
