"""`rdp profile`: drafts of what the data does not say."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from robot_data_platform.cli.options import allow_pickle_option, json_option
from robot_data_platform.cli.output import print_json
from robot_data_platform.cli.source import local_source
from robot_data_platform.errors import ErrorKind, InvalidInputError

if TYPE_CHECKING:
    from robot_data_platform.formats.profile_draft import ProfileDraft


@click.group()
def profile() -> None:
    """Draft the YAML that states what the data does not say."""


@profile.command()
@click.argument("source", type=click.Path(exists=True, path_type=Path))
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File to write; default: print it.",
)
@click.option("--format", "format_hint", help="Format name; default: detected.")
@allow_pickle_option
@json_option
def init(
    source: Path, output: Path | None, format_hint: str | None, allow_pickle: bool, as_json: bool
) -> None:
    """Draft a profile of SOURCE from what is found in it, valid as it is written."""
    from robot_data_platform.formats.profile import Profile
    from robot_data_platform.formats.profile_draft import draft_profile

    permitted = Profile(allow_pickle=allow_pickle)
    draft = draft_profile(local_source(source), format_hint, permitted)
    if output is not None:
        _write(output, draft.text)
    if as_json:
        print_json(_facts(draft, output))
    elif output is None:
        click.echo(draft.text, nl=False)
    else:
        _print_open(draft, output)


def _write(output: Path, text: str) -> None:
    """Write a new file; a profile that somebody filled in is not overwritten."""
    try:
        with output.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError as err:
        raise InvalidInputError(
            f"File {str(output)!r} is there already: expected a new one, so that nothing that was "
            "filled in is lost. Name another, or remove it.",
            kind=ErrorKind.INVALID_ARGUMENT,
            path=str(output),
        ) from err
    except OSError as err:
        raise click.ClickException(f"{str(output)!r} can't be written: {err.strerror}.") from err


def _facts(draft: ProfileDraft, output: Path | None) -> dict[str, object]:
    return {
        **asdict(draft.facts),
        "fill_in": [asdict(entry) for entry in draft.fill_in],
        "profile": draft.text,
        "written": None if output is None else str(output),
    }


def _print_open(draft: ProfileDraft, output: Path) -> None:
    click.echo(f"Wrote {output}: {len(draft.fill_in)} keys to fill in.")
    for entry in draft.fill_in:
        click.echo(f"  {entry.key}: {entry.why}")
