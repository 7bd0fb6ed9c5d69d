"""Commits: every change of a table is one compare-and-swap on its version.

Lance rebases an append over other appends, so committing the same fragments twice doubles rows.
A ``Merge`` operation conflicts with every commit made since the version it was built on; rows are
therefore added as the complete list of fragments of the next version. Rows are replaced by an
``Update``, which conflicts with whoever touched the same fragments. On a conflict the table is
read again, the guard asked again, and the operation rebuilt.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import lance
import pyarrow as pa
from lance.fragment import FragmentMetadata, write_fragments

from robot_data_platform.errors import CommitConflictError, ErrorKind, InvalidInputError
from robot_data_platform.storage.faults import store_errors
from robot_data_platform.storage.table import LakeTable, open_table
from robot_data_platform.storage.uri import storage_options

MAX_ATTEMPTS = 40
"""Commits tried before giving up; writers of one table are few, and each loser waits its turn."""


@dataclass(frozen=True, slots=True)
class Committed:
    """How a change ended."""

    version: int
    """Version of the table that holds the change."""
    is_new: bool
    """False where the guard found the change already there, so nothing was written."""


Guard = Callable[[LakeTable], bool]
"""Asked at the version that a commit would build on: is the change already there?"""


def write_rows(
    uri: str, schema: pa.Schema, batches: Iterable[pa.RecordBatch], max_rows_per_file: int = 1 << 20
) -> list[str]:
    """Write rows as fragments that no version names yet; return them as JSON.

    Runs in any process; memory holds a batch at a time.
    """
    reader = pa.RecordBatchReader.from_batches(schema, iter(batches))
    with store_errors(uri):
        fragments = write_fragments(
            reader,
            uri,
            schema=schema,
            mode="append",
            max_rows_per_file=max_rows_per_file,
            storage_options=storage_options(uri),
        )
    return [json.dumps(fragment.to_json()) for fragment in fragments]


def commit_fragments(
    uri: str,
    fragments: Sequence[str],
    *,
    properties: Mapping[str, str],
    is_done: Guard | None = None,
    replace: str | None = None,
) -> Committed:
    """Make written fragments visible in one commit, unless the guard says they are.

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
        ``commit-conflict``: other writers won `MAX_ATTEMPTS` times in a row.
    """


    def build(table: LakeTable) -> lance.LanceOperation.BaseOperation:
        new = [FragmentMetadata.from_json(text) for text in fragments]
        if replace and table.count_rows(replace):
            return _replacement(table, replace, new)
        return _addition(table, new)

    return _compare_and_swap(uri, build, properties, is_done)


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
) -> Committed:
    """Append rows that depend on what the table holds; on a conflict they are made again."""

    def build(table: LakeTable) -> lance.LanceOperation.BaseOperation:
        rows = rows_at(table).cast(table.schema)
        new = write_rows(uri, table.schema, rows.to_batches())
        return _addition(table, [FragmentMetadata.from_json(text) for text in new])

    return _compare_and_swap(uri, build, properties, is_done)


def rewrite_columns(
    uri: str, rows: pa.Table, *, key: str, properties: Mapping[str, str]
) -> Committed:
    """Set some columns of existing rows, found by ``key``, in one commit; other bytes stay.

    Parameters
    ----------
    rows : pyarrow.Table
        The key column and the columns to set; keys that the table lacks are ignored.
    """
    for attempt in range(MAX_ATTEMPTS):
        table = open_table(uri)
        builder = table.lance.merge_insert(key).when_matched_update_all()
        try:
            with store_errors(uri):
                transaction, *_ = builder.write_mode("rewrite_columns").execute_uncommitted(rows)
                transaction.transaction_properties = dict(properties)
                return Committed(_commit(uri, transaction), is_new=True)
        except CommitConflictError:
            _pause(attempt)
    raise _gave_up(uri)


def grow_schema(uri: str, fields: Sequence[pa.Field], metadata: Mapping[str, str]) -> LakeTable:
    """Add columns that the table lacks, null in every row it has, and return the latest version.

    Raises
    ------
    InvalidInputError
        ``shape-mismatch``: a column is there with another type.
    """
    for attempt in range(MAX_ATTEMPTS):
        table = open_table(uri)
        missing = missing_fields(table, fields)
        if not missing:
            return table
        try:
            with store_errors(uri):
                table.lance.add_columns(pa.schema(missing))
                table.lance.update_schema_metadata(dict(metadata))
        except CommitConflictError:
            _pause(attempt)
    raise _gave_up(uri)


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


def _compare_and_swap(
    uri: str,
    build: Callable[[LakeTable], lance.LanceOperation.BaseOperation],
    properties: Mapping[str, str],
    is_done: Guard | None,
) -> Committed:
    for attempt in range(MAX_ATTEMPTS):
        table = open_table(uri)
        if is_done is not None and is_done(table):
            return Committed(table.version, is_new=False)
        try:
            with store_errors(uri):
                transaction = lance.Transaction(
                    read_version=table.version,
                    operation=build(table),
                    transaction_properties=dict(properties),
                )
                return Committed(_commit(uri, transaction), is_new=True)
        except CommitConflictError:
            _pause(attempt)
    raise _gave_up(uri)


def _commit(uri: str, transaction: lance.Transaction) -> int:
    dataset = lance.LanceDataset.commit(
        uri, transaction, storage_options=storage_options(uri), enable_stable_row_ids=True
    )
    return int(dataset.version)


def _addition(
    table: LakeTable, new: list[FragmentMetadata]
) -> lance.LanceOperation.BaseOperation:
    held = [fragment.metadata for fragment in table.lance.get_fragments()]
    return lance.LanceOperation.Merge(held + new, table.lance.lance_schema)


def _replacement(
    table: LakeTable, predicate: str, new: list[FragmentMetadata]
) -> lance.LanceOperation.BaseOperation:
    """Return the operation that marks the predicate's rows deleted and adds the new fragments."""
    removed, updated = [], []
    for fragment in table.lance.get_fragments():
        left = fragment.delete(predicate)
        if left is None:
            removed.append(fragment.fragment_id)
        elif left.deletion_file != fragment.metadata.deletion_file:
            updated.append(left)
    return lance.LanceOperation.Update(
        removed_fragment_ids=removed,
        updated_fragments=updated,
        new_fragments=new,
        fields_modified=[],
        fields_for_preserving_frag_bitmap=[],
        update_mode="rewrite_rows",
    )


def _pause(attempt: int) -> None:
    time.sleep(min(0.02 * 1.5**attempt, 1.0))


def _gave_up(uri: str) -> CommitConflictError:
    return CommitConflictError(
        f"Table {uri!r} was changed by other writers {MAX_ATTEMPTS} times in a row. "
        "Run the same command again when fewer writers are active.",
        kind=ErrorKind.COMMIT_CONFLICT,
        uri=uri,
    )
