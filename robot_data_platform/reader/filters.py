"""SQL filters of a caller: checked against the tables' columns, then parsed by Lance."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pyarrow as pa

from robot_data_platform.errors import (
    ErrorKind,
    InvalidInputError,
    NotFoundError,
    RobotDataError,
)
from robot_data_platform.reader.place import Place

_TOKEN = re.compile(
    r"""(?P<text>'(?:[^']|'')*'|"[^"]*")|`(?P<quoted>[^`]*)`|(?P<word>[A-Za-z_]\w*)(?P<call>\s*\()?"""
    r"|(?P<refused>;|--|/\*|['\"`])"
)
_WORDS = frozenset(
    (
        *("and", "or", "not", "in", "is", "null", "like", "ilike", "between", "true", "false"),
        *("escape", "case", "when", "then", "else", "end"),
        *("as", "bigint", "boolean", "double", "float", "int", "string"),
    )
)
"""Words of SQL that are no columns; with those that ``cast`` names types by."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowFilter:
    """A predicate on the rows of one table."""

    on_episodes: bool
    """Whether it is one on ``episodes``, and else on ``frames``."""
    where: str


def check_filter(text: str, frames: pa.Schema, episodes: pa.Schema, place: Place) -> RowFilter:
    """Return a filter as one on rows or, where only they have its columns, on episodes.

    Parameters
    ----------
    text : str
        A predicate in SQL.
    frames, episodes : pyarrow.Schema
        Schemas of the two tables.

    Raises
    ------
    NotFoundError
        ``column-not-found``: it names a column that is in neither table.
    InvalidInputError
        ``invalid-argument``: it names a column that is no number, text or boolean, or columns of
        both tables; it has several statements or a comment.
    """
    if not text.strip():
        raise _refused(text, place, "no predicate", "one. Leave filter out to read every row")
    names = _columns_of(text, place)
    by_row, by_episode = (_scalars(schema) for schema in (frames, episodes))
    for name in names:
        if name not in by_row | by_episode:
            raise _no_column(name, by_row | by_episode, frames, episodes, place)
    if names <= by_row:
        return RowFilter(on_episodes=False, where=text)
    if names <= by_episode:
        return RowFilter(on_episodes=True, where=text)
    raise _refused(
        text,
        place,
        f"columns {sorted(names - by_episode)} of frames with {sorted(names - by_row)} of episodes",
        "those of one table. Choose the episodes by episodes=[...]",
    )


@contextmanager
def filter_errors(text: str, place: Place) -> Iterator[None]:
    """Raise what Lance says against a filter as an error that names it.

    Raises
    ------
    InvalidInputError
        ``invalid-argument``.
    """
    try:
        yield
    except RobotDataError as err:
        # Lance raises ValueError for what a caller gave it, and OSError for what a store did.
        is_callers = isinstance(err.__cause__, ValueError) or isinstance(err, InvalidInputError)
        if not is_callers:
            raise
        raise _refused(text, place, str(err), "a predicate that Lance can read") from err


def _columns_of(text: str, place: Place) -> set[str]:
    names = set()
    for token in _TOKEN.finditer(text):
        if token["refused"]:
            raise _refused(text, place, f"{token['refused']!r}", "one predicate without comments")
        if token["quoted"] is not None:
            names.add(token["quoted"])
        elif token["word"] and not token["call"] and token["word"].lower() not in _WORDS:
            names.add(token["word"].lower())
    return names


def _scalars(schema: pa.Schema) -> set[str]:
    checks = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_string)
    return {field.name for field in schema if any(check(field.type) for check in checks)}


def _no_column(
    name: str, there: set[str], frames: pa.Schema, episodes: pa.Schema, place: Place
) -> RobotDataError:
    if name in frames.names or name in episodes.names:
        return InvalidInputError(
            f"Column {name!r} in filter of {place} holds lists: expected numbers, text or "
            f"booleans: {sorted(there)}. Read the rows and choose among them by its values.",
            kind=ErrorKind.INVALID_ARGUMENT,
            column=name,
        )
    return NotFoundError(
        f"Column {name!r} in filter is not in frames or episodes of {place}: there are "
        f"{sorted(there)}. Correct the name; text stands in single quotes.",
        kind=ErrorKind.COLUMN_NOT_FOUND,
        column=name,
        expected=sorted(there),
        **place.facts(),
    )


def _refused(text: str, place: Place, got: str, expected: str) -> InvalidInputError:
    return InvalidInputError(
        f"filter={text!r} of {place} can't be used: got {got}, expected {expected}.",
        kind=ErrorKind.INVALID_ARGUMENT,
        filter=text,
        **place.facts(),
    )
