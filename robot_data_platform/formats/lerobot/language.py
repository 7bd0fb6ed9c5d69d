"""LeRobot's language columns: texts with a style, that hold from a time on or happen at one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from robot_data_platform.core.finding import Finding, Severity
from robot_data_platform.core.recording import Int64Array, Interval

PERSISTENT, EVENTS = "language_persistent", "language_events"
"""Columns of lists of rows; those of the first have times of their own and are the same in each
row of an episode, those of the second happen at the row that they stand in."""
SUBTASK = "subtask"
"""Style of the texts that say what to do next."""
_TIME, _STYLE, _CONTENT = "timestamp", "style", "content"
_IS_RIGHT = {_TIME: pa.types.is_floating, _STYLE: pa.types.is_string, _CONTENT: pa.types.is_string}
"""By field: whether a type may be its."""
_REQUIRED = {PERSISTENT: (_CONTENT, _STYLE, _TIME), EVENTS: (_CONTENT, _STYLE)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """What an episode's language columns say."""

    intervals: tuple[Interval, ...]
    """Subtasks by time."""
    columns: frozenset[str]
    """The columns that were read."""
    findings: tuple[Finding, ...]


def read_language(
    table: pa.Table,
    timestamp_ns: Int64Array,
    seconds: npt.NDArray[np.float64] | None,
    subject: str,
) -> Language:
    """Return the subtasks, and how many rows of other styles were left out.

    Parameters
    ----------
    table : Table
        An episode's rows.
    timestamp_ns : ndarray of int64, shape (N,)
        Their times.
    seconds : ndarray of float64, shape (N,), or None
        Their times as recorded, in float32 precision, as those of the texts are.
    subject : str
        The episode, for messages.
    """
    columns = [key for key in _REQUIRED if _is_language(table, key)]
    lines = {key: _distinct(table[key], key) for key in columns}
    held = lines[PERSISTENT] if PERSISTENT in lines else pa.table({_STYLE: pa.array([], "string")})
    return Language(
        intervals=_subtasks(held, timestamp_ns, seconds) if held.num_rows else (),
        columns=frozenset(columns),
        findings=tuple(f for key in columns for f in _left_out(lines[key], key, subject)),
    )


def _is_language(table: pa.Table, key: str) -> bool:
    if key not in table.column_names or not pa.types.is_list(table.schema.field(key).type):
        return False
    inner = table.schema.field(key).type.value_type
    types = {field.name: field.type for field in inner} if pa.types.is_struct(inner) else {}
    return all(name in types and _IS_RIGHT[name](types[name]) for name in _REQUIRED[key])


def _distinct(column: pa.ChunkedArray, key: str) -> pa.Table:
    """Return every different line of a column, each once."""
    flat = column.combine_chunks().flatten()
    lines = pa.table({name: flat.field(name) for name in _REQUIRED[key]})
    return lines.group_by(lines.column_names, use_threads=False).aggregate([])


def _subtasks(
    lines: pa.Table, timestamp_ns: Int64Array, seconds: npt.NDArray[np.float64] | None
) -> tuple[Interval, ...]:
    recorded = timestamp_ns / 1e9 if seconds is None else seconds
    rows = sorted(
        (line[_TIME], line[_CONTENT] or "")
        for line in lines.to_pylist()
        if line[_STYLE] == SUBTASK and line[_TIME] is not None
    )
    # A float32 step before its time, since a writer may have computed it in another way.
    from_s = np.nextafter(np.array([time for time, _ in rows], np.float32), np.float32(-np.inf))
    starts = np.searchsorted(recorded.astype(np.float32), from_s).tolist()
    bounds = np.append(timestamp_ns, timestamp_ns[-1] + 1)[[*starts, len(timestamp_ns)]].tolist()
    return tuple(
        Interval(start_ns=start, end_ns=end, value=text)
        for (start, end), (_, text) in zip(pairwise(bounds), rows, strict=True)
        if end > start and text
    )


def _left_out(lines: pa.Table, key: str, subject: str) -> Iterator[Finding]:
    styles = Counter(str(style) for style in lines[_STYLE].to_pylist())
    others = {style: n for style, n in styles.items() if key == EVENTS or style != SUBTASK}
    if others:
        named = ", ".join(f"{n} of style {style}" for style, n in sorted(others.items()))
        yield Finding(
            rule="language_is_read",
            severity=Severity.INFO,
            message=(
                f"{subject}: texts of column {key!r} were left out: got {named}, expected style "
                f"{SUBTASK} of {PERSISTENT!r}, which alone says what to do next."
            ),
            where=key,
            value=sum(others.values()),
            threshold=0,
            unit="texts",
        )
