"""House-keeping of one table: compaction, indices, deletion of unreachable rows, clean-up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import lance

from robot_data_platform.errors import CommitConflictError, StorageError
from robot_data_platform.storage.attempts import Attempts
from robot_data_platform.storage.faults import store_errors
from robot_data_platform.storage.operations import commit, mark_deleted
from robot_data_platform.storage.table import LakeTable, open_table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import timedelta

Value = TypeVar("Value")

MAX_ATTEMPTS = 5
"""Compaction and index creation can't be rebased, so a conflict means doing the work again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleaned:
    """What a clean-up removed."""

    num_versions: int
    num_bytes: int


def compact(uri: str) -> bool:
    """Merge small fragments and drop deleted rows; return whether anything was rewritten.

    The table's own configuration sets how large a fragment is left alone.
    """

    def work(table: LakeTable) -> bool:
        metrics = table.lance.optimize.compact_files()
        return bool(metrics.fragments_removed)

    return _retrying(uri, work)


def ensure_index(uri: str, column: str) -> bool:
    """Create a B-tree over a column where there is none; return whether it was created."""

    def work(table: LakeTable) -> bool:
        if any(column in index.field_names for index in table.lance.describe_indices()):
            return False
        table.lance.create_scalar_index(column, "BTREE")
        return True

    return _retrying(uri, work)


def fold_indices(uri: str) -> None:
    """Bring rows that were appended since into the table's indices."""

    def work(table: LakeTable) -> None:
        if table.lance.describe_indices():
            table.lance.optimize.optimize_indices()

    _retrying(uri, work)


def delete_rows(uri: str, predicate: str, properties: Mapping[str, str]) -> int:
    """Mark rows deleted in one commit and return how many; tagged versions keep them."""

    def work(table: LakeTable) -> int:
        num_rows = table.count_rows(predicate)
        if num_rows:
            marked = mark_deleted(table, predicate)
            deletion = lance.LanceOperation.Delete(marked.updated, marked.removed, predicate)
            commit(table, deletion, properties)
        return num_rows

    return _retrying(uri, work)


def clean_up(uri: str, older_than: timedelta) -> Cleaned:
    """Remove versions older than that, and files only they named; tagged versions stay."""

    def work(table: LakeTable) -> Cleaned:
        stats = table.lance.cleanup_old_versions(
            older_than=older_than, error_if_tagged_old_versions=False
        )
        return Cleaned(num_versions=int(stats.old_versions), num_bytes=int(stats.bytes_removed))

    return _retrying(uri, work)


def _retrying(uri: str, work: Callable[[LakeTable], Value]) -> Value:
    attempts = Attempts(uri, max_conflicts=MAX_ATTEMPTS)
    while True:
        try:
            with store_errors(uri):
                return work(open_table(uri))
        except (CommitConflictError, StorageError) as err:
            attempts.again(err)
