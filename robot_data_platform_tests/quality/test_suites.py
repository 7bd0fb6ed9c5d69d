"""Great Expectations suites pass on good tables and name what is wrong with others."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from robot_data_platform.core.finding import Severity
from robot_data_platform.core.schema import (
    camera_fields,
    episodes_schema,
    frames_base_fields,
    table_schema,
    vector_field,
)
from robot_data_platform.quality.suites import SuiteResult, validate_episodes, validate_frames

BETWEEN = "expect_column_values_to_be_between"
IN_SET = "expect_column_values_to_be_in_set"
NOT_NULL = "expect_column_values_to_not_be_null"
ORDERED = "expect_column_pair_values_a_to_be_greater_than_b"
UNIQUE = "expect_column_values_to_be_unique"
UNIQUE_KEYS = "expect_compound_columns_to_be_unique"
REFERENCE = "observation_images_env_ref_id"
Broken = tuple[str, str, int, Severity]


def frames() -> pa.Table:
    """Return two episodes of 20 rows."""
    row = np.tile(np.arange(20), 2)
    age = pa.field("observation_gripper_age_ns", pa.int64())
    fields = [*frames_base_fields(), vector_field("observation_state", 2), age]
    schema = table_schema([*fields, *camera_fields("env")])
    columns = {
        "episode_index": np.repeat([4, 5], 20),
        "frame_index": row.astype(np.int32),
        "timestamp_ns": row * 10_000_000 + np.repeat([0, 100], 20),
        "observation_gripper_age_ns": row % 3,
        REFERENCE: np.repeat([1024, 1280], 20),
        "observation_images_env_gop_index": (row // 8).astype(np.int32),
        "observation_images_env_frame_index_in_gop": (row % 8).astype(np.int32),
    }
    arrays = [pa.array(columns.get(f.name, [None] * 40), f.type) for f in schema]
    return pa.Table.from_arrays(arrays, schema=schema)


def episodes() -> pa.Table:
    """Return three episodes, the last in quarantine."""
    rows = [
        {
            "episode_id": f"ep_{number}",
            "episode_index": number,
            "source_key": f"take_{number}",
            "upload": "u1",
            "ingestion_id": "in_1",
            "task": "fold",
            "num_rows": 100 if number < 2 else 0,
            "start_ns": 0 if number < 2 else None,
            "end_ns": 990_000_000 if number < 2 else None,
            "control_hz": 100.0 if number < 2 else None,
            "content_digest": str(number),
            "status": ("ok", "flagged", "quarantined")[number],
            "run_id": "r",
            "code_version": "0",
        }
        for number in range(3)
    ]
    return pa.Table.from_pylist(rows, schema=episodes_schema())


def overwrite(table: pa.Table, column: str, row: int, value: object) -> pa.Table:
    """Return the table with one value replaced, in a column that may be null."""
    values = table[column].to_pylist()
    values[row] = value
    place = table.schema.get_field_index(column)
    field = table.schema.field(column).with_nullable(True)
    return table.set_column(place, field, pa.array(values, field.type))


def broken(result: SuiteResult) -> list[Broken]:
    return [(e.expectation, e.column, e.num_unexpected, e.severity) for e in result.broken]


def test_good_frames_pass() -> None:
    result = validate_frames(frames())
    assert result.is_passed
    assert broken(result) == []
    assert (result.suite, result.num_rows) == ("frames", 40)
    assert all(not e.message for e in result.expectations)


@pytest.mark.parametrize(
    ("column", "row", "value", "expected"),
    [
        ("frame_index", 5, -7, (BETWEEN, "frame_index", 1)),
        ("timestamp_ns", 5, 40_000_000, (BETWEEN, "timestamp_step_ns", 1)),
        ("frame_index", 5, 4, (UNIQUE_KEYS, "episode_index,frame_index", 2)),
        ("episode_index", 3, None, (NOT_NULL, "episode_index", 1)),
        ("observation_gripper_age_ns", 9, -1, (BETWEEN, "observation_gripper_age_ns", 1)),
    ],
)
def test_a_wrong_row_fails_its_expectation(
    column: str, row: int, value: int | None, expected: tuple[str, str, int]
) -> None:
    result = validate_frames(overwrite(frames(), column, row, value))
    assert not result.is_passed
    assert (*expected, Severity.FAIL) in broken(result)


def test_rows_without_pictures_only_warn() -> None:
    table = frames()
    for row in (3, 4, 5):
        table = overwrite(table, REFERENCE, row, None)
    result = validate_frames(table)
    assert result.is_passed
    assert broken(result) == [(NOT_NULL, REFERENCE, 3, Severity.WARN)]


def test_a_picture_far_from_its_row_only_warns() -> None:
    offset = "observation_images_env_offset_ns"
    table = frames().replace_schema_metadata({"rdp.camera_fps": '{"env": 25}'})
    near = overwrite(overwrite(table, offset, 3, -20_000_000), offset, 4, 20_000_000)
    assert broken(validate_frames(near)) == []
    result = validate_frames(overwrite(near, offset, 5, 41_000_000))
    assert broken(result) == [(BETWEEN, offset, 1, Severity.WARN)]


def test_an_episode_far_shorter_than_the_others_only_warns() -> None:
    table = pa.concat_tables([episodes(), *(renamed(episodes(), n) for n in range(1, 6))])
    result = validate_episodes(overwrite(table, "end_ns", 0, 200_000_000))
    assert broken(result) == [(BETWEEN, "duration_s", 1, Severity.WARN)]


def test_good_episodes_pass() -> None:
    result = validate_episodes(episodes())
    assert result.is_passed
    assert broken(result) == []


@pytest.mark.parametrize(
    ("column", "row", "value", "expected"),
    [
        ("episode_id", 1, "ep_0", (UNIQUE, "episode_id", 2, Severity.FAIL)),
        ("status", 1, "fine", (IN_SET, "status", 1, Severity.FAIL)),
        ("end_ns", 0, -5, (ORDERED, "end_ns,start_ns", 1, Severity.FAIL)),
        ("task", 0, None, (NOT_NULL, "task", 1, Severity.WARN)),
    ],
)
def test_a_wrong_episode_breaks_its_expectation(
    column: str, row: int, value: object, expected: Broken
) -> None:
    assert broken(validate_episodes(overwrite(episodes(), column, row, value))) == [expected]


def test_an_episode_at_another_rate_than_the_others_only_warns() -> None:
    table = pa.concat_tables([episodes(), renamed(episodes())])
    result = validate_episodes(overwrite(table, "control_hz", 0, 50.0))
    assert result.is_passed
    assert broken(result) == [(BETWEEN, "control_hz", 1, Severity.WARN)]


def renamed(table: pa.Table, number: int = 1) -> pa.Table:
    """Return the episodes as others, so that keys stay unique."""
    ids = pc.binary_join_element_wise(table["episode_id"], f"x{number}", "_")
    indices = pc.add(table["episode_index"], 10 * number)
    other = table.set_column(0, table.schema.field(0), ids)
    return other.set_column(1, table.schema.field(1), indices)


def test_importing_the_suites_does_not_import_the_library() -> None:
    code = (
        "import sys, robot_data_platform.quality.suites, robot_data_platform.quality.episode;"
        "sys.exit(bool({'great_expectations', 'dagster'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
