"""`rdp calibration show | accept`: proposed calibrations, and the recorded act of accepting one."""

from __future__ import annotations

import getpass
import time

import click

from robot_data_platform.cli.options import json_option, lake_option, landing_option, reading
from robot_data_platform.cli.output import print_json, print_table


@click.group()
def calibration() -> None:
    """Look at proposed calibrations, and accept them."""


@calibration.command()
@click.argument("dataset")
@click.option("--episode", type=int, help="Only of this episode_index.")
@reading
def show(dataset: str, episode: int | None, lake: str, as_json: bool) -> None:
    """List the causes found for cameras of DATASET, and what is proposed."""
    from robot_data_platform.compute.calibrations import proposals
    from robot_data_platform.storage.lake import Lake

    facts = proposals(Lake(lake), dataset, episode)
    if as_json:
        print_json(facts)
        return
    columns = [
        "episode",
        "camera",
        "status",
        "cause",
        "agrees",
        "declared",
        "next",
        "proposed move",
    ]
    print_table(
        f"Proposed calibrations of {dataset}",
        columns,
        [
            [
                f["episode_index"],
                f["camera"],
                f["status"],
                f["says"],
                f"{f['score_best']:.2f}",
                f"{f['score_declared']:.2f}",
                f"{f['score_second']:.2f} {f['second']}",
                f"{f['shift_cm']:.1f} cm, {f['turn_deg']:.1f} deg" if f["can_be_accepted"] else "",
            ]
            for f in facts
        ],
    )


@calibration.command()
@click.argument("dataset")
@click.option("--episode", type=int, required=True, help="The episode_index it was found in.")
@click.option("--camera", required=True, help="Camera name.")
@click.option("--by", "accepted_by", help="Who accepts it; default: the user of this machine.")
@lake_option
@landing_option
@json_option
def accept(
    dataset: str,
    episode: int,
    camera: str,
    accepted_by: str | None,
    lake: str,
    landing: str,
    as_json: bool,
) -> None:
    """Accept what is proposed for a camera of DATASET, and check its upload again.

    It stands in for the declared calibration wherever the upload declares the same; what is
    declared stays as it is.
    """
    from robot_data_platform import __version__
    from robot_data_platform.compute.calibrations import accept as record
    from robot_data_platform.core.run import RunInfo
    from robot_data_platform.defs import runs
    from robot_data_platform.defs.resources import Platform
    from robot_data_platform.storage.lake import Lake

    who, now_ns = accepted_by or getpass.getuser(), time.time_ns()
    run = RunInfo(
        run_id=f"cli-{now_ns}",
        asset="calibrations",
        code_version=__version__,
        created_ns=now_ns,
    )
    accepted = record(Lake(lake).check_writable(), dataset, episode, camera, who, run)
    with runs.open_instance() as instance:
        runs.check_again(instance, Platform(lake=lake, landing=landing), dataset, accepted.upload)
    facts = {
        "dataset": dataset,
        "upload": accepted.upload,
        "camera": camera,
        "acceptance_id": accepted.acceptance_id,
        "accepted_by": who,
    }
    if as_json:
        print_json(facts)
        return
    click.echo(f"Accepted for {camera!r} of upload {accepted.upload} by {who}; checked again.")
