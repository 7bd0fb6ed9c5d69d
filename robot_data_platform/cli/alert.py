"""`rdp alert`."""

from __future__ import annotations

import sys
import time

import click

from robot_data_platform.cli.options import json_option
from robot_data_platform.cli.output import print_json


@click.group()
def alert() -> None:
    """Try what people are told by."""


@alert.command()
@json_option
def test(as_json: bool) -> None:
    """Send an alert that says it is a test to every channel of the RDP_ALERT_ variables."""
    from robot_data_platform.telemetry.alert import Alert
    from robot_data_platform.telemetry.alert_settings import alert_channels
    from robot_data_platform.telemetry.delivery import deliver

    told = Alert(event="test", message="This is a test of alerts.", occurred_ns=time.time_ns())
    taken = deliver(told, alert_channels())
    if as_json:
        print_json([{"channel": name, "taken": is_taken} for name, is_taken in taken.items()])
    elif not taken:
        click.echo("No channel is set: see RDP_ALERT_WEBHOOK_URL and RDP_ALERT_SMTP_HOST.")
    else:
        for name, is_taken in taken.items():
            click.echo(f"{name}: {'taken' if is_taken else 'not taken'}")
    if not taken or not all(taken.values()):
        sys.exit(1)
