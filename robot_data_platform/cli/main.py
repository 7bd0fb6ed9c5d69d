"""Entry point of `rdp`: the commands, and what an error prints and exits with.

Exit codes: 0 done; 1 the data was refused, a check failed or the store did; 2 wrong usage.
"""

from __future__ import annotations

import logging
import sys

import click

from robot_data_platform import __version__
from robot_data_platform.cli import (
    alert,
    backup,
    calibration,
    change,
    demo,
    docs,
    doctor,
    ingest,
    inspect,
    look,
    maintain,
    metrics,
    profile,
    release,
    rendition,
    trace,
)
from robot_data_platform.errors import ErrorKind, InvalidInputError, RobotDataError
from robot_data_platform.telemetry.logs import configure_logging, is_json

LOG = logging.getLogger(__name__)

USAGE_KINDS = {
    ErrorKind.INVALID_ARGUMENT,
    ErrorKind.INVALID_NAME,
    ErrorKind.INVALID_URI,
    ErrorKind.INVALID_SPLIT_SPEC,
    ErrorKind.INDEX_OUT_OF_RANGE,
}
"""Errors of how a command was called, not of the data."""


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="rdp")
def cli() -> None:
    """Robot-learning data as versioned Lance tables: upload, check, release, trace."""


COMMANDS = (
    ingest.upload,
    inspect.inspect,
    profile.profile,
    ingest.ingest,
    look.datasets,
    look.episodes,
    look.findings,
    look.frame,
    docs.docs,
    calibration.calibration,
    release.release,
    rendition.rendition,
    trace.lineage,
    trace.impact,
    change.retire,
    change.restore,
    maintain.maintain,
    doctor.doctor,
    backup.backup,
    metrics.metrics,
    alert.alert,
    demo.demo,
)
for command in COMMANDS:
    cli.add_command(command)


def main() -> None:
    """Run `rdp`, and turn an error into one message and an exit code."""
    try:
        configure_logging()
        cli.main(prog_name="rdp", standalone_mode=False)
    except click.exceptions.Abort:
        sys.exit(130)
    except click.ClickException as err:
        err.show()
        sys.exit(err.exit_code)
    except RobotDataError as err:
        if is_json():
            LOG.error("%s", err, extra={"error_kind": err.kind.value})  # noqa: TRY400
        else:
            click.echo(f"rdp: {err}", err=True)
        sys.exit(exit_code(err))


def exit_code(error: RobotDataError) -> int:
    """Return 2 for an error of usage, else 1."""
    return 2 if isinstance(error, InvalidInputError) and error.kind in USAGE_KINDS else 1
