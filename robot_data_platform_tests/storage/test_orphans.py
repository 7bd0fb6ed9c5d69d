from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from robot_data_platform.core.schema import key_field, table_schema
from robot_data_platform.errors import StorageError
from robot_data_platform.storage.commit import commit_fragments, write_rows
from robot_data_platform.storage.creation import create_table, with_blob_column
from robot_data_platform.storage.orphans import find_orphans, remove_orphans
from robot_data_platform.storage.table import LakeTable, blob_array, open_table
from robot_data_platform.storage.table_files import data_groups
from robot_data_platform.storage.upkeep import delete_rows
from robot_data_platform_tests.storage.small_table import (
    SCHEMA,
    add,
    latest_keys,
    make_table,
    rows_of,
)

AFTER_ALL_US = 1 << 62


def left_behind(uri: str, keys: list[int]) -> list[str]:
    """Write rows as a task does that dies before its commit."""
    return write_rows(uri, SCHEMA, rows_of(keys, "dead").to_batches())


def sizes(table: LakeTable) -> dict[str, int]:
    return {stem: group.size_bytes for stem, group in data_groups(table).items()}


def test_what_no_version_names_is_removed_and_nothing_else(table_uri: str) -> None:
    make_table(table_uri)
    add(table_uri, [0, 1], "a")
    before = sizes(open_table(table_uri))
    left_behind(table_uri, [7, 8])
    removed = remove_orphans(table_uri, AFTER_ALL_US, {})
    assert len(removed) == 1
    assert removed[0].size_bytes > 0
    assert sizes(open_table(table_uri)) == before
    assert latest_keys(table_uri) == {"a": [0, 1]}


def test_what_only_an_old_version_names_stays(table_uri: str) -> None:
    make_table(table_uri)
    add(table_uri, [0, 1], "a")
    pinned = open_table(table_uri)
    delete_rows(table_uri, "key >= 0", {})
    assert remove_orphans(table_uri, AFTER_ALL_US, {}) == []
    assert pinned.read(["key"])["key"].to_pylist() == [0, 1]


def test_what_was_written_within_the_grace_stays(table_uri: str) -> None:
    make_table(table_uri)
    left_behind(table_uri, [7])
    (group,) = data_groups(open_table(table_uri)).values()
    version = open_table(table_uri).version
    assert remove_orphans(table_uri, group.newest_us, {}) == []
    assert open_table(table_uri).version == version


def test_a_plan_removes_nothing(table_uri: str) -> None:
    table = make_table(table_uri)
    left_behind(table_uri, [7])
    before = sizes(table)
    assert [group.size_bytes for group in find_orphans(table, AFTER_ALL_US)] == [*before.values()]
    assert sizes(table) == before


def test_a_commit_that_comes_too_late_is_refused_and_done_again_is_whole(table_uri: str) -> None:
    make_table(table_uri)
    fragments = left_behind(table_uri, [7])
    assert remove_orphans(table_uri, AFTER_ALL_US, {})
    with pytest.raises(StorageError, match="Run the step again"):
        commit_fragments(table_uri, fragments, properties={})
    assert latest_keys(table_uri) == {}
    later = written_later(table_uri, [7])
    commit_fragments(table_uri, later, properties={})
    assert latest_keys(table_uri) == {"dead": [7]}


def written_later(uri: str, keys: list[int]) -> list[str]:
    """Write rows until the store's clock, which may count whole seconds, has moved on."""
    until = int(open_table(uri).metadata["rdp.condemned_until_us"])
    while True:
        known = set(data_groups(open_table(uri)))
        fragments = left_behind(uri, keys)
        new = [g for s, g in data_groups(open_table(uri)).items() if s not in known]
        if all(group.oldest_us > until for group in new):
            return fragments


@pytest.mark.parametrize("moment", ["before the mark", "between mark and fence", "after the fence"])
def test_a_commit_in_flight_is_kept_or_refused_but_never_half_removed(
    local_uri: str, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    make_table(local_uri)
    fragments = left_behind(local_uri, [7])
    ends: list[str] = []

    def publish() -> None:
        try:
            commit_fragments(local_uri, fragments, properties={})
            ends.append("kept")
        except StorageError:
            ends.append("refused")

    patch_collector(monkeypatch, moment, publish)
    remove_orphans(local_uri, AFTER_ALL_US, {})
    assert ends == (["kept"] if moment == "before the mark" else ["refused"])
    assert latest_keys(local_uri) == ({"dead": [7]} if ends == ["kept"] else {})


def patch_collector(monkeypatch: pytest.MonkeyPatch, moment: str, act: object) -> None:
    """Call ``act`` once in the middle of a collection."""
    from robot_data_platform.storage import orphans

    name = "set_metadata" if moment == "before the mark" else "fence"
    original = getattr(orphans, name)

    def around(*arguments: object) -> object:
        assert callable(act)
        if moment != "after the fence":
            act()
        done = original(*arguments)
        if moment == "after the fence":
            act()
        return done

    monkeypatch.setattr(orphans, name, around)


def test_a_commit_that_read_the_table_before_the_collection_is_refused(
    local_uri: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_table(local_uri)
    fragments = left_behind(local_uri, [7])
    collected: list[int] = []

    def guard(table: LakeTable) -> bool:
        # The collector runs whole between the publisher's look at the table and its commit.
        if not collected:
            collected.append(len(remove_orphans(local_uri, AFTER_ALL_US, {})))
        return False

    with pytest.raises(StorageError, match="Run the step again"):
        commit_fragments(local_uri, fragments, properties={}, is_done=guard)
    assert collected == [1]
    assert latest_keys(local_uri) == {}


def test_blobs_of_a_dead_task_go_with_its_data_file(table_uri: str) -> None:
    schema = with_blob_column(table_schema([key_field("key", pa.int64())]))
    table = create_table(table_uri, schema)

    def batch(key: int) -> list[pa.RecordBatch]:
        columns = [pa.array([key]), blob_array([bytes([key]) * 5000])]
        return list(pa.Table.from_arrays(columns, schema=table.schema).to_batches())

    kept = write_rows(table_uri, table.schema, batch(1))
    commit_fragments(table_uri, kept, properties={})
    write_rows(table_uri, table.schema, batch(2))
    (removed,) = remove_orphans(table_uri, AFTER_ALL_US, {})
    assert removed.size_bytes > 5000
    assert {Path(file.path).suffix for file in removed.files} == {".blob", ".lance"}
    left = open_table(table_uri)
    assert len(data_groups(left)) == 1
    ids = left.read(["key"], with_row_id=True)["_rowid"].to_numpy().astype(np.uint64)
    assert left.read_blobs(ids) == [b"\x01" * 5000]


def test_a_task_that_still_writes_its_second_file_is_left_alone(local_uri: str) -> None:
    schema = with_blob_column(table_schema([key_field("key", pa.int64())]))
    table = create_table(local_uri, schema)
    columns = [pa.array([1]), blob_array([b"x" * 5000])]
    rows = pa.Table.from_arrays(columns, schema=table.schema)
    write_rows(local_uri, table.schema, rows.to_batches())
    (blob,) = Path(local_uri).rglob("*.blob")
    os.utime(blob, (0, 0))
    (group,) = data_groups(table).values()
    assert find_orphans(table, group.newest_us) == []
