"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., object])

lake_option = click.option(
    "--lake",
    envvar="RDP_LAKE",
    default=".rdp/lake",
    show_default=True,
    help="Lake: a local path or s3://bucket/prefix.",
)
landing_option = click.option(
    "--landing",
    envvar="RDP_LANDING",
    default=".rdp/landing",
    show_default=True,
    help="Landing folder: a local path or s3://bucket/prefix.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON and nothing else.")

allow_pickle_option = click.option(
    "--allow-pickle",
    is_flag=True,
    help="Read Python pickles of plain arrays; stated in the profile that is kept.",
)


def reading(command: Command) -> Command:
    """Give a command the options of whoever looks at the lake."""
    return lake_option(json_option(command))
