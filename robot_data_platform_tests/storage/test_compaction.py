from __future__ import annotations

import os

import pyarrow as pa
import pytest

from robot_data_platform.core.schema import key_field, table_schema
from robot_data_platform.storage.commit import commit_fragments, write_rows
from robot_data_platform.storage.compaction import CompactionPolicy, compact, plan_compaction
from robot_data_platform.storage.creation import create_table, with_blob_column
from robot_data_platform.storage.table import blob_array, open_table
from robot_data_platform.storage.table_files import data_groups
from robot_data_platform.storage.upkeep import delete_rows

POLICY = CompactionPolicy(target_rows=10, min_small_fragments=3, max_garbage_share=0.3)


def add_fragment(uri: str, start: int, num_rows: int) -> None:
    schema = with_blob_column(table_schema([key_field("key", pa.int64())]))
    table = create_table(uri, schema)
    keys = list(range(start, start + num_rows))
    columns = [pa.array(keys), blob_array([os.urandom(1000) for _ in keys])]
    rows = pa.Table.from_arrays(columns, schema=table.schema)
    commit_fragments(uri, write_rows(uri, table.schema, rows.to_batches()), properties={})


def blob_stems(uri: str) -> set[str]:
    return {stem for stem, group in data_groups(open_table(uri)).items() if len(group.files) > 1}


@pytest.mark.parametrize(("num_deleted", "is_rewritten"), [(3, False), (4, True)])
def test_blobs_are_rewritten_only_above_the_share_of_garbage(
    local_uri: str, num_deleted: int, is_rewritten: bool
) -> None:
    add_fragment(local_uri, 0, 10)
    add_fragment(local_uri, 10, 10)
    before = blob_stems(local_uri)
    delete_rows(local_uri, f"key < {num_deleted}", {})
    plan = plan_compaction(open_table(local_uri), POLICY)
    assert bool(plan) == is_rewritten
    assert compact(local_uri, POLICY) == plan
    # The other fragment's blobs stay where they are in any case.
    assert len(blob_stems(local_uri) - before) == (1 if is_rewritten else 0)


def test_fragments_that_are_large_enough_are_left_alone_however_many(local_uri: str) -> None:
    for start in range(0, 40, 10):
        add_fragment(local_uri, start, 10)
    assert not compact(local_uri, POLICY)


@pytest.mark.parametrize(("num_small", "num_merged"), [(2, 0), (3, 3)])
def test_small_fragments_are_merged_once_there_are_enough(
    local_uri: str, num_small: int, num_merged: int
) -> None:
    for number in range(num_small):
        add_fragment(local_uri, number * 2, 2)
    assert compact(local_uri, POLICY).num_fragments == num_merged


def test_a_plan_says_how_many_bytes_are_written_again_and_writes_none(local_uri: str) -> None:
    for number in range(3):
        add_fragment(local_uri, number * 2, 2)
    version = open_table(local_uri).version
    plan = plan_compaction(open_table(local_uri), POLICY)
    groups = data_groups(open_table(local_uri)).values()
    assert plan.num_bytes == sum(group.size_bytes for group in groups) > 6000
    assert open_table(local_uri).version == version


def test_a_second_compaction_does_nothing(local_uri: str) -> None:
    for number in range(3):
        add_fragment(local_uri, number * 2, 2)
    assert compact(local_uri, POLICY)
    assert not compact(local_uri, POLICY)
