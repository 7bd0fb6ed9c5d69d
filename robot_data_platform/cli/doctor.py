"""`rdp doctor`."""

from __future__ import annotations

import sys
import time
from dataclasses import asdict

import click

from robot_data_platform.cli.options import landing_option, reading
from robot_data_platform.cli.output import print_json


@click.command()
@landing_option
@reading
def doctor(landing: str, lake: str, as_json: bool) -> None:
    """Say what is wrong with the lake and how to mend it; exits 1 when something is."""
    from robot_data_platform.compute.doctor import Visit, examine
    from robot_data_platform.compute.upkeep_policy import UpkeepPolicy
    from robot_data_platform.core.finding import Severity
    from robot_data_platform.storage.lake import Lake
    from robot_data_platform.storage.landing import Landing

    visit = Visit(
        lake=Lake(lake),
        landing=Landing(landing),
        policy=UpkeepPolicy(),
        now_ns=time.time_ns(),
    )
    found = examine(visit)
    wrong = [ailment for ailment in found if ailment.severity is not Severity.INFO]
    if as_json:
        print_json(
            {
                "lake": visit.lake.root,
                "is_sound": not wrong,
                "findings": [asdict(ailment) for ailment in found],
            }
        )
    else:
        for ailment in found:
            click.echo(f"{ailment.severity}: {ailment.what}: {ailment.where}")
            click.echo(f"  {ailment.message}\n  {ailment.mend}")
        click.echo(f"{visit.lake.root}: {len(wrong)} things are wrong" if wrong else "sound")
    if wrong:
        sys.exit(1)
