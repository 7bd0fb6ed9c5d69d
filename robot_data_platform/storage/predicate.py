"""SQL predicates for Lance, built from names and values, never pasted from text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from robot_data_platform.core.identity import CAMERA_BITS, MAX_CAMERAS
from robot_data_platform.errors import ErrorKind, InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Iterable

_COLUMN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
Value = str | int

_MAX_INT = (1 << 63) - 1
"""Lance reads a literal beyond int64, and the least int64 itself, as a float and refuses it."""


def _column(name: str) -> str:
    if not _COLUMN.fullmatch(name):
        raise InvalidInputError(
            f"Column name {name!r} can't stand in a filter: expected letters, digits and '_'. "
            "Use a column of the table.",
            kind=ErrorKind.INVALID_ARGUMENT,
            column=name,
        )
    # `group` and `where` are columns of ours and words of SQL.
    return f"`{name}`"


def literal(value: Value) -> str:
    """Return a value as a SQL literal; quotes in text are doubled.

    Raises
    ------
    InvalidInputError
        ``invalid-argument``: an integer that no int64 column can hold.
    """
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, bool):
        return str(value).lower()
    if abs(value) > _MAX_INT:
        raise InvalidInputError(
            f"Integer {value} can't stand in a filter: expected at most {_MAX_INT} either way.",
            kind=ErrorKind.INVALID_ARGUMENT,
            value=str(value),
        )
    return str(int(value))


def equals(column: str, value: Value) -> str:
    """Return ``column = value``."""
    return f"{_column(column)} = {literal(value)}"


def is_in(column: str, values: Iterable[Value]) -> str:
    """Return ``column IN (values)``, or a predicate that holds for no row where there are none."""
    listed = ", ".join(literal(v) for v in values)
    return f"{_column(column)} IN ({listed})" if listed else "false"


def in_range(column: str, start: int, stop: int) -> str:
    """Return ``start <= column < stop``."""
    name = _column(column)
    return f"{name} >= {literal(start)} AND {name} < {literal(stop)}"


def in_ranges(column: str, ranges: Iterable[tuple[int, int]]) -> str:
    """Return that the column is in one of half-open ranges; for no row where there are none."""
    return " OR ".join(f"({in_range(column, *bounds)})" for bounds in ranges) or "false"


def in_slot(slot: int) -> str:
    """Return the predicate of GOPs as recorded, slot 0, or of one rendition of them."""
    # Lance's planner knows no shifts and masks; keys are never negative, so these are the same.
    return f"({_column('ref_id')} % {1 << CAMERA_BITS}) / {MAX_CAMERAS} = {literal(slot)}"


def all_of(*predicates: str | None) -> str | None:
    """Return the conjunction of the given predicates; None where none is given."""
    given = [f"({p})" for p in predicates if p]
    return " AND ".join(given) if given else None
