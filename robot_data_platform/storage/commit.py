"""Commits: every change of a table is one compare-and-swap on its version.

On a conflict the table is read again, the guard asked again, and the change built again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from lance.fragment import FragmentMetadata, write_fragments

from robot_data_platform.errors import ErrorKind, InvalidInputError, RobotDataError
from robot_data_platform.storage.attempts import tried
from robot_data_platform.storage.condemned import refuse_condemned
from robot_data_platform.storage.faults import store_errors
from robot_data_platform.storage.operations import (
    Operation,
    addition,
    column_rewrite,
    exchange,
    mark_deleted,
    replacement,
)
from robot_data_platform.storage.predicate import in_range
from robot_data_platform.storage.reach import check_reachable
from robot_data_platform.storage.swap import Committed as Committed
from robot_data_platform.storage.swap import Guard as Guard
from robot_data_platform.storage.swap import compare_and_swap
from robot_data_platform.storage.table import LakeTable, open_table
from robot_data_platform.storage.uri import storage_options

if TYPE_CHECKING:
    import lance


def write_rows(
    uri: str, schema: pa.Schema, batches: Iterable[pa.RecordBatch], max_rows_per_file: int = 1 << 20
) -> list[str]:
    """Write rows as fragments that no version names yet; return them as JSON.

    Runs in any process; memory holds a batch at a time. No rows, no fragments. What ``batches``
    raises comes through as it was raised.
    """
    check_reachable(uri)
    raised: list[Exception] = []
    reader = pa.RecordBatchReader.from_batches(schema, _noting(batches, raised))
    try:
        with store_errors(uri):
            fragments = write_fragments(
                reader,
                uri,
                schema=schema,
                mode="append",
                max_rows_per_file=max_rows_per_file,
                storage_options=storage_options(uri),
            )
    except RobotDataError:
        if raised:
            raise raised[0] from None
        raise
    return [json.dumps(fragment.to_json()) for fragment in fragments]


def _noting(batches: Iterable[pa.RecordBatch], raised: list[Exception]) -> Iterator[pa.RecordBatch]:
    """Yield the batches; note what stops them, of which Lance passes on no more than a text."""
    try:
        yield from batches
    except Exception as err:
        raised.append(err)
        raise


def commit_fragments(
    uri: str,
    fragments: Sequence[str],
    *,
    properties: Mapping[str, str],
    is_done: Guard | None = None,
    replace: str | None = None,
) -> Committed:
    """Make written fragments visible in one commit, unless the guard says they are.

    With no fragments, and no rows to replace, nothing is written.

    Parameters
    ----------
    uri : str
        The table.
    fragments : sequence of str
        What `write_rows` returned, from any number of workers.
    properties : mapping of str to str
        Kept with the commit: run, asset, partition, code version.
    is_done : callable, optional
        Guard against a second commit of the same change.
    replace : str, optional
        Predicate of rows that leave the table in the same commit.

    Raises
    ------
    CommitConflictError
        ``commit-conflict``: other writers won too many times in a row.
    StorageError
        ``store-failed``: maintenance took the fragments for those of a dead task.
    """

    def build(table: LakeTable) -> Operation | None:
        new = [FragmentMetadata.from_json(text) for text in fragments]
        refuse_condemned(table, new)
        deletion = mark_deleted(table, replace) if replace else None
        if deletion:
            return replacement(deletion, new)
        return addition(table, new) if new else None

    return compare_and_swap(uri, build, properties, is_done)


def append_rows(
    uri: str, rows: pa.Table, *, properties: Mapping[str, str], is_done: Guard | None = None
) -> Committed:
    """Append a small table of rows in one commit, unless the guard says they are there."""
    return append_built(uri, lambda _: rows, properties=properties, is_done=is_done)


def append_built(
    uri: str,
    rows_at: Callable[[LakeTable], pa.Table],
    *,
    properties: Mapping[str, str],
    is_done: Guard | None = None,
    replace: str | None = None,
) -> Committed:
    """Append rows that depend on what the table holds; on a conflict they are made again.

    Rows for which the predicate ``replace`` holds leave the table in the same commit.
    """

    def build(table: LakeTable) -> Operation | None:
        rows = rows_at(table)
        schema = pa.schema([table.schema.field(name) for name in rows.column_names])
        written = write_rows(uri, schema, rows.cast(schema).to_batches())
        new = [FragmentMetadata.from_json(text) for text in written]
        deletion = mark_deleted(table, replace) if replace else None
        if deletion:
            return exchange(table, deletion, new)
        return addition(table, new) if new else None

    return compare_and_swap(uri, build, properties, is_done)


def rewrite_columns(
    uri: str, rows: pa.Table, *, key: str, properties: Mapping[str, str]
) -> Committed:
    """Set some columns of existing rows, found by ``key``, in one commit; other bytes stay.

    Where every row has these values already, nothing is written.

    Parameters
    ----------
    uri : str
        The table.
    rows : pyarrow.Table
        The key column and the columns to set; keys that the table lacks are ignored.
    key : str
        A column whose values are unique in the table and in ``rows``.
    properties : mapping of str to str
        Kept with the commit.
    """

    def build(table: LakeTable) -> lance.Transaction | None:
        schema = pa.schema([table.schema.field(name) for name in rows.column_names])
        new = _changing(table, rows.cast(schema), key)
        return column_rewrite(table, new, key) if new.num_rows else None

    return compare_and_swap(uri, build, properties, None)


def _changing(table: LakeTable, rows: pa.Table, key: str) -> pa.Table:
    """Return the rows whose key the table has, or none where it has them as they are."""
    held = table.read(rows.column_names, _where_keys(rows[key], key))
    at = pc.index_in(rows[key], value_set=held[key])
    known = rows.filter(at.is_valid())
    same = held.take(at.drop_null())
    return known.slice(0, 0) if known.equals(same) else known


def _where_keys(keys: pa.ChunkedArray, name: str) -> str | None:
    """Return a predicate that holds for the rows of some keys, and for few others."""
    if not len(keys) or not pa.types.is_integer(keys.type):
        return None
    ends = pc.min_max(keys).as_py()
    return in_range(name, ends["min"], ends["max"] + 1)


def grow_schema(uri: str, fields: Sequence[pa.Field], metadata: Mapping[str, str]) -> LakeTable:
    """Add columns that the table lacks, null in every row it has, and return the latest version.

    Columns and metadata are two commits; a second call makes whichever is missing.

    Parameters
    ----------
    uri : str
        The table.
    fields : sequence of pyarrow.Field
        Columns to have; they are added as nullable, with their own metadata.
    metadata : mapping of str to str
        Entries of the schema's metadata to set; others stay.

    Raises
    ------
    InvalidInputError
        ``shape-mismatch``: a column is there with another type.
    """

    def grow() -> LakeTable:
        table = open_table(uri)
        missing = missing_fields(table, fields)
        stale = {k: v for k, v in metadata.items() if table.metadata.get(k) != v}
        if not missing and not stale:
            return table
        with store_errors(uri):
            if missing:
                table.lance.add_columns(pa.schema([f.with_nullable(True) for f in missing]))
            if stale:
                table.lance.update_schema_metadata({**stale})
        return open_table(uri)

    return tried(uri, grow)


def set_metadata(uri: str, entries: Callable[[Mapping[str, str]], Mapping[str, str]]) -> LakeTable:
    """Set entries of a table's schema metadata, worked out from those it has; return the latest.

    Parameters
    ----------
    uri : str
        The table.
    entries : callable
        Returns what to set, given what there is; nothing is written where it returns nothing.
        Called again where another writer was first.
    """

    def set_entries() -> LakeTable:
        table = open_table(uri)
        new = entries(table.metadata)
        if not new:
            return table
        with store_errors(uri):
            table.lance.update_schema_metadata({**new})
        return open_table(uri)

    return tried(uri, set_entries)


def missing_fields(table: LakeTable, fields: Sequence[pa.Field]) -> list[pa.Field]:
    """Return the fields that the table lacks.

    Raises
    ------
    InvalidInputError
        ``shape-mismatch``: a field is there with another type; the message names both.
    """
    missing = []
    for field in fields:
        if field.name not in table.schema.names:
            missing.append(field)
        elif table.schema.field(field.name).type != field.type:
            raise _other_type(table, field)
    return missing


def _other_type(table: LakeTable, field: pa.Field) -> InvalidInputError:
    held = table.schema.field(field.name).type
    return InvalidInputError(
        f"Column {field.name!r} of {table.uri!r} has type {held}: got {field.type} from this "
        "upload. Upload it to another dataset, or correct the recording's layout.",
        kind=ErrorKind.SHAPE_MISMATCH,
        column=field.name,
        expected=str(held),
        got=str(field.type),
    )
