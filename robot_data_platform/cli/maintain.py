"""`rdp maintain`."""

from __future__ import annotations

import sys
import time
from dataclasses import asdict
from datetime import timedelta

import click

from robot_data_platform import __version__
from robot_data_platform.cli.options import reading
from robot_data_platform.cli.output import print_json


@click.command()
@click.argument("dataset")
@click.option("--keep-days", type=float, default=14.0, show_default=True, help="Untagged versions.")
@click.option("--scrub/--no-scrub", default=True, help="Hold every GOP against its checksum.")
@reading
def maintain(dataset: str, keep_days: float, scrub: bool, lake: str, as_json: bool) -> None:
    """Compact, fold indices, clean up and scrub DATASET; every release stays as it is."""
    from robot_data_platform.compute.maintenance import UpkeepPolicy, maintain_dataset
    from robot_data_platform.core.run import RunInfo
    from robot_data_platform.storage.lake import Lake

    target = Lake(lake).check_writable()
    target.open(dataset, "episodes")
    run = RunInfo(
        run_id="rdp-maintain",
        asset="maintenance",
        code_version=__version__,
        created_ns=time.time_ns(),
    )
    policy = UpkeepPolicy(keep_versions=timedelta(days=keep_days), scrub=scrub)
    report = maintain_dataset(target, dataset, run, policy)
    if as_json:
        print_json(asdict(report))
    else:
        click.echo(
            f"{dataset}: {report.num_superseded_rows} superseded rows removed, compacted "
            f"{report.compacted or 'nothing'}, {report.num_versions_removed} versions and "
            f"{report.num_bytes_removed} bytes cleaned up, {report.num_gops_scrubbed} GOPs "
            f"scrubbed, {len(report.damaged_gops)} damaged"
        )
    if report.damaged_gops:
        sys.exit(1)
