"""Every test that the table of faults names is there."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

README = Path(__file__).with_name("README.md")
TESTS = README.parent.parent
ROW = re.compile(r"^\| (\d+) \| .* \| .* \| (.*) \|$", re.MULTILINE)
NAME = re.compile(r"`([\w/]+\.py)::(\w+)`")


@dataclass(frozen=True, slots=True)
class Row:
    """One fault of the table."""

    case: int
    tests: list[tuple[str, str]]
    """File and function."""


def rows() -> list[Row]:
    """Return the table's rows."""
    return [Row(int(case), NAME.findall(cell)) for case, cell in ROW.findall(README.read_text())]


@pytest.mark.parametrize("row", rows(), ids=lambda row: str(row.case))
def test_every_test_that_a_fault_names_is_there(row: Row) -> None:
    assert row.tests
    for path, name in row.tests:
        defined = re.search(rf"^def {name}\(", (TESTS / path).read_text(), re.MULTILINE)
        assert defined, f"{path}::{name}"


def test_faults_stand_in_the_order_of_their_numbers() -> None:
    cases = [row.case for row in rows()]
    assert len(cases) == README.read_text().count("\n| ") - 1
    assert cases == sorted(set(cases))
