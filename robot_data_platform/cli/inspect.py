"""`rdp inspect`: look at a recording without ingesting it."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from robot_data_platform.cli.options import allow_pickle_option, json_option
from robot_data_platform.cli.output import print_json, print_table
from robot_data_platform.cli.source import given_profile, local_source

if TYPE_CHECKING:
    from robot_data_platform.formats.source_report import (
        CameraReport,
        EpisodeReport,
        SourceReport,
    )


@click.command()
@click.argument("source", type=click.Path(exists=True, path_type=Path))
@click.option(
    "--profile",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="YAML that wins over the source's own profile.yaml.",
)
@click.option("--format", "format_hint", help="Format name; default: detected.")
@allow_pickle_option
@json_option
def inspect(
    source: Path,
    profile: Path | None,
    format_hint: str | None,
    allow_pickle: bool,
    as_json: bool,
) -> None:
    """Show format, episodes, streams and every contradiction of SOURCE.

    Exits with 1 when an episode can't be ingested.
    """
    from robot_data_platform.formats.inspect import inspect_source

    stated = given_profile(source, profile, allow_pickle=allow_pickle)
    report = inspect_source(local_source(source), format_hint, stated)
    print_json(asdict(report)) if as_json else _print_report(report)
    if report.refused:
        sys.exit(1)


def _print_report(report: SourceReport) -> None:
    click.echo(f"{report.source}: {report.format}, {len(report.episodes)} episodes")
    print_table(
        "Episodes",
        ["episode", "task", "rows", "s", "signals", "cameras", "can be ingested"],
        [_episode_row(episode) for episode in report.episodes],
    )
    told = [("source", f) for f in report.findings]
    told += [(e.source_key, f) for e in report.episodes for f in e.findings]
    if not told:
        click.echo("No contradictions.")
        return
    print_table(
        "Contradictions",
        ["of", "severity", "rule", "message"],
        [[of, f.severity.value, f.rule, f.message] for of, f in told],
    )


def _episode_row(episode: EpisodeReport) -> list[object]:
    signals = (f"{s.name}[{s.width}] {_hz(s.clock.rate_hz)}" for s in episode.signals)
    cameras = (f"{c.name} {_kind(c)} {_hz(c.clock.rate_hz)}" for c in episode.cameras)
    return [
        episode.source_key,
        episode.task,
        episode.num_rows,
        f"{episode.seconds:.2f}",
        "\n".join(signals),
        "\n".join(cameras),
        f"no: {episode.refused_reason}" if episode.refused_kind else "yes",
    ]


def _kind(camera: CameraReport) -> str:
    """Return what a camera's pictures are; the size of those that are no video isn't looked at."""
    size = "" if camera.width_px is None else f" {camera.width_px}x{camera.height_px}"
    return " ".join(["depth"] * camera.is_depth + [camera.codec or "pictures"]) + size


def _hz(rate_hz: float | None) -> str:
    return "one sample" if rate_hz is None else f"{rate_hz:.2f} Hz"
