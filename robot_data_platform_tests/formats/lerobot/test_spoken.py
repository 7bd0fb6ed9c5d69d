"""Texts of a LeRobot episode: what to do, from when on, by the value of each number."""

from __future__ import annotations

from pathlib import Path

import lance
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from robot_data_platform.core.alignment import label_at
from robot_data_platform.core.finding import Severity
from robot_data_platform.core.recording import Recording
from robot_data_platform.errors import DataFaultError
from robot_data_platform_tests.formats.lerobot_files import (
    TASKS,
    V2_DATA,
    Take,
    V3Plan,
    data_file,
    edit_parquet,
    write_parquet,
    write_v2,
    write_v3,
)
from robot_data_platform_tests.formats.lerobot_lance_files import write_lance
from robot_data_platform_tests.formats.reading import by_rule, read_episode, signal

TAKES = (Take(index=0, num_rows=6), Take(index=1, num_rows=5))
PLAN = V3Plan(takes=TAKES, data_files=[[0, 1]])
SUBTASKS = ("reach", "grasp", "lift")


def line_type(calls: pa.DataType, *, has_time: bool) -> pa.DataType:
    """Return the type of a language column."""
    texts = [pa.field("role", pa.string()), pa.field("content", pa.string())]
    time = [pa.field("timestamp", pa.float32())] if has_time else []
    rest = [pa.field("camera", pa.string()), pa.field("tool_calls", pa.list_(calls))]
    return pa.list_(pa.struct([*texts, pa.field("style", pa.string()), *time, *rest]))


def line(content: str, style: str = "subtask", **values: object) -> dict[str, object]:
    """Return one row of a language column."""
    own = {"role": "assistant", "camera": None, "tool_calls": None}
    return {**own, "content": content, "style": style, **values}


def told(recording: Recording) -> list[str | None]:
    """Return the instruction at each row, as `frames` stores it."""
    labels = label_at(recording.signals[0].timestamp_ns, recording.instructions)
    return [text or recording.task for text in labels]


def append(path: Path, name: str, lines: list[object], *, has_time: bool) -> None:
    """Add a language column to a parquet file, as LeRobot types it: its calls are JSON."""
    column = pa.array(lines, line_type(pa.string(), has_time=has_time))
    column = column.cast(line_type(pa.json_(), has_time=has_time))
    pq.write_table(pq.read_table(path).append_column(name, column), path)


def with_subtasks(root: Path, index_name: str | None = "subtask") -> Path:
    write_v3(root, PLAN)
    edit_parquet(root / data_file(0), subtask_index=[0, 0, 2, 2, 2, 1, 1, 1, 1, 0, 0])
    frame = pd.DataFrame({"subtask_index": [2, 0, 1]}, index=[SUBTASKS[i] for i in (2, 0, 1)])
    frame.index.name = index_name
    frame.to_parquet(root / "meta/subtasks.parquet")
    return root


@pytest.mark.parametrize("name", ["subtask", None], ids=["named index", "unnamed index"])
def test_a_subtask_is_the_instruction_of_its_rows(tmp_path: Path, name: str | None) -> None:
    root = with_subtasks(tmp_path, name)
    recording = read_episode(root, "episode_000000")
    assert recording.task == TASKS[0]
    assert told(recording) == ["reach", "reach", "lift", "lift", "lift", "grasp"]
    assert told(read_episode(root, "episode_000001")) == ["grasp"] * 3 + ["reach"] * 2
    assert signal(recording, "subtask_index").values[:, 0].tolist() == [0, 0, 2, 2, 2, 1]


def test_subtasks_are_read_from_lance_too(tmp_path: Path) -> None:
    files = with_subtasks(tmp_path / "files")
    root = write_lance(tmp_path / "set", PLAN)
    (root / "meta/subtasks.parquet").write_bytes((files / "meta/subtasks.parquet").read_bytes())
    table = pq.read_table(files / data_file(0))
    names = [column.replace(".", "_") for column in table.column_names]
    lance.write_dataset(table.rename_columns(names), str(root / "frames.lance"), mode="overwrite")
    assert told(read_episode(root, "episode_000001")) == ["grasp"] * 3 + ["reach"] * 2


def test_a_subtask_without_text_is_told_and_the_task_holds(tmp_path: Path) -> None:
    root = with_subtasks(tmp_path)
    edit_parquet(root / data_file(0), subtask_index=[7, 7, 7, 1, 1, 1, 1, 1, 1, 1, 1])
    recording = read_episode(root, "episode_000000")
    assert told(recording) == [TASKS[0]] * 3 + ["grasp"] * 3
    assert by_rule(recording.findings)["task_index_is_known"].where == "subtask_index 7"


def test_a_table_of_subtasks_without_texts_is_refused(tmp_path: Path) -> None:
    root = with_subtasks(tmp_path)
    write_parquet(root / "meta/subtasks.parquet", pa.table({"subtask_index": [0]}))
    with pytest.raises(DataFaultError, match="expected subtask_index and subtask or"):
        read_episode(root, "episode_000000")


