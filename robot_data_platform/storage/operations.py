"""Lance operations that conflict with whatever they must not be rebased over.

Lance rebases an append over other appends, so committing the same fragments twice doubles rows.
A ``Merge`` conflicts with every change of the table's rows or columns since the version it was
built on; rows are therefore added as the complete list of fragments of the next version. An
``Update`` conflicts with whoever touched the same fragments, and with every ``Merge``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import lance

from robot_data_platform.storage.faults import store_errors
from robot_data_platform.storage.table import LakeTable

if TYPE_CHECKING:
    import pyarrow as pa
    from lance.fragment import FragmentMetadata

Operation = lance.LanceOperation.BaseOperation


def addition(table: LakeTable, new: Sequence[FragmentMetadata]) -> Operation:
    """Return the operation that adds fragments to a version, and to no other.

    Its size follows the number of fragments, as a manifest's does; compaction keeps that small.
    """
    held = [fragment.metadata for fragment in table.lance.get_fragments()]
    return lance.LanceOperation.Merge([*held, *new], table.lance.lance_schema)


def replacement(table: LakeTable, predicate: str, new: Sequence[FragmentMetadata]) -> Operation:
    """Return the operation that deletes the predicate's rows and adds fragments."""
    removed, updated = [], []
    with store_errors(table.uri):
        for fragment in table.lance.get_fragments():
            left = fragment.delete(predicate)
            if left is None:
                removed.append(fragment.fragment_id)
            elif left.deletion_file != fragment.metadata.deletion_file:
                updated.append(left)
    return lance.LanceOperation.Update(
        removed_fragment_ids=removed,
        updated_fragments=updated,
        new_fragments=list(new),
        fields_modified=[],
        fields_for_preserving_frag_bitmap=[],
        update_mode="rewrite_rows",
    )


def column_rewrite(table: LakeTable, rows: pa.Table, key: str) -> lance.Transaction:
    """Write new files for some columns of the rows that match by key; commit nothing yet."""
    builder = table.lance.merge_insert(key).when_matched_update_all()
    with store_errors(table.uri):
        transaction, *_ = builder.write_mode("rewrite_columns").execute_uncommitted(rows)
    return transaction


def commit(
    table: LakeTable, change: Operation | lance.Transaction, properties: Mapping[str, str]
) -> int:
    """Commit a change that was built on the table's version; return the version it made.

    Raises
    ------
    CommitConflictError
        ``commit-conflict``: another writer changed what the change rests on.
    """
    if not isinstance(change, lance.Transaction):
        change = lance.Transaction(read_version=table.version, operation=change)
    change.transaction_properties = dict(properties)
    with store_errors(table.uri):
        # By the open handle, which saves reading the manifest again.
        return int(lance.LanceDataset.commit(table.lance, change).version)
