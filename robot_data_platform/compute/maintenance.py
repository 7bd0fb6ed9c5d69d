"""House-keeping of a lake: nothing that a release or the present state reaches is touched.

A dry run asks the same questions of every table as it is, and changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from robot_data_platform.compute.abandonment import ROW_TABLES, give_up, unreachable_ranges
from robot_data_platform.compute.release_tags import (
    dataset_tables,
    left_over_tags,
    remove_left_over_tags,
    tag_again,
    untagged,
)
from robot_data_platform.compute.scrub import scrub
from robot_data_platform.compute.scrub_findings import record_damaged_gops
from robot_data_platform.compute.upkeep_policy import UpkeepPolicy
from robot_data_platform.compute.upkeep_report import TableUpkeep, UpkeepReport
from robot_data_platform.core.lookup_columns import LOOKUP_COLUMNS
from robot_data_platform.core.schema import CATALOG_TABLES
from robot_data_platform.errors import RobotDataError
from robot_data_platform.storage.compaction import compact, plan_compaction
from robot_data_platform.storage.lake import CATALOG
from robot_data_platform.storage.orphans import find_orphans, remove_orphans
from robot_data_platform.storage.predicate import in_ranges
from robot_data_platform.storage.retention import clean_up, plan_clean_up
from robot_data_platform.storage.table_files import data_bytes
from robot_data_platform.storage.upkeep import delete_rows, ensure_index, fold_indices, has_index

if TYPE_CHECKING:
    from collections.abc import Iterable

    from robot_data_platform.core.index_ranges import IndexRange
    from robot_data_platform.core.run import RunInfo
    from robot_data_platform.storage.lake import Lake
    from robot_data_platform.storage.table import LakeTable

INDEX_COLUMN = "episode_index"


@dataclass(frozen=True, slots=True, kw_only=True)
class Upkeep:
    """One run of maintenance over a lake."""

    lake: Lake
    run: RunInfo
    policy: UpkeepPolicy
    dry_run: bool = False

    @property
    def before_ns(self) -> int:
        """What is younger than this may be of a run that still goes on."""
        return self.run.created_ns - int(self.policy.grace.total_seconds() * 1e9)


@dataclass(slots=True, kw_only=True)
class LakeUpkeep:
    """What maintenance of a whole lake came to."""

    datasets: list[UpkeepReport] = field(default_factory=list)
    catalog: UpkeepReport | None = None
    """None where its maintenance failed."""
    failed: dict[str, RobotDataError] = field(default_factory=dict)
    """By dataset, or ``_catalog``: what stopped its maintenance; the others went on."""


def maintain_lake(upkeep: Upkeep) -> LakeUpkeep:
    """Maintain every dataset and the catalog; one that fails does not stop the others."""
    done = LakeUpkeep()
    for dataset in upkeep.lake.datasets():
        try:
            done.datasets.append(_maintain(upkeep, dataset))
        except RobotDataError as err:
            done.failed[dataset] = err
    try:
        done.catalog = maintain_catalog(upkeep)
    except RobotDataError as err:
        done.failed[CATALOG] = err
    return done


def maintain_dataset(
    lake: Lake,
    dataset: str,
    run: RunInfo,
    policy: UpkeepPolicy | None = None,
    *,
    dry_run: bool = False,
) -> UpkeepReport:
    """Collect what nothing reaches, compact, fold indices, clean up and scrub one dataset.

    Parameters
    ----------
    run : RunInfo
        Kept with every commit; its time is what ages are counted from.
    policy : UpkeepPolicy, optional
        None = the default one.
    dry_run : bool
        Say what would be done to each table as it is, and change nothing.
    """
    upkeep = Upkeep(lake=lake, run=run, policy=policy or UpkeepPolicy(), dry_run=dry_run)
    return _maintain(upkeep, dataset)


def maintain_catalog(upkeep: Upkeep) -> UpkeepReport:
    """Remove dead files, compact and clean up the tables of the catalog."""
    report = UpkeepReport(dataset=CATALOG, dry_run=upkeep.dry_run)
    for name in CATALOG_TABLES:
        table = upkeep.lake.find_catalog(name)
        if table is not None:
            report.tables[name] = _keep_table(upkeep, name, table, TableUpkeep())
    return report


def _maintain(upkeep: Upkeep, dataset: str) -> UpkeepReport:
    report = UpkeepReport(dataset=dataset, dry_run=upkeep.dry_run)
    tables = dataset_tables(upkeep.lake, dataset)
    report.tables = {name: TableUpkeep() for name in tables}
    # Tags first: what they don't hold, the clean-up below takes.
    _keep_tags(upkeep, dataset, report)
    _collect(upkeep, dataset, tables, report)
    for name, table in tables.items():
        _keep_table(upkeep, name, table, report.tables[name])
    scrubbed = scrub(upkeep.lake, dataset, upkeep.policy.scrub, upkeep.run.created_ns)
    report.num_gops_scrubbed, report.damaged = scrubbed.num_gops, scrubbed.damaged
    if not upkeep.dry_run:
        record_damaged_gops(upkeep.lake, dataset, report.damaged_gops, upkeep.run)
    return report


def _keep_tags(upkeep: Upkeep, dataset: str, report: UpkeepReport) -> None:
    lake, before_ns = upkeep.lake, upkeep.before_ns
    mended = untagged(lake, dataset) if upkeep.dry_run else tag_again(lake, dataset)
    left = left_over_tags if upkeep.dry_run else remove_left_over_tags
    for pinned in mended:
        report.tables.setdefault(pinned.table, TableUpkeep()).tags_mended += 1
    for tag in left(lake, dataset, before_ns):
        report.tables[tag.table].tags_removed += 1


def _collect(
    upkeep: Upkeep, dataset: str, tables: dict[str, LakeTable], report: UpkeepReport
) -> None:
    """Delete the rows that no ingestion has published, nor ever will."""
    ranges = unreachable_ranges(upkeep.lake, dataset, upkeep.before_ns)
    held = {name: table for name, table in tables.items() if name in ROW_TABLES}
    counted = {name: _count(table, ranges) for name, table in held.items()}
    if any(counted.values()) and not upkeep.dry_run:
        ranges = give_up(upkeep.lake, dataset, ranges, upkeep.run)
        where = in_ranges(INDEX_COLUMN, ranges)
        for name, table in held.items():
            counted[name] = delete_rows(table.uri, where, upkeep.run.properties())
    for name, num_rows in counted.items():
        report.tables[name].superseded_rows = num_rows
        report.tables[name].superseded_bytes = _share(held[name], num_rows)


def _count(table: LakeTable, ranges: Iterable[IndexRange]) -> int:
    return table.count_rows(in_ranges(INDEX_COLUMN, ranges))


def _share(table: LakeTable, num_rows: int) -> int:
    """Return the bytes of some rows of a table, as large as the average one."""
    if not num_rows:
        return 0
    return data_bytes(table) * num_rows // table.count_physical_rows()


def _keep_table(upkeep: Upkeep, name: str, table: LakeTable, done: TableUpkeep) -> TableUpkeep:
    """Remove files of dead tasks, compact, index and clean up one table, in this order."""
    _keep_files(upkeep, table, done)
    policy, keep = upkeep.policy.compaction_of(name), upkeep.policy.keep_versions
    wanted = missing_indices(table, name, upkeep.policy.index_min_rows)
    done.index_created = bool(wanted)
    if upkeep.dry_run:
        plan, cleaned = plan_compaction(table, policy), plan_clean_up(table, keep)
    else:
        plan = compact(table.uri, policy)
        for column in wanted:
            ensure_index(table.uri, column)
        fold_indices(table.uri)
        cleaned = clean_up(table.uri, keep)
    done.compacted_fragments, done.compacted_bytes = plan.num_fragments, plan.num_bytes
    done.versions_removed, done.version_bytes = cleaned.num_versions, cleaned.num_bytes
    return done


def _keep_files(upkeep: Upkeep, table: LakeTable, done: TableUpkeep) -> None:
    before_us = upkeep.before_ns // 1000
    if upkeep.dry_run:
        orphans = find_orphans(table, before_us)
    else:
        orphans = remove_orphans(table.uri, before_us, upkeep.run.properties())
    done.orphan_files = sum(len(group.files) for group in orphans)
    done.orphan_bytes = sum(group.size_bytes for group in orphans)


def missing_indices(table: LakeTable, name: str, min_rows: int) -> tuple[str, ...]:
    """Return the columns that a table has too many rows to be looked up by without an index."""
    columns = [column for column in LOOKUP_COLUMNS.get(name, ()) if column in table.schema.names]
    if not columns or table.count_rows() < min_rows:
        return ()
    return tuple(column for column in columns if not has_index(table, column))
