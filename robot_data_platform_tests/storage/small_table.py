"""A table of a few columns with which the tests of commits work."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pyarrow as pa

from robot_data_platform.core.schema import key_field, table_schema
from robot_data_platform.storage.commit import Committed, Guard, commit_fragments, write_rows
from robot_data_platform.storage.creation import create_table
from robot_data_platform.storage.predicate import equals
from robot_data_platform.storage.table import LakeTable, open_table

SCHEMA = table_schema(
    [
        key_field("key", pa.int64()),
        pa.field("upload", pa.string()),
        pa.field("score", pa.float64()),
    ]
)


def make_table(uri: str) -> LakeTable:
    return create_table(uri, SCHEMA)


def rows_of(keys: Iterable[int], upload: str) -> pa.Table:
    keys = list(keys)
    columns = {"key": keys, "upload": [upload] * len(keys), "score": [None] * len(keys)}
    return pa.table(columns, schema=SCHEMA)


def add(
    uri: str,
    keys: Iterable[int],
    upload: str,
    *,
    replace: bool = False,
    is_done: Guard | None = None,
    properties: Mapping[str, str] | None = None,
) -> Committed:
    """Write rows as a worker does and commit them as a driver does."""
    return commit_fragments(
        uri,
        write_rows(uri, SCHEMA, rows_of(keys, upload).to_batches()),
        properties=properties or {},
        is_done=is_done,
        replace=equals("upload", upload) if replace else None,
    )


def keys_by_upload(table: LakeTable) -> dict[str, list[int]]:
    """Return the keys of each upload, in storage order, doubles included."""
    found: dict[str, list[int]] = {}
    for row in table.read(["key", "upload"]).to_pylist():
        found.setdefault(row["upload"], []).append(row["key"])
    return found


def scores(table: LakeTable) -> dict[int, float]:
    """Return the score of each key that has one."""
    rows = table.read(["key", "score"], "score IS NOT NULL").to_pylist()
    return {row["key"]: row["score"] for row in rows}


def latest_keys(uri: str) -> dict[str, list[int]]:
    return keys_by_upload(open_table(uri))
