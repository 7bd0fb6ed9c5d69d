"""What a robot was told during an episode: its task, and instructions by time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from robot_data_platform.core.finding import Finding, Severity
from robot_data_platform.core.recording import Int64Array, Interval
from robot_data_platform.formats.lerobot.language import read_language
from robot_data_platform.formats.lerobot.rows import TASK, EpisodeRows
from robot_data_platform.formats.lerobot.tasks import Texts
from robot_data_platform.formats.lerobot.text_spans import spans_of_numbers, spans_of_texts
from robot_data_platform.formats.vectors import to_int64

SUBTASK = "subtask_index"
INSTRUCTION = "language_instruction"
"""Texts that datasets made from Open X-Embodiment have in place of tasks."""
_ANNOTATION = "annotation."
"""Prefix of columns of texts, or of their numbers in the task table (GR00T's convention)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    """Texts of one episode."""

    task: str | None
    """Text of the first row's task."""
    intervals: tuple[Interval, ...]
    """Texts by time; of several that hold at a time the last in the list counts. Where none
    does, ``task`` holds."""
    columns: frozenset[str]
    """Columns that were read whole here."""
    metadata: Mapping[str, str]
    """Annotations that hold throughout, by column."""
    findings: tuple[Finding, ...]


def read_spoken(
    rows: EpisodeRows, timestamp_ns: Int64Array, texts: Texts, listed: Sequence[str], subject: str
) -> Spoken:
    """Return an episode's texts, looked up by the value of each number.

    Where several say what to do at a time, the finer one counts: ``task_index``, then
    ``language_instruction``, then ``annotation.*``, then subtasks.

    Parameters
    ----------
    rows : EpisodeRows
        The episode's table.
    timestamp_ns : ndarray of int64, shape (N,)
        Time of each row.
    texts : Texts
        The dataset's tasks and subtasks.
    listed : sequence of str
        The texts that the episode's metadata lists. One alone stands in where the table has no
        text; of several, nothing says which one a row means.
    subject : str
        The episode, for messages.
    """
    task_index, subtask_index = (_numbers(rows.table, key, subject) for key in (TASK, SUBTASK))
    told = {
        key: _spans(rows.table, key, timestamp_ns, texts.tasks)
        for key in rows.table.column_names
        if key == INSTRUCTION or key.startswith(_ANNOTATION)
    }
    tasks = _with_listed(task_index, texts.tasks, listed)
    task = _first_task(task_index, tasks, listed, told.get(INSTRUCTION, ()))
    coarse = (
        spans_of_numbers(task_index, timestamp_ns, tasks),
        told.get(INSTRUCTION, ()),
        *(spans for key, spans in told.items() if _is_action(key)),
    )
    language = read_language(rows.table, timestamp_ns, rows.seconds(subject), subject)
    return Spoken(
        task=task,
        intervals=(
            *(span for spans in coarse for span in _if_more_than(task, spans)),
            *spans_of_numbers(subtask_index, timestamp_ns, texts.subtasks),
            *language.intervals,
        ),
        columns=language.columns | {key for key in told if _is_text(rows.table, key)},
        metadata={key: spans[0].value for key, spans in told.items() if len(spans) == 1},
        findings=(
            *_unknown(TASK, task_index, texts.tasks),
            *_unknown(SUBTASK, subtask_index, texts.subtasks),
            *language.findings,
        ),
    )


def _numbers(table: pa.Table, key: str, subject: str) -> Int64Array:
    """Return a column of numbers; none where there is no such column."""
    if key not in table.column_names:
        return np.empty(0, np.int64)
    return to_int64(table[key], f"{subject} column {key!r}")


def _spans(
    table: pa.Table, key: str, timestamp_ns: Int64Array, texts: Mapping[int, str]
) -> tuple[Interval, ...]:
    column = table[key]
    if _is_text(table, key):
        return spans_of_texts(column, timestamp_ns)
    if pa.types.is_integer(column.type) and not column.null_count:
        return spans_of_numbers(to_int64(column, key), timestamp_ns, texts)
    return ()


def _is_text(table: pa.Table, key: str) -> bool:
    data_type = table.schema.field(key).type
    return bool(pa.types.is_string(data_type) or pa.types.is_large_string(data_type))


def _is_action(key: str) -> bool:
    """Return whether an annotation says what to do, as ``annotation.human.coarse_action`` does."""
    parts = key.removeprefix(_ANNOTATION).split(".") if key.startswith(_ANNOTATION) else []
    return any(part.endswith("action") or part == "task_description" for part in parts)


def _with_listed(
    numbers: Int64Array, texts: Mapping[int, str], listed: Sequence[str]
) -> Mapping[int, str]:
    only = dict.fromkeys(np.unique(numbers).tolist(), listed[0]) if len(listed) == 1 else {}
    return {**only, **texts}


def _first_task(
    numbers: Int64Array,
    texts: Mapping[int, str],
    listed: Sequence[str],
    stated: Sequence[Interval],
) -> str | None:
    only = listed[0] if len(listed) == 1 else None
    task = texts.get(int(numbers[0])) if len(numbers) else only
    return task if task is not None or not stated else stated[0].value


def _if_more_than(task: str | None, spans: Sequence[Interval]) -> Sequence[Interval]:
    return spans if any(span.value != task for span in spans) else ()


def _unknown(key: str, numbers: Int64Array, texts: Mapping[int, str]) -> Iterator[Finding]:
    for number in np.unique(numbers).tolist():
        if number not in texts:
            yield Finding(
                rule="task_index_is_known",
                severity=Severity.WARN,
                message=f"{key} {number} has no text: got texts of {sorted(texts)[:20]}.",
                where=f"{key} {number}",
            )