def test_a_persistent_subtask_holds_until_the_next_one(tmp_path: Path) -> None:
    root = write_v3(tmp_path, PLAN)
    # as float32 writes them: 2 / 30 s and 5 / 30 s
    lines = [
        line("grasp", timestamp=0.06666667),
        line("reach", timestamp=0.0),
        line("lift", timestamp=0.16666667),
    ]
    append(root / data_file(0), "language_persistent", [lines] * 11, has_time=True)
    recording = read_episode(root, "episode_000000")
    assert told(recording) == ["reach", "reach", "grasp", "grasp", "grasp", "lift"]
    assert recording.findings == ()
    assert told(read_episode(root, "episode_000001")) == [
        "reach",
        "reach",
        "grasp",
        "grasp",
        "grasp",
    ]


def test_before_the_first_subtask_the_task_holds(tmp_path: Path) -> None:
    root = write_v3(tmp_path, PLAN)
    lines = [line("grasp", timestamp=0.1)]
    append(root / data_file(0), "language_persistent", [lines] * 11, has_time=True)
    assert told(read_episode(root, "episode_000000")) == [TASKS[0]] * 3 + ["grasp"] * 3


def test_texts_of_other_styles_are_counted(tmp_path: Path) -> None:
    root = write_v3(tmp_path, PLAN)
    lines = [
        line("reach", timestamp=0.0),
        line("first reach, then lift", "plan", timestamp=0.0),
        line("it was on the left", "memory", timestamp=0.1),
    ]
    append(root / data_file(0), "language_persistent", [lines] * 11, has_time=True)
    said: list[object] = [[], [line("no, the red one", "interjection")], *[[]] * 9]
    append(root / data_file(0), "language_events", said, has_time=False)
    recording = read_episode(root, "episode_000000")
    persistent, events = recording.findings
    assert (persistent.rule, persistent.severity) == ("language_is_read", Severity.INFO)
    assert (persistent.value, "1 of style memory, 1 of style plan" in persistent.message) == (
        2,
        True,
    )
    assert (events.where, events.value) == ("language_events", 1)
    assert told(recording) == ["reach"] * 6
    assert {s.name for s in recording.signals} == {"observation_state", "action"}


def test_a_language_column_of_another_layout_is_left_out_and_told(tmp_path: Path) -> None:
    root = write_v3(tmp_path, PLAN)
    edit_parquet(root / data_file(0), language_persistent=[["reach"]] * 11)
    recording = read_episode(root, "episode_000000")
    assert by_rule(recording.findings)["columns_are_read"].where == "language_persistent"


def v2_episode(root: Path, **columns: object) -> Recording:
    """Write one v2 episode of six rows with more columns, and read it."""
    write_v2(root, TAKES[:1], cameras=())
    edit_parquet(root / V2_DATA.format(episode_chunk=0, episode_index=0), **columns)
    return read_episode(root, "episode_000000")


def test_an_annotation_of_actions_is_looked_up_among_the_tasks(tmp_path: Path) -> None:
    key = "annotation.human.coarse_action"
    recording = v2_episode(tmp_path, **{key: [1, 1, 1, 0, 0, 0]})
    assert told(recording) == [TASKS[1]] * 3 + [TASKS[0]] * 3
    values = signal(recording, "annotation_human_coarse_action").values
    assert values[:, 0].tolist() == [1, 1, 1, 0, 0, 0]


def test_an_annotation_of_something_else_is_no_instruction(tmp_path: Path) -> None:
    recording = v2_episode(tmp_path, **{"annotation.human.validity": [1, 1, 1, 0, 0, 0]})
    assert recording.instructions == ()


def test_an_annotation_that_holds_throughout_is_metadata(tmp_path: Path) -> None:
    recording = v2_episode(tmp_path, **{"annotation.human.validity": [1] * 6})
    assert recording.metadata["annotation.human.validity"] == TASKS[1]


def test_annotations_may_be_texts(tmp_path: Path) -> None:
    key = "annotation.human.action.task_description"
    recording = v2_episode(tmp_path, **{key: ["wash", "wash", "dry", "dry", "", "dry"]})
    assert told(recording) == ["wash", "wash", "dry", "dry", TASKS[0], "dry"]
    assert recording.findings == ()


def test_the_finer_of_two_texts_counts(tmp_path: Path) -> None:
    root = with_subtasks(tmp_path)
    edit_parquet(root / data_file(0), task_index=[0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0])
    edit_parquet(root / data_file(0), subtask_index=[0, 9, 9, 9, 9, 9, 0, 0, 0, 0, 0])
    recording = read_episode(root, "episode_000000")
    assert told(recording) == ["reach", TASKS[0], TASKS[0], TASKS[1], TASKS[1], TASKS[1]]


def test_tasks_per_row_become_instructions_by_time(tmp_path: Path) -> None:
    recording = v2_episode(tmp_path, task_index=[0, 0, 1, 1, 0, 0])
    assert told(recording) == [TASKS[i] for i in (0, 0, 1, 1, 0, 0)]
