"""`rdp backup`."""

from __future__ import annotations

from dataclasses import asdict

import click

from robot_data_platform.cli.options import reading
from robot_data_platform.cli.output import print_json


@click.command()
@click.argument("target")
@reading
def backup(target: str, lake: str, as_json: bool) -> None:
    """Copy the lake to TARGET, a local path or s3:// URI, empty or an older copy of it.

    Writers may go on meanwhile. To restore, copy the other way, to an empty place.
    """
    from robot_data_platform.storage.backup import copy_lake
    from robot_data_platform.storage.lake import Lake

    source, copy = Lake(lake), Lake(target)
    done = copy_lake(source, copy)
    if as_json:
        print_json({"lake": source.root, "target": copy.root, **asdict(done)})
    else:
        click.echo(
            f"{copy.root}: {done.num_files} files ({done.num_bytes:,} bytes) copied, "
            f"{done.num_files_there} were there"
        )
