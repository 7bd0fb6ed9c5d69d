"""Lance operations that conflict with whatever they must not be rebased over.

Lance rebases an append over other appends, so committing the same fragments twice doubles rows.
A ``Merge`` conflicts with every change of the table's rows or columns since the version it was
built on; rows are therefore added as the complete list of fragments of the next version. An
``Update`` conflicts with whoever touched the same fragments, and with every ``Merge``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import lance
import numpy as np

from robot_data_platform.storage.faults import store_errors

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa
    from lance.fragment import FragmentMetadata

    from robot_data_platform.storage.table import LakeTable

Operation = lance.LanceOperation.BaseOperation


def addition(table: LakeTable, new: Sequence[FragmentMetadata]) -> Operation:
    """Return the operation that adds fragments to a version, and to no other.

    Its size follows the number of fragments, as a manifest's does; compaction keeps that small.
    """
    held = [fragment.metadata for fragment in table.lance.get_fragments()]
    return lance.LanceOperation.Merge([*held, *new], table.lance.lance_schema)


@dataclass(frozen=True, slots=True)
class Deletion:
    """Rows marked deleted in files that no version names yet."""

    removed: list[int]
    """Ids of the fragments of which no row is left."""
    updated: list[FragmentMetadata]
    """The fragments of which some rows are left."""

    def __bool__(self) -> bool:
        """Return whether any row is marked."""
        return bool(self.removed or self.updated)


def mark_deleted(table: LakeTable, predicate: str) -> Deletion:
    """Mark the rows of a predicate deleted; commit nothing yet.

    One scan finds the fragments that hold such rows, and only these are looked at again.
    """
    marked = Deletion([], [])
    with store_errors(table.uri):
        for fragment_id in _fragments_with(table, predicate):
            fragment = table.lance.get_fragment(fragment_id)
            assert fragment is not None
            left = fragment.delete(predicate)
            if left is None:
                marked.removed.append(fragment_id)
            else:
                marked.updated.append(left)
    return marked


def _fragments_with(table: LakeTable, predicate: str) -> list[int]:
    scanner = table.lance.scanner(columns=[], filter=predicate, with_row_address=True)
    addresses = scanner.to_table()["_rowaddr"].to_numpy()
    # The upper half of a row's address is its fragment.
    return [int(fragment_id) for fragment_id in np.unique(addresses >> np.uint64(32))]


def replacement(deletion: Deletion, new: Sequence[FragmentMetadata]) -> Operation:
    """Return the operation that deletes marked rows and adds fragments."""
    return lance.LanceOperation.Update(
        removed_fragment_ids=deletion.removed,
        updated_fragments=deletion.updated,
        new_fragments=list(new),
        fields_modified=[],
        fields_for_preserving_frag_bitmap=[],
        update_mode="rewrite_rows",
    )


def exchange(table: LakeTable, deletion: Deletion, new: Sequence[FragmentMetadata]) -> Operation:
    """Return the operation that replaces marked rows by fragments in a version, and in no other.

    A `replacement` is rebased over those of rows in other fragments; what depends on all that the
    table holds, such as the next free index, must not be.
    """
    marked = {fragment.id for fragment in deletion.updated} | set(deletion.removed)
    held = [fragment.metadata for fragment in table.lance.get_fragments()]
    # Every fragment is named as changed, so whoever changes any of them is in the way.
    others = [fragment for fragment in held if fragment.id not in marked]
    return replacement(Deletion(deletion.removed, [*deletion.updated, *others]), new)


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
