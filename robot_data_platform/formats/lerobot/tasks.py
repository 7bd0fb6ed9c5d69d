"""The task table: text by ``task_index``, in each of the ways that it is written."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from robot_data_platform.core.finding import Finding, Severity
from robot_data_platform.core.recording import Int64Array, Interval
from robot_data_platform.core.source import Source
from robot_data_platform.formats.data_files import unreadable
from robot_data_platform.formats.json_files import read_json_lines
from robot_data_platform.formats.parquet_files import read_table
from robot_data_platform.formats.vectors import to_int64

TASK_FILES = ("meta/tasks.parquet", "meta/tasks.jsonl")
"""Where v3 and v2 keep their tasks."""
TASK_COLUMNS = ("task", "__index_level_0__")
"""The text's column: named, or the unnamed pandas index that LeRobot 0.4 writes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Instructions:
    """What the robot was told during one episode."""

    task: str | None
    """Text of the first row's task."""
    intervals: tuple[Interval, ...]
    """The texts by time, where they change; empty = ``task`` holds throughout."""
    findings: tuple[Finding, ...]


def read_tasks(
    source: Source, files: Collection[str]
) -> tuple[dict[int, str], tuple[Finding, ...]]:
    """Return the text of every task index, and a finding for each line that can't be read.

    Raises
    ------
    DataFaultError
        ``unreadable-file``: the table is damaged, or has no column of texts.
    """
    parquet, lines = TASK_FILES
    if parquet in files:
        return _from_parquet(source, parquet), ()
    if lines in files:
        objects, findings = read_json_lines(source, lines, {"task_index": int, "task": str})
        return {cast("int", o["task_index"]): str(o["task"]) for o in objects}, findings
    return {}, ()


def instructions(
    task_index: Int64Array | None,
    timestamp_ns: Int64Array,
    text_by_index: Mapping[int, str],
    listed: Sequence[str],
) -> Instructions:
    """Return an episode's task texts, looked up by the value of ``task_index``.

    Parameters
    ----------
    task_index, timestamp_ns : ndarray of int64, shape (N,)
        Of every row; ``task_index`` is None where there is no such column.
    text_by_index : mapping
        The task table.
    listed : sequence of str
        The texts that the episode's metadata lists. One alone stands in where the table has no
        text; of several, nothing says which one a row means.
    """
    if task_index is None:
        return Instructions(task=_only(listed), intervals=(), findings=())
    starts = np.flatnonzero(np.diff(task_index, prepend=task_index[0] - 1))
    texts = [text_by_index.get(i, _only(listed)) for i in task_index[starts].tolist()]
    ends = [*timestamp_ns[starts[1:]].tolist(), int(timestamp_ns[-1]) + 1]
    spans = zip(timestamp_ns[starts].tolist(), ends, texts, strict=True)
    changing = len(set(texts)) > 1
    return Instructions(
        task=texts[0],
        intervals=tuple(
            Interval(start_ns=start, end_ns=end, value=text)
            for start, end, text in spans
            if changing and text is not None
        ),
        findings=tuple(_unknown(np.unique(task_index).tolist(), text_by_index)),
    )


def _only(texts: Sequence[str]) -> str | None:
    return texts[0] if len(texts) == 1 else None


def _unknown(indices: Sequence[int], text_by_index: Mapping[int, str]) -> list[Finding]:
    return [
        Finding(
            rule="task_index_is_known",
            severity=Severity.WARN,
            message=f"task_index {index} has no text: got tasks {sorted(text_by_index)[:20]}.",
            where=f"task_index {index}",
        )
        for index in indices
        if index not in text_by_index
    ]


def _from_parquet(source: Source, relative: str) -> dict[int, str]:
    table = read_table(source, relative)
    column = next((name for name in TASK_COLUMNS if name in table.column_names), None)
    if column is None or "task_index" not in table.column_names:
        got = (
            f"got columns {table.column_names}, expected task_index and {' or '.join(TASK_COLUMNS)}"
        )
        raise unreadable(source, relative, got)
    indices = to_int64(table["task_index"], f"{relative} column task_index").tolist()
    texts = table[column].to_pylist()
    return {
        index: str(text) for index, text in zip(indices, texts, strict=True) if text is not None
    }
