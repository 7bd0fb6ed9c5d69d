"""``episodes`` as it was at an earlier version, in one new commit.

What maintenance collected since can't come back, and what was retired since doesn't. Lance's own
``restore`` asks neither, and takes back columns, so it is not used.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from robot_data_platform.compute.abandonment import given_up
from robot_data_platform.compute.findings import QUARANTINE_RULE
from robot_data_platform.compute.restating import restate_frames
from robot_data_platform.compute.retired import retired_ids, without_retired
from robot_data_platform.core.finding import STATUS_QUARANTINED
from robot_data_platform.core.index_ranges import indices_in
from robot_data_platform.errors import ErrorKind, NotFoundError
from robot_data_platform.lineage.edges import record_edges
from robot_data_platform.storage.commit import append_built
from robot_data_platform.storage.predicate import all_of, equals, in_slot, is_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from robot_data_platform.core.run import RunInfo
    from robot_data_platform.storage.lake import Lake
    from robot_data_platform.storage.table import LakeTable

EVERY_ROW = "true"
LISTED = 5
"""Episodes that a message names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Restoration:
    """How restoring ended."""

    episodes_version: int
    """The version of ``episodes`` that shows it."""
    is_new: bool
    """False where ``episodes`` showed it already, so nothing was written."""
    num_episodes: int


def restore_episodes(lake: Lake, dataset: str, version: int, run: RunInfo) -> Restoration:
    """Show the episodes of an earlier version of ``episodes`` again, and no others.

    Verdicts and added columns are as they were then; columns that came since are null, and stay.
    Retired episodes stay away.

    Raises
    ------
    NotFoundError
        ``dataset-not-found``, ``version-not-found``; ``no-rows``: rows or GOPs that the version
        names were collected by maintenance.
    """
    before = lake.open(dataset, "episodes", version)
    rows = before.read()

    def rows_at(at: LakeTable) -> pa.Table:
        wanted = _with_columns_of(at, without_retired(rows, retired_ids(lake, dataset)))
        _refuse_collected(lake, dataset, version, wanted, at)
        return wanted

    committed = append_built(
        before.uri,
        rows_at,
        properties=run.properties(),
        is_done=lambda at: _shows(at, rows_at(at)),
        replace=EVERY_ROW,
    )
    shown = lake.open(dataset, "episodes", committed.version)
    if committed.is_new:
        restate_frames(lake, dataset, shown)
        record_edges(lake, dataset, ("episodes", shown.version), [("episodes", version)], run)
    return Restoration(
        episodes_version=shown.version, is_new=committed.is_new, num_episodes=shown.count_rows()
    )


def _with_columns_of(table: LakeTable, rows: pa.Table) -> pa.Table:
    for field in table.schema:
        if field.name not in rows.column_names:
            rows = rows.append_column(field, pa.nulls(len(rows), field.type))
    return rows.select(table.schema.names).cast(table.schema)


def _shows(table: LakeTable, rows: pa.Table) -> bool:
    held = table.read().sort_by("episode_index")
    return bool(held.equals(rows.sort_by("episode_index")))


def _refuse_collected(
    lake: Lake, dataset: str, version: int, rows: pa.Table, at: LakeTable
) -> None:
    """Refuse episodes that lack something, or that maintenance has given up for good."""
    shown = set(at.read(["episode_index"])["episode_index"].to_pylist())
    hidden = set(rows["episode_index"].to_pylist()) - shown
    lost = sorted({*_lacking(lake, dataset, rows), *indices_in(given_up(at), hidden)})
    if lost:
        raise NotFoundError(
            f"Dataset {dataset!r} can't go back to version {version} of 'episodes': rows or GOPs "
            f"of episode_index {lost[:LISTED]} ({len(lost)} in all) were collected by "
            "maintenance. Choose a later version, or materialize their uploads again.",
            kind=ErrorKind.NO_ROWS,
            dataset=dataset,
            version=version,
            num_episodes=len(lost),
        )


def _lacking(lake: Lake, dataset: str, rows: pa.Table) -> list[int]:
    """Return the indices of the episodes of which not everything is there that they name."""
    columns = ("episode_index", "status", "num_rows", "cameras")
    facts = rows.select(columns).to_pylist()
    shown = [row for row in facts if row["status"] != STATUS_QUARANTINED]
    lost = [row["episode_index"] for row in facts if row["status"] == STATUS_QUARANTINED]
    named = [row["episode_index"] for row in shown]
    held = _count(lake, dataset, "frames", named)
    gops = _count(lake, dataset, "gops", named, in_slot(0))
    told = _count(lake, dataset, "quality", lost, equals("rule", QUARANTINE_RULE))
    return [index for index in lost if not told[index]] + [
        row["episode_index"]
        for row in shown
        if held[row["episode_index"]] != row["num_rows"]
        or gops[row["episode_index"]] != sum(one["num_gops"] for one in row["cameras"])
    ]


def _count(
    lake: Lake, dataset: str, table: str, indices: Sequence[int], where: str | None = None
) -> Counter[int]:
    """Return the rows that a table has of each of some episodes."""
    counts: Counter[int] = Counter()
    if indices:
        mine = all_of(is_in("episode_index", indices), where)
        for batch in lake.open(dataset, table).batches(["episode_index"], mine):
            counts.update(batch["episode_index"].to_pylist())
    return counts
