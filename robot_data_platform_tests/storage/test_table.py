from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest

from robot_data_platform.core.schema import (
    FORMAT_VERSION,
    FORMAT_VERSION_KEY,
    camera_facts_type,
    key_field,
    signal_statistics_type,
    table_schema,
    vector_field,
)
from robot_data_platform.errors import (
    ErrorKind,
    InvalidInputError,
    NotFoundError,
    StorageError,
)
from robot_data_platform.storage.commit import append_rows, commit_fragments, write_rows
from robot_data_platform.storage.compaction import compact
from robot_data_platform.storage.creation import create_table
from robot_data_platform.storage.predicate import equals
from robot_data_platform.storage.table import LakeTable, find_table, open_table
from robot_data_platform.storage.upkeep import delete_rows
from robot_data_platform_tests.storage.small_table import SCHEMA, add, make_table, rows_of


@pytest.fixture
def numbers(table_uri: str) -> LakeTable:
    """Ten rows in two fragments."""
    make_table(table_uri)
    add(table_uri, range(6), "a")
    add(table_uri, range(6, 10), "b")
    return open_table(table_uri)


def ids(*row_ids: int) -> npt.NDArray[np.uint64]:
    return np.array(row_ids, dtype=np.uint64)


def test_rows_are_read_in_storage_order_with_their_ids(numbers: LakeTable) -> None:
    rows = numbers.read(["key"], equals("upload", "b"), with_row_id=True)
    assert rows.to_pydict() == {"key": [6, 7, 8, 9], "_rowid": [6, 7, 8, 9]}


def test_batches_hold_what_a_read_holds(numbers: LakeTable) -> None:
    batches = list(numbers.batches(["key", "upload"]))
    assert pa.Table.from_batches(batches).equals(numbers.read(["key", "upload"]))


def test_counting_counts_all_rows_or_those_of_a_predicate(numbers: LakeTable) -> None:
    assert (numbers.count_rows(), numbers.count_rows(equals("upload", "a"))) == (10, 6)


def test_taken_rows_come_in_the_order_asked_for_with_repeats(numbers: LakeTable) -> None:
    taken = numbers.take(ids(7, 0, 7, 3), ["upload", "key"])
    assert taken.to_pydict() == {"upload": ["b", "a", "b", "a"], "key": [7, 0, 7, 3]}


def test_taking_no_row_gives_no_row(numbers: LakeTable) -> None:
    assert numbers.take(ids(), ["key"]).num_rows == 0


@pytest.mark.parametrize("missing", [3, 999], ids=["deleted", "never there"])
def test_taking_a_row_that_is_not_there_is_an_error(numbers: LakeTable, missing: int) -> None:
    delete_rows(numbers.uri, equals("key", 3), {})
    with pytest.raises(StorageError, match=r"returned 1 rows for 2 row ids") as caught:
        open_table(numbers.uri).take(ids(0, missing), ["key"])
    assert caught.value.facts["expected"] == 2


def test_a_column_that_is_not_there_is_told_with_those_that_are(numbers: LakeTable) -> None:
    said = r"numbers\.lance.*no column \['nope'\].*\['key', 'upload', 'score'\]"
    with pytest.raises(NotFoundError, match=said) as caught:
        numbers.take(ids(0), ["key", "nope"])
    assert caught.value.kind is ErrorKind.COLUMN_NOT_FOUND


def test_reading_or_filtering_by_a_column_that_is_not_there_is_told(numbers: LakeTable) -> None:
    for columns, where in ((["nope"], None), (["key"], equals("nope", 1))):
        with pytest.raises(NotFoundError, match="nope") as caught:
            numbers.read(columns, where)
        assert caught.value.kind is ErrorKind.COLUMN_NOT_FOUND


def test_a_filter_that_is_no_filter_is_refused(numbers: LakeTable) -> None:
    with pytest.raises(InvalidInputError, match=r"numbers\.lance") as caught:
        numbers.count_rows("key = = 1")
    assert caught.value.kind is ErrorKind.INVALID_ARGUMENT


def test_a_tag_names_a_version(numbers: LakeTable) -> None:
    numbers.add_tag("rel-v1")
    add(numbers.uri, [10], "c")
    assert open_table(numbers.uri, "rel-v1").version == numbers.version
    assert open_table(numbers.uri).tags() == {"rel-v1": numbers.version}


def test_tagging_the_same_version_again_does_nothing(numbers: LakeTable) -> None:
    numbers.add_tag("rel-v1")
    numbers.add_tag("rel-v1")
    assert numbers.tags() == {"rel-v1": numbers.version}


def test_a_tag_never_moves(numbers: LakeTable) -> None:
    numbers.add_tag("rel-v1")
    add(numbers.uri, [10], "c")
    with pytest.raises(InvalidInputError, match=rf"'rel-v1'.*holds version {numbers.version}") as e:
        open_table(numbers.uri).add_tag("rel-v1")
    assert e.value.kind is ErrorKind.ALREADY_EXISTS
    assert numbers.tags() == {"rel-v1": numbers.version}


