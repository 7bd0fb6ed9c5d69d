from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa

from robot_data_platform.storage.commit import append_built
from robot_data_platform.storage.predicate import equals
from robot_data_platform.storage.table import LakeTable, open_table
from robot_data_platform_tests.soak.seams import before_commit
from robot_data_platform_tests.storage.small_table import add, make_table


def replaced_by_the_next_key(uri: str) -> Callable[[str], None]:
    def replace(upload: str) -> None:
        def row_at(table: LakeTable) -> pa.Table:
            key = max(table.read(["key"])["key"].to_pylist()) + 1
            return pa.table({"key": pa.array([key], pa.int64()), "upload": [upload]})

        append_built(uri, row_at, properties={}, replace=equals("upload", upload))

    return replace


def test_two_that_replace_rows_of_different_fragments_at_once_never_get_one_key(
    tmp_path: Path,
) -> None:
    uri = str(tmp_path / "numbers.lance")
    make_table(uri)
    add(uri, range(1), "a")
    add(uri, range(1, 2), "b")
    replace = replaced_by_the_next_key(uri)
    with before_commit(0, lambda: replace("b")):
        replace("a")
    rows = open_table(uri).read(["key", "upload"]).to_pylist()
    assert {row["upload"]: row["key"] for row in rows} == {"b": 2, "a": 3}
