"""Tables of texts: tasks and subtasks by number, in each of the ways that they are written."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import cast

import pyarrow as pa

from robot_data_platform.core.finding import Finding
from robot_data_platform.core.source import Source
from robot_data_platform.formats.data_files import unreadable
from robot_data_platform.formats.json_files import read_json_lines
from robot_data_platform.formats.parquet_files import read_table
from robot_data_platform.formats.vectors import to_int64

TASK_FILES = ("meta/tasks.parquet", "meta/tasks.jsonl")
"""Where v3 and v2 keep their tasks."""
SUBTASKS_FILE = "meta/subtasks.parquet"
TEXT_FILES = (*TASK_FILES, SUBTASKS_FILE)
UNNAMED_INDEX = "__index_level_0__"
"""Column of the texts where they are an unnamed pandas index, as LeRobot 0.4 writes them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Texts:
    """The texts that rows refer to by number."""

    tasks: Mapping[int, str]
    subtasks: Mapping[int, str]
    findings: tuple[Finding, ...]
    """Lines that can't be read."""


def read_texts(source: Source, files: Collection[str]) -> Texts:
    """Return the text of every task and subtask.

    Raises
    ------
    DataFaultError
        ``unreadable-file``: a table is damaged, or has no column of texts.
    """
    tasks, findings = _read_tasks(source, files)
    has_subtasks = SUBTASKS_FILE in files
    subtasks = _from_parquet(source, SUBTASKS_FILE, "subtask") if has_subtasks else {}
    return Texts(tasks=tasks, subtasks=subtasks, findings=findings)


def _read_tasks(
    source: Source, files: Collection[str]
) -> tuple[dict[int, str], tuple[Finding, ...]]:
    parquet, lines = TASK_FILES
    if parquet in files:
        return _from_parquet(source, parquet, "task"), ()
    if lines in files:
        objects, findings = read_json_lines(source, lines, {"task_index": int, "task": str})
        return {cast("int", o["task_index"]): str(o["task"]) for o in objects}, findings
    return {}, ()


def _from_parquet(source: Source, relative: str, name: str) -> dict[int, str]:
    table = read_table(source, relative)
    number, texts = f"{name}_index", (name, UNNAMED_INDEX)
    column = next((text for text in texts if text in table.column_names), None)
    if column is None or number not in table.column_names:
        got = f"got columns {table.column_names}, expected {number} and {' or '.join(texts)}"
        raise unreadable(source, relative, got)
    kind = table.schema.field(column).type
    if not _is_text(kind):
        raise unreadable(source, relative, f"got {column} of type {kind}, expected texts")
    numbers = to_int64(table[number], f"{relative} column {number}").tolist()
    pairs = zip(numbers, table[column].to_pylist(), strict=True)
    return {index: str(text) for index, text in pairs if text is not None}


def _is_text(kind: pa.DataType) -> bool:
    value = kind.value_type if pa.types.is_dictionary(kind) else kind
    is_text = pa.types.is_string(value) or pa.types.is_large_string(value)
    return bool(is_text or pa.types.is_null(value))
