"""`rdp retire` and `rdp restore`: change which episodes a dataset shows."""

from __future__ import annotations

import getpass
import time
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from robot_data_platform import __version__
from robot_data_platform.cli.options import reading
from robot_data_platform.cli.output import print_json

if TYPE_CHECKING:
    from robot_data_platform.core.run import RunInfo


@click.command()
@click.argument("dataset")
@click.argument("episode_id")
@click.option("--reason", required=True, help="Why; kept with the record.")
@click.option("--by", "retired_by", help="Who; default: the user of this machine.")
@reading
def retire(
    dataset: str, episode_id: str, reason: str, retired_by: str | None, lake: str, as_json: bool
) -> None:
    """Take EPISODE_ID out of DATASET for good; releases made before still read it."""
    from robot_data_platform.compute.retirement import retire_episode
    from robot_data_platform.storage.lake import Lake

    who = retired_by or getpass.getuser()
    done = retire_episode(Lake(lake), dataset, episode_id, reason, who, _run("retirements"))
    if as_json:
        print_json({"dataset": dataset, **asdict(done)})
        return
    said = "is retired" if done.is_new else "was retired before"
    click.echo(f"{dataset}: {done.source_key} of {done.upload} ({episode_id}) {said}")


@click.command()
@click.argument("dataset")
@click.option("--version", type=int, required=True, help="Version of the table episodes.")
@reading
def restore(dataset: str, version: int, lake: str, as_json: bool) -> None:
    """Show the episodes of DATASET as an earlier version did, where all of it is still there."""
    from robot_data_platform.compute.restoration import restore_episodes
    from robot_data_platform.storage.lake import Lake

    done = restore_episodes(Lake(lake), dataset, version, _run("restorations"))
    if as_json:
        print_json({"dataset": dataset, **asdict(done)})
        return
    click.echo(
        f"{dataset}: version {done.episodes_version} of episodes shows {done.num_episodes} "
        f"episodes, as version {version} did"
    )


def _run(asset: str) -> RunInfo:
    from robot_data_platform.core.run import RunInfo

    now_ns = time.time_ns()
    return RunInfo(run_id=f"cli-{now_ns}", asset=asset, code_version=__version__, created_ns=now_ns)
