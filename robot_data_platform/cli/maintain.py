"""`rdp maintain`."""

from __future__ import annotations

import sys
import time
from dataclasses import asdict
from datetime import timedelta
from typing import TYPE_CHECKING

import click

from robot_data_platform import __version__
from robot_data_platform.cli.options import reading
from robot_data_platform.cli.output import print_json, print_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from robot_data_platform.compute.maintenance import LakeUpkeep, Upkeep
    from robot_data_platform.compute.upkeep_policy import UpkeepPolicy
    from robot_data_platform.compute.upkeep_report import UpkeepReport

COLUMNS = ("dataset", "table", "superseded rows", "rewritten", "old versions", "dead files", "tags")


@click.command()
@click.argument("dataset", required=False)
@click.option("--all", "every", is_flag=True, help="Every dataset, and the catalog.")
@click.option("--dry-run", is_flag=True, help="Say what would be done; change nothing.")
@click.option("--scrub", default="all", show_default=True, help="GOPs to hash: all, none, or 1/7.")
@click.option("--keep-days", type=float, default=14.0, show_default=True, help="Untagged versions.")
@click.option(
    "--grace-days", type=float, default=3.0, show_default=True, help="Ingestions that may run."
)
@reading
def maintain(
    dataset: str | None,
    every: bool,
    dry_run: bool,
    scrub: str,
    keep_days: float,
    grace_days: float,
    lake: str,
    as_json: bool,
) -> None:
    """Compact, fold indices, clean up and scrub DATASET; every release stays as it is."""
    if (dataset is None) != every:
        raise click.UsageError("give DATASET or --all")
    upkeep = _upkeep(lake, _policy(scrub, keep_days, grace_days), dry_run=dry_run)
    if dataset is None:
        _maintain_all(upkeep, as_json=as_json)
    else:
        _maintain_one(upkeep, dataset, as_json=as_json)


def _policy(scrub: str, keep_days: float, grace_days: float) -> UpkeepPolicy:
    from robot_data_platform.compute.scrub_share import parse_share
    from robot_data_platform.compute.upkeep_policy import UpkeepPolicy

    return UpkeepPolicy(
        keep_versions=timedelta(days=keep_days),
        grace=timedelta(days=grace_days),
        scrub=parse_share(scrub),
    )


def _upkeep(lake: str, policy: UpkeepPolicy, *, dry_run: bool) -> Upkeep:
    from robot_data_platform.compute.maintenance import Upkeep
    from robot_data_platform.core.run import RunInfo
    from robot_data_platform.storage.lake import Lake

    run = RunInfo(
        run_id="rdp-maintain",
        asset="maintenance",
        code_version=__version__,
        created_ns=time.time_ns(),
    )
    return Upkeep(lake=Lake(lake), run=run, policy=policy, dry_run=dry_run)


def _maintain_one(upkeep: Upkeep, dataset: str, *, as_json: bool) -> None:
    from robot_data_platform.compute.maintenance import maintain_dataset

    upkeep.lake.open(dataset, "episodes")
    report = maintain_dataset(
        upkeep.lake, dataset, upkeep.run, upkeep.policy, dry_run=upkeep.dry_run
    )
    if as_json:
        print_json(_report_json(report))
    else:
        _print([report], dry_run=upkeep.dry_run)
    if report.damaged:
        sys.exit(1)


def _maintain_all(upkeep: Upkeep, *, as_json: bool) -> None:
    from robot_data_platform.compute.maintenance import maintain_lake

    done = maintain_lake(upkeep)
    reports = [*done.datasets, *([done.catalog] if done.catalog else [])]
    if as_json:
        print_json(_lake_json(done))
    else:
        _print(reports, dry_run=upkeep.dry_run)
    for name, error in done.failed.items():
        click.echo(f"{name}: maintenance failed: {error}", err=True)
    if done.failed or any(report.damaged for report in reports):
        sys.exit(1)


def _lake_json(done: LakeUpkeep) -> dict[str, object]:
    return {
        "datasets": [_report_json(report) for report in done.datasets],
        "catalog": _report_json(done.catalog) if done.catalog else None,
        "failed": [
            {"dataset": name, "error_kind": error.kind.value, "message": str(error)}
            for name, error in done.failed.items()
        ],
    }


def _report_json(report: UpkeepReport) -> dict[str, object]:
    totals = ("num_superseded_rows", "num_versions_removed", "num_bytes_removed", "compacted")
    return {
        **asdict(report),
        **{name: getattr(report, name) for name in totals},
        "damaged_gops": report.damaged_gops,
    }


def _print(reports: list[UpkeepReport], *, dry_run: bool) -> None:
    title = "Would be done; nothing was changed" if dry_run else "Done"
    print_table(title, COLUMNS, (row for report in reports for row in _rows(report)))
    for report in reports:
        if report.num_gops_scrubbed:
            click.echo(
                f"{report.dataset}: {report.num_gops_scrubbed} GOPs scrubbed, "
                f"{len(report.damaged)} damaged"
            )
        for gop in report.damaged:
            click.echo(
                f"  damaged: episode {gop.episode_id or '-'} (index {gop.episode_index}) camera "
                f"{gop.camera} GOP {gop.gop_index}, in releases {gop.releases or 'none'}"
            )


def _rows(report: UpkeepReport) -> Iterator[tuple[object, ...]]:
    for name, table in report.tables.items():
        yield (
            report.dataset,
            name,
            f"{table.superseded_rows} ({table.superseded_bytes:,} B)",
            f"{table.compacted_fragments} fragments ({table.compacted_bytes:,} B)",
            f"{table.versions_removed} ({table.version_bytes:,} B)",
            f"{table.orphan_files} ({table.orphan_bytes:,} B)",
            f"{table.tags_removed} removed, {table.tags_mended} mended",
        )
