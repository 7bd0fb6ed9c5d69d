"""`rdp rendition`: smaller sizes of a dataset's pictures."""

from __future__ import annotations

import time
from dataclasses import asdict

import click

from robot_data_platform import __version__
from robot_data_platform.cli.options import reading
from robot_data_platform.cli.output import print_json


@click.group()
def rendition() -> None:
    """Keep every picture of a dataset in a smaller size too, stored beside it."""


@rendition.command("add")
@click.argument("dataset")
@click.argument("name")
@click.option("--workers", type=int, help="Processes at once.  [default: the machine's cores]")
@reading
def add(dataset: str, name: str, workers: int | None, lake: str, as_json: bool) -> None:
    """Make rendition NAME of DATASET: HEIGHTxWIDTH-crop or HEIGHTxWIDTH-letterbox.

    Uploads that are ingested later get it by themselves. Calling it again makes what is missing.
    """
    from robot_data_platform.compute.episodes_map import Fanout
    from robot_data_platform.compute.rendering import add_rendition
    from robot_data_platform.core.rendition import parse_rendition
    from robot_data_platform.core.run import RunInfo
    from robot_data_platform.storage.lake import Lake

    run = RunInfo(
        run_id="rdp-rendition",
        asset="gop_video",
        code_version=__version__,
        created_ns=time.time_ns(),
    )
    target, fanout = Lake(lake).check_writable(), Fanout(num_workers=workers)
    result = add_rendition(target, dataset, parse_rendition(name), fanout, run)
    if as_json:
        print_json(asdict(result))
        return
    click.echo(
        f"{dataset}: rendition {result.rendition} has {result.num_gops} new GOPs of "
        f"{result.num_episodes} episodes, gops version {result.gops_version}"
    )


@rendition.command("list")
@click.argument("dataset")
@reading
def list_(dataset: str, lake: str, as_json: bool) -> None:
    """List the renditions of DATASET."""
    from robot_data_platform.compute.rendering import recorded_renditions
    from robot_data_platform.storage.lake import Lake

    names = [each.name for each in recorded_renditions(Lake(lake).open(dataset, "gops"))]
    if as_json:
        print_json({"dataset": dataset, "renditions": names})
        return
    click.echo("\n".join(names) or f"{dataset} has no renditions")
