from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from robot_data_platform.errors import (
    CommitConflictError,
    DataFaultError,
    ErrorKind,
    NotFoundError,
)
from robot_data_platform.storage import attempts as attempts_module
from robot_data_platform.storage.commit import (
    Committed,
    append_built,
    append_rows,
    commit_fragments,
    rewrite_columns,
    write_rows,
)
from robot_data_platform.storage.predicate import equals
from robot_data_platform.storage.swap import COMMIT_KEY
from robot_data_platform.storage.table import LakeTable, open_table
from robot_data_platform_tests.storage.racing import holds
from robot_data_platform_tests.storage.small_table import (
    SCHEMA,
    add,
    keys_by_upload,
    latest_keys,
    make_table,
    rows_of,
    scores,
)


def test_written_rows_show_only_after_their_commit(table_uri: str) -> None:
    make_table(table_uri)
    fragments = write_rows(table_uri, SCHEMA, rows_of(range(3), "a").to_batches())
    assert latest_keys(table_uri) == {}
    commit_fragments(table_uri, fragments, properties={})
    assert latest_keys(table_uri) == {"a": [0, 1, 2]}


def test_fragments_of_several_workers_become_one_version(table_uri: str) -> None:
    before = make_table(table_uri).version
    parts = [rows_of([k], "a").to_batches() for k in range(3)]
    fragments = [f for part in parts for f in write_rows(table_uri, SCHEMA, part)]
    committed = commit_fragments(table_uri, fragments, properties={})
    assert (committed.version, committed.is_new) == (before + 1, True)
    assert latest_keys(table_uri) == {"a": [0, 1, 2]}


def test_a_change_that_the_guard_finds_done_writes_nothing(table_uri: str) -> None:
    make_table(table_uri)
    first = add(table_uri, [1], "a", is_done=holds("a"))
    again = add(table_uri, [1], "a", is_done=holds("a"))
    assert (again.version, again.is_new) == (first.version, False)
    assert open_table(table_uri).version == first.version


def test_the_same_fragments_committed_again_under_a_guard_are_there_once(local_uri: str) -> None:
    make_table(local_uri)
    fragments = write_rows(local_uri, SCHEMA, rows_of([1], "a").to_batches())
    for _ in range(2):
        commit_fragments(local_uri, fragments, properties={}, is_done=holds("a"))
    assert latest_keys(local_uri) == {"a": [1]}


def test_replacing_swaps_one_upload_and_leaves_the_others(table_uri: str) -> None:
    make_table(table_uri)
    append_rows(
        table_uri, pa.concat_tables([rows_of([1, 2], "a"), rows_of([3], "b")]), properties={}
    )
    before = add(table_uri, [4], "a").version
    committed = add(table_uri, [5, 6], "a", replace=True)
    assert committed.version == before + 1
    assert latest_keys(table_uri) == {"b": [3], "a": [5, 6]}


def test_replacing_rows_that_are_not_there_adds_the_new_ones(local_uri: str) -> None:
    make_table(local_uri)
    add(local_uri, [1], "a", replace=True)
    assert latest_keys(local_uri) == {"a": [1]}


def test_replacing_with_nothing_removes_the_rows(local_uri: str) -> None:
    make_table(local_uri)
    add(local_uri, [1], "a")
    committed = commit_fragments(local_uri, [], properties={}, replace=equals("upload", "a"))
    assert committed.is_new
    assert latest_keys(local_uri) == {}


def test_nothing_to_add_and_nothing_to_replace_makes_no_version(local_uri: str) -> None:
    version = make_table(local_uri).version
    assert write_rows(local_uri, SCHEMA, []) == []
    empty = commit_fragments(local_uri, [], properties={}, replace=equals("upload", "a"))
    assert (empty.version, empty.is_new) == (version, False)
    assert not append_rows(local_uri, SCHEMA.empty_table(), properties={}).is_new
    assert open_table(local_uri).version == version


@pytest.mark.parametrize("replace", [False, True])
def test_a_commit_says_who_made_it(table_uri: str, *, replace: bool) -> None:
    make_table(table_uri)
    add(table_uri, [1], "a")
    properties = {"rdp.run_id": "run-7", "rdp.partition": "ünïcode 'quoted'"}
    committed = add(table_uri, [2], "a", replace=replace, properties=properties)
    told = open_table(table_uri, committed.version).transaction_properties()
    assert {name: told[name] for name in told if name != COMMIT_KEY} == properties


def test_stable_row_ids_are_unique_and_stay_with_their_rows(local_uri: str) -> None:
    make_table(local_uri)
    add(local_uri, [1, 2], "a")
    before = row_id_by_key(open_table(local_uri))
    add(local_uri, [3], "b")
    add(local_uri, [4], "b", replace=True)
    rewrite_columns(local_uri, pa.table({"key": [1], "score": [0.5]}), key="key", properties={})
    after = row_id_by_key(open_table(local_uri))
    assert {key: after[key] for key in before} == before
    assert len(set(after.values())) == len(after) == 3


