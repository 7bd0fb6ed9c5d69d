"""Tables made empty, with everything that Lance takes at creation only."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Literal

import lance

from robot_data_platform.errors import CommitConflictError, RobotDataError
from robot_data_platform.storage.attempts import tried
from robot_data_platform.storage.faults import store_errors
from robot_data_platform.storage.reach import check_reachable
from robot_data_platform.storage.table import BLOB_COLUMN, LakeTable, find_table, open_table
from robot_data_platform.storage.uri import storage_options

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

DATA_STORAGE_VERSION: Literal["2.2"] = "2.2"
"""Lance file format: the first with Blob v2, and the stable one of the pinned release."""


def create_table(uri: str, schema: pa.Schema, config: Mapping[str, str] | None = None) -> LakeTable:
    """Create an empty table, or find that there is one, and return it at its latest version.

    Two creators at once end with one table.

    Parameters
    ----------
    uri : str
        The table.
    schema : pyarrow.Schema
        Its columns; not compared with those of a table that is there.
    config : mapping of str to str, optional
        Lance table configuration, as `ensure_config` takes it.
    """
    check_reachable(uri)
    return tried(uri, lambda: _created(uri, schema, config or {}))


def _created(uri: str, schema: pa.Schema, config: Mapping[str, str]) -> LakeTable:
    try:
        with store_errors(uri):
            lance.write_dataset(
                schema.empty_table(),
                uri,
                schema=schema,
                mode="create",
                data_storage_version=DATA_STORAGE_VERSION,
                enable_stable_row_ids=True,
                storage_options=storage_options(uri),
            )
    except RobotDataError:
        if find_table(uri) is None:
            raise
    return ensure_config(open_table(uri), config)


def ensure_config(table: LakeTable, config: Mapping[str, str]) -> LakeTable:
    """Set the keys that the table's Lance configuration lacks; return the table with them.

    Creation and configuration are two commits: this mends a table whose creator died between.
    """
    held = table.lance.config()
    absent = {key: value for key, value in config.items() if key not in held}
    if not absent:
        return table
    # Where another writer was first, it set the same configuration, or the next caller does.
    with suppress(CommitConflictError), store_errors(table.uri):
        table.lance.update_config({**absent})
    return open_table(table.uri)


def with_blob_column(schema: pa.Schema) -> pa.Schema:
    """Return ``schema`` with the blob column, whose payloads go to packed sidecar files."""
    return schema.append(lance.blob_field(BLOB_COLUMN, inline_size_threshold=0))
