"""House-keeping of one table: indices, deletion of unreachable rows, and the fence before it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, TypeVar

import lance

from robot_data_platform.errors import CommitConflictError
from robot_data_platform.storage.faults import store_errors
from robot_data_platform.storage.operations import addition, commit, mark_deleted
from robot_data_platform.storage.table import LakeTable, open_table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Value = TypeVar("Value")

MAX_ATTEMPTS = 5
"""Compaction and index creation can't be rebased, so a conflict means doing the work again."""


def has_index(table: LakeTable, column: str) -> bool:
    """Return whether an index over a column is there."""
    with store_errors(table.uri):
        return any(column in index.field_names for index in table.lance.describe_indices())


def ensure_index(uri: str, column: str) -> bool:
    """Create a B-tree over a column where there is none; return whether it was created."""

    def work(table: LakeTable) -> bool:
        if has_index(table, column):
            return False
        table.lance.create_scalar_index(column, "BTREE")
        return True

    return retrying(uri, work)


def fold_indices(uri: str) -> None:
    """Bring rows that were appended since into the table's indices."""

    def work(table: LakeTable) -> None:
        if table.lance.describe_indices():
            table.lance.optimize.optimize_indices()

    retrying(uri, work)


def delete_rows(uri: str, predicate: str, properties: Mapping[str, str]) -> int:
    """Mark rows deleted in one commit and return how many; tagged versions keep them."""

    def work(table: LakeTable) -> int:
        num_rows = table.count_rows(predicate)
        if num_rows:
            marked = mark_deleted(table, predicate)
            deletion = lance.LanceOperation.Delete(marked.updated, marked.removed, predicate)
            commit(table, deletion, properties)
        return num_rows

    return retrying(uri, work)


def fence(uri: str, properties: Mapping[str, str]) -> LakeTable:
    """Commit a table as it is, and return it at that version.

    Every change that was built on an earlier version conflicts with this commit. It is built
    again, and its guard sees what stood in the table before the fence.
    """

    def work(table: LakeTable) -> LakeTable:
        return open_table(uri, commit(table, addition(table, []), properties))

    return retrying(uri, work)


def retrying(uri: str, work: Callable[[LakeTable], Value]) -> Value:
    """Do work on the latest version of a table, again where another writer was first.

    Raises
    ------
    CommitConflictError
        ``commit-conflict``: other writers won `MAX_ATTEMPTS` times in a row.
    """
    for attempt in range(MAX_ATTEMPTS):
        try:
            with store_errors(uri):
                return work(open_table(uri))
        except CommitConflictError:
            if attempt + 1 == MAX_ATTEMPTS:
                raise
            time.sleep(0.1 * 2**attempt)
    raise AssertionError("unreachable: the last attempt returns or raises")
