"""Compaction by a stated policy: which fragments are worth their bytes being written again.

Lance copies every byte of a fragment that it rewrites, blobs included. So a fragment is left
alone unless it is one of many small ones, or holds a large share of deleted rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypedDict, cast

from lance.optimize import Compaction

from robot_data_platform.storage.faults import store_errors
from robot_data_platform.storage.table_files import data_groups, stem_of
from robot_data_platform.storage.upkeep import retrying

if TYPE_CHECKING:
    from lance.fragment import LanceFragment
    from lance.optimize import CompactionOptions

    from robot_data_platform.storage.table import LakeTable


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionPolicy:
    """When fragments of a table are rewritten."""

    target_rows: int = 1 << 20
    """Rows of a fragment that is large enough; Lance's own default."""
    min_small_fragments: int = 2
    """Smaller fragments are merged only when there are as many: a table that grows by a little
    every day would have its last fragment written again every night."""
    max_garbage_share: float = 0.1
    """Deleted rows among all of a fragment, above which it is rewritten without them."""


class _Options(TypedDict):
    target_rows_per_fragment: int
    materialize_deletions_threshold: float
    excluded_fragment_ids: list[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionPlan:
    """Fragments that a compaction rewrites."""

    num_fragments: int
    num_bytes: int
    """Of their files, blobs included: what is read, and at most written."""

    def __bool__(self) -> bool:
        """Return whether anything is to be rewritten."""
        return self.num_fragments > 0


def plan_compaction(table: LakeTable, policy: CompactionPolicy | None = None) -> CompactionPlan:
    """Return what `compact` would rewrite in a table as it is."""
    options = _options(table, policy or CompactionPolicy())
    with store_errors(table.uri):
        tasks = Compaction.plan(table.lance, cast("CompactionOptions", options)).tasks
    fragments = [fragment for task in tasks for fragment in task.fragments]
    stems = {stem_of(file.path) for fragment in fragments for file in fragment.files}
    groups = data_groups(table) if stems else {}
    num_bytes = sum(group.size_bytes for stem, group in groups.items() if stem in stems)
    return CompactionPlan(num_fragments=len(fragments), num_bytes=num_bytes)


def compact(uri: str, policy: CompactionPolicy | None = None) -> CompactionPlan:
    """Merge small fragments and drop deleted rows as the policy says; return what was rewritten."""

    def work(table: LakeTable) -> CompactionPlan:
        plan = plan_compaction(table, policy)
        if plan:
            table.lance.optimize.compact_files(**_options(table, policy or CompactionPolicy()))
        return plan

    return retrying(uri, work)


def _options(table: LakeTable, policy: CompactionPolicy) -> _Options:
    return {
        "target_rows_per_fragment": policy.target_rows,
        "materialize_deletions_threshold": policy.max_garbage_share,
        "excluded_fragment_ids": _left_alone(table, policy),
    }


def _left_alone(table: LakeTable, policy: CompactionPolicy) -> list[int]:
    """Return the small fragments without much garbage, where they are too few to merge."""
    with store_errors(table.uri):
        small = [f for f in table.lance.get_fragments() if _num_live(f) < policy.target_rows]
        if len(small) >= policy.min_small_fragments:
            return []
        return [f.fragment_id for f in small if _garbage_share(f) <= policy.max_garbage_share]


def _num_live(fragment: LanceFragment) -> int:
    return int(fragment.physical_rows) - int(fragment.num_deletions)


def _garbage_share(fragment: LanceFragment) -> float:
    return int(fragment.num_deletions) / max(int(fragment.physical_rows), 1)