def row_id_by_key(table: LakeTable) -> dict[int, int]:
    rows = table.read(["key"], with_row_id=True).to_pylist()
    return {row["key"]: row["_rowid"] for row in rows}


def test_an_append_rests_on_what_the_table_holds(local_uri: str) -> None:
    make_table(local_uri)

    def next_key(table: LakeTable) -> pa.Table:
        held = table.read(["key"])["key"].to_pylist()
        return rows_of([max(held, default=-1) + 1], "a")

    for _ in range(3):
        append_built(local_uri, next_key, properties={})
    assert latest_keys(local_uri) == {"a": [0, 1, 2]}


def test_rows_of_another_order_and_number_width_fit_the_columns(local_uri: str) -> None:
    make_table(local_uri)
    rows = pa.table({"score": pa.array([0.25], pa.float32()), "key": pa.array([7], pa.int32())})
    append_rows(local_uri, rows, properties={})
    found = open_table(local_uri).read().to_pylist()
    assert found == [{"key": 7, "upload": None, "score": 0.25}]


def test_rewriting_columns_changes_the_named_rows_and_columns_alone(table_uri: str) -> None:
    make_table(table_uri)
    add(table_uri, range(4), "a")
    new = pa.table({"key": [2, 0, 99], "score": [2.5, 0.5, 9.0]})
    committed = rewrite_columns(table_uri, new, key="key", properties={"rdp.asset": "quality"})
    table = open_table(table_uri)
    assert scores(table) == {0: 0.5, 2: 2.5}
    assert keys_by_upload(table) == {"a": [0, 1, 2, 3]}
    told = open_table(table_uri, committed.version).transaction_properties()
    assert told["rdp.asset"] == "quality"


@pytest.mark.parametrize("keys", [[0, 1], [1], [99], []], ids=["all", "some", "unknown", "none"])
def test_rewriting_columns_to_what_they_are_writes_nothing(local_uri: str, keys: list[int]) -> None:
    make_table(local_uri)
    add(local_uri, range(3), "a")
    score = pa.table({"key": pa.array([0, 1]), "score": pa.array([0.5, None], pa.float64())})
    version = rewrite_columns(local_uri, score, key="key", properties={}).version
    again = score.filter(pc.is_in(score["key"], pa.array(keys, pa.int64())))
    assert rewrite_columns(local_uri, again, key="key", properties={}) == (
        Committed(version, is_new=False)
    )


def test_what_the_rows_raise_comes_through_as_it_was(local_uri: str) -> None:
    make_table(local_uri)

    def broken() -> Iterator[pa.RecordBatch]:
        yield from rows_of([1], "a").to_batches()
        raise DataFaultError("Frame 3 can't be read.", kind=ErrorKind.VIDEO_UNREADABLE, frame=3)

    with pytest.raises(DataFaultError, match=r"^Frame 3 can't be read\.$") as caught:
        write_rows(local_uri, SCHEMA, broken())
    assert caught.value.facts == {"frame": 3}
    assert latest_keys(local_uri) == {}


def test_a_commit_to_a_table_that_is_not_there_says_so(tmp_path: object) -> None:
    uri = f"{tmp_path}/none.lance"
    with pytest.raises(NotFoundError, match=r"none\.lance") as caught:
        append_rows(uri, rows_of([1], "a"), properties={})
    assert caught.value.kind is ErrorKind.TABLE_NOT_FOUND


def test_a_writer_that_always_loses_gives_up(
    local_uri: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_table(local_uri)
    monkeypatch.setattr(attempts_module, "MAX_CONFLICTS", 3)
    attempts = []

    def overtaken(table: LakeTable) -> pa.Table:
        attempts.append(table.version)
        add(local_uri, [len(attempts)], "other")
        return rows_of([99], "mine")

    with pytest.raises(CommitConflictError, match=r"numbers\.lance.* 3 times in a row") as caught:
        append_built(local_uri, overtaken, properties={})
    assert caught.value.kind is ErrorKind.COMMIT_CONFLICT
    assert attempts == [1, 2, 3]
    assert latest_keys(local_uri) == {"other": [1, 2, 3]}


def test_a_writer_that_lost_asks_its_guard_again(local_uri: str) -> None:
    make_table(local_uri)

    def overtaken(_: LakeTable) -> pa.Table:
        add(local_uri, [1], "a")
        return rows_of([1], "a")

    committed = append_built(local_uri, overtaken, properties={}, is_done=holds("a"))
    assert not committed.is_new
    assert latest_keys(local_uri) == {"a": [1]}