def test_a_tag_that_lance_refuses_is_an_error(numbers: LakeTable) -> None:
    with pytest.raises(StorageError, match=r"numbers\.lance.*dot"):
        numbers.add_tag("rel-v1.")


@pytest.mark.parametrize("version", [None, 3, "rel-v1"])
def test_a_table_that_is_not_there_is_told_and_found_to_be_none(
    root: str, version: int | str | None
) -> None:
    uri = f"{root}/none.lance"
    with pytest.raises(NotFoundError, match=r"none\.lance") as caught:
        open_table(uri, version)
    assert caught.value.kind is ErrorKind.TABLE_NOT_FOUND
    assert find_table(uri, version) is None


@pytest.mark.parametrize("version", [99, "rel-v9"])
def test_a_version_that_is_not_there_is_told_and_not_taken_for_no_table(
    numbers: LakeTable, version: int | str
) -> None:
    for look_up in (open_table, find_table):
        with pytest.raises(NotFoundError, match=rf"version '?{version}'?: its latest is 3") as e:
            look_up(numbers.uri, version)
        assert e.value.kind is ErrorKind.VERSION_NOT_FOUND


def test_a_table_of_a_later_lake_format_is_refused(local_uri: str) -> None:
    later = SCHEMA.with_metadata({FORMAT_VERSION_KEY: str(FORMAT_VERSION + 1)})
    with pytest.raises(StorageError, match=r"numbers\.lance.*format 2: expected at most 1") as e:
        create_table(local_uri, later)
    assert e.value.kind is ErrorKind.NEWER_FORMAT_VERSION


def test_a_table_whose_lance_features_are_unknown_is_refused(local_uri: str) -> None:
    make_table(local_uri)
    latest = min(Path(local_uri, "_versions").glob("*.manifest"))
    plain, later = b"H\x02P\x02", b"H\x42P\x42"  # feature flags: stable row ids; and overlays
    manifest = latest.read_bytes()
    assert manifest.count(plain) == 1
    latest.write_bytes(manifest.replace(plain, later))
    with pytest.raises(StorageError, match=r"numbers\.lance.*newer release") as caught:
        open_table(local_uri)
    assert caught.value.kind is ErrorKind.NEWER_FORMAT_VERSION


def test_a_vector_that_is_null_stays_null_and_one_of_nans_stays_nan(local_uri: str) -> None:
    vector = vector_field("observation_state", 3)
    schema = table_schema([key_field("key", pa.int64()), vector])
    values = [[1.0, 2.5, -0.0], None, [float("nan")] * 3, [1.0, None, 3.0], None]
    rows = pa.table({"key": range(5), "observation_state": values}, schema=schema)
    create_table(local_uri, schema)
    append_rows(local_uri, rows.slice(0, 2), properties={})
    append_rows(local_uri, rows.slice(2), properties={})
    compact(local_uri)
    table = open_table(local_uri)
    for found in (table.read(), table.take(ids(*range(5)), ["key", "observation_state"])):
        assert repr(found["observation_state"].to_pylist()) == repr(values)
    assert table.schema.field("observation_state").type == vector.type


def test_lists_of_structs_come_back_with_nulls_and_empty_ones_apart(table_uri: str) -> None:
    schema = table_schema(
        [
            key_field("key", pa.int64()),
            pa.field("cameras", camera_facts_type()),
            pa.field("statistics", signal_statistics_type()),
        ]
    )
    camera = {field.name: None for field in camera_facts_type().value_type}
    top = {**camera, "name": "top", "ref_id": 2**40, "num_frames": 3, "fps": 29.97}
    signal = {"signal": "action", "count": 3, "num_not_finite": 0, "min": [0.5, -1.0]}
    signal |= {"max": [], "mean": None, "std": [None, 2.0]}
    cells = [([top, camera], [signal]), ([], []), (None, None), ([top], [signal, signal])]
    rows = [{"key": k, "cameras": c, "statistics": s} for k, (c, s) in enumerate(cells)]
    create_table(table_uri, schema)
    append_rows(table_uri, pa.Table.from_pylist(rows, schema=schema), properties={})
    table = open_table(table_uri)
    assert table.read().to_pylist() == rows
    assert table.take(ids(3, 1), ["cameras"])["cameras"].to_pylist() == [[top], []]


def test_rows_are_streamed_into_as_many_files_as_asked_for(local_uri: str) -> None:
    make_table(local_uri)
    batches = itertools.chain.from_iterable(
        rows_of(range(10 * n, 10 * n + 10), "a").to_batches() for n in range(10)
    )
    fragments = write_rows(local_uri, SCHEMA, batches, max_rows_per_file=30)
    assert len(fragments) == 4
    commit_fragments(local_uri, fragments, properties={})
    assert open_table(local_uri).read(["key"])["key"].to_pylist() == list(range(100))
