"""SQL predicates for Lance, built from names and values, never pasted from text."""

from __future__ import annotations

import re
from collections.abc import Iterable

from robot_data_platform.errors import ErrorKind, InvalidInputError

_COLUMN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
Value = str | int


def _column(name: str) -> str:
    if not _COLUMN.fullmatch(name):
        raise InvalidInputError(
            f"Column name {name!r} can't stand in a filter: expected letters, digits and '_'.",
            kind=ErrorKind.INVALID_ARGUMENT,
            column=name,
        )
    return name


def literal(value: Value) -> str:
    """Return a value as a SQL literal; quotes in text are doubled."""
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
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
    return f"{_column(column)} >= {int(start)} AND {_column(column)} < {int(stop)}"


def all_of(*predicates: str | None) -> str | None:
    """Return the conjunction of the given predicates; None where none is given."""
    given = [f"({p})" for p in predicates if p]
    return " AND ".join(given) if given else None
