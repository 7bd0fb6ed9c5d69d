"""A reader at one version sees nothing of what happens to the table after."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import numpy as np
import pyarrow as pa
import pytest

from robot_data_platform.errors import ErrorKind, NotFoundError
from robot_data_platform.storage.commit import grow_schema, rewrite_columns
from robot_data_platform.storage.compaction import compact
from robot_data_platform.storage.predicate import equals
from robot_data_platform.storage.retention import clean_up
from robot_data_platform.storage.table import LakeTable, open_table
from robot_data_platform.storage.upkeep import delete_rows
from robot_data_platform_tests.storage.small_table import add, make_table

KEYS = range(6)


def swap(uri: str) -> None:
    add(uri, [100], "a", replace=True)


def rewrite(uri: str) -> None:
    scores = pa.table({"key": [0, 4], "score": [1.0, 2.0]})
    rewrite_columns(uri, scores, key="key", properties={})


def grow(uri: str) -> None:
    grow_schema(uri, [pa.field("one", pa.int64())], {"rdp.one": "there"})


def delete(uri: str) -> None:
    delete_rows(uri, equals("upload", "b"), {})


CHANGES: list[Callable[[str], object]] = [swap, rewrite, grow, delete, compact]


@pytest.fixture
def pinned(table_uri: str) -> LakeTable:
    """A table of two uploads in three fragments, at the version that has them."""
    make_table(table_uri)
    for keys, upload in (([0, 1, 2], "a"), ([3, 4], "b"), ([5], "a")):
        add(table_uri, keys, upload)
    return open_table(table_uri)


def seen(table: LakeTable) -> tuple[pa.Schema, pa.Table, pa.Table]:
    ids = np.array([4, 0, 4], dtype=np.uint64)
    return table.schema, table.read(with_row_id=True), table.take(ids, ["key", "upload"])


@pytest.mark.parametrize("change", CHANGES)
def test_an_open_table_does_not_move(pinned: LakeTable, change: Callable[[str], object]) -> None:
    before, version = seen(pinned), pinned.version
    change(pinned.uri)
    assert open_table(pinned.uri).version > version
    assert (seen(pinned), pinned.version) == (before, version)


@pytest.mark.parametrize("change", CHANGES)
def test_a_version_opened_later_is_what_it_was(
    pinned: LakeTable, change: Callable[[str], object]
) -> None:
    before = seen(pinned)
    change(pinned.uri)
    assert seen(open_table(pinned.uri, pinned.version)) == before


def test_a_tagged_version_outlives_every_change_and_a_clean_up(pinned: LakeTable) -> None:
    before = seen(pinned)
    pinned.add_tag("rel-v1")
    for change in CHANGES:
        change(pinned.uri)
    assert clean_up(pinned.uri, timedelta(0)).num_versions > 0
    assert seen(open_table(pinned.uri, "rel-v1")) == before
    assert seen(open_table(pinned.uri, pinned.version)) == before


def test_an_untagged_version_is_gone_after_a_clean_up(pinned: LakeTable) -> None:
    swap(pinned.uri)
    clean_up(pinned.uri, timedelta(0))
    with pytest.raises(
        NotFoundError, match=rf"has no version {pinned.version}: .*latest"
    ) as caught:
        open_table(pinned.uri, pinned.version)
    assert caught.value.kind is ErrorKind.VERSION_NOT_FOUND
    assert sorted(open_table(pinned.uri).read(["key"])["key"].to_pylist()) == [3, 4, 100]
