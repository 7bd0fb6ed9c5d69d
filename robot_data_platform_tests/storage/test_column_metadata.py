"""What a table says of its columns is corrected without touching a row."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from robot_data_platform.core.schema import table_schema, vector_field
from robot_data_platform.storage.column_metadata import restate
from robot_data_platform.storage.commit import append_rows
from robot_data_platform.storage.creation import create_table
from robot_data_platform.storage.table import LakeTable, open_table

ENCODING = b"lance-encoding:structural-encoding"


@pytest.fixture
def table(tmp_path: Path) -> LakeTable:
    """Two rows of a state in degrees."""
    schema = table_schema([vector_field("state", 2, ["a", "b"], "deg")], {"rdp.joint_unit": "deg"})
    uri = str(tmp_path / "frames.lance")
    create_table(uri, schema)
    rows = pa.Table.from_pylist([{"state": [1.0, 2.0]}, {"state": [3.0, 4.0]}], schema)
    append_rows(uri, rows, properties={"rdp.asset": "frames"})
    return open_table(uri)


def test_entries_are_set_and_removed_and_others_stay(table: LakeTable) -> None:
    restate(table.uri, {"rdp.joint_unit": "rad"}, {"state": {"rdp.unit": None, "rdp.units": "[]"}})
    found = open_table(table.uri)
    metadata = found.schema.field("state").metadata
    assert found.metadata["rdp.joint_unit"] == "rad"
    assert found.metadata["rdp.format_version"] == "1"
    assert b"rdp.unit" not in metadata
    assert metadata[b"rdp.units"] == b"[]"
    assert metadata[b"rdp.names"] == b'["a", "b"]'
    assert metadata[ENCODING] == b"fullzip"


def test_rows_stay_as_they_are(table: LakeTable) -> None:
    restate(table.uri, {}, {"state": {"rdp.unit": "rad"}})
    values = open_table(table.uri).read(["state"])["state"].combine_chunks().flatten()
    np.testing.assert_array_equal(values.to_numpy(), [1, 2, 3, 4])


def test_the_older_version_says_what_it_said(table: LakeTable) -> None:
    restate(table.uri, {"rdp.joint_unit": "rad"}, {"state": {"rdp.unit": "rad"}})
    older = open_table(table.uri, table.version)
    assert older.metadata["rdp.joint_unit"] == "deg"
    assert older.schema.field("state").metadata[b"rdp.unit"] == b"deg"


def test_what_is_said_already_is_not_committed_again(table: LakeTable) -> None:
    said = {"state": {"rdp.unit": "deg", "rdp.units": None}}
    assert restate(table.uri, {"rdp.joint_unit": "deg"}, said).version == table.version


def test_a_later_append_keeps_the_statement(table: LakeTable) -> None:
    restate(table.uri, {}, {"state": {"rdp.unit": "rad"}})
    rows = pa.Table.from_pylist([{"state": [5.0, 6.0]}], open_table(table.uri).schema)
    append_rows(table.uri, rows, properties={})
    assert open_table(table.uri).schema.field("state").metadata[b"rdp.unit"] == b"rad"
