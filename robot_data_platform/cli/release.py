"""`rdp release create | list | show | diff | verify`."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path

import click

from robot_data_platform.cli.options import json_option, lake_option, reading
from robot_data_platform.cli.output import print_json, print_table


@click.group()
def release() -> None:
    """Make immutable releases, and look at them."""


@release.command()
@click.argument("dataset")
@click.argument("name")
@click.option(
    "--spec",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Split spec in YAML (docs/splits.md); default: every ok episode, 80/10/10.",
)
@lake_option
@json_option
def create(dataset: str, name: str, spec: Path | None, lake: str, as_json: bool) -> None:
    """Curate DATASET and release it as NAME."""
    from robot_data_platform.core.identity import check_name
    from robot_data_platform.defs import runs
    from robot_data_platform.defs.resources import Platform
    from robot_data_platform.storage.lake import Lake

    Lake(lake).check_writable().open(dataset, "episodes")
    check_name(name, "release")
    text = _spec_text(spec) if spec else ""
    with runs.open_instance() as instance:
        runs.release(instance, Platform(lake=lake), dataset, name, text)
    _print_summary(lake, dataset, name, as_json)


@release.command("list")
@click.argument("dataset", required=False)
@reading
def list_(dataset: str | None, lake: str, as_json: bool) -> None:
    """List the releases of DATASET, or of every dataset."""
    from robot_data_platform.storage.lake import Lake
    from robot_data_platform.storage.snapshot import list_releases

    target = Lake(lake)
    if dataset is not None:
        target.open(dataset, "episodes")
    keys = ("dataset", "release", "digest", "num_episodes", "num_rows", "created_ns")
    rows = [{key: row[key] for key in keys} for row in map(dict, list_releases(target, dataset))]
    if as_json:
        print_json(rows)
        return
    print_table("Releases", keys, [[row[key] for key in keys] for row in rows])


@release.command()
@click.argument("dataset")
@click.argument("name")
@reading
def show(dataset: str, name: str, lake: str, as_json: bool) -> None:
    """Show what release NAME of DATASET holds."""
    _print_summary(lake, dataset, name, as_json)


@release.command()
@click.argument("dataset")
@click.argument("first")
@click.argument("second")
@reading
def diff(dataset: str, first: str, second: str, lake: str, as_json: bool) -> None:
    """Show what release SECOND of DATASET has that FIRST has not, and the other way round."""
    from robot_data_platform.curation.contents import diff as diff_releases
    from robot_data_platform.storage.lake import Lake

    facts = asdict(diff_releases(Lake(lake), dataset, first, second))
    if as_json:
        print_json(facts)
        return
    for key, values in facts.items():
        click.echo(f"{key}: {len(values)}")
        for value in values:
            click.echo(f"  {value}")


@release.command()
@click.argument("dataset")
@click.argument("name")
@reading
def verify(dataset: str, name: str, lake: str, as_json: bool) -> None:
    """Hold release NAME of DATASET against its digest, its tags and every checksum."""
    from robot_data_platform.curation.verify import verify as verify_release
    from robot_data_platform.storage.lake import Lake

    report = verify_release(Lake(lake), dataset, name)
    if as_json:
        print_json(asdict(report))
    else:
        click.echo(
            f"{dataset}/{name}: {report.num_episodes} episodes, {report.num_rows} rows, "
            f"{report.num_gops} GOPs read; {len(report.problems)} problems"
        )
        for problem in report.problems:
            click.echo(f"  {problem.rule}: {problem.message}")
    if report.problems:
        sys.exit(1)


def _spec_text(file: Path) -> str:
    """Return the text of a spec; a wrong one is told before anything runs."""
    from robot_data_platform.curation.spec import parse_spec

    try:
        text = file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as err:
        raise click.BadParameter(f"{str(file)!r} is not UTF-8: {err}.") from err
    parse_spec(text, str(file))
    return text


def _print_summary(lake: str, dataset: str, name: str, as_json: bool) -> None:
    from robot_data_platform.curation.contents import show as show_release
    from robot_data_platform.storage.lake import Lake

    facts = asdict(show_release(Lake(lake), dataset, name))
    facts = {"dataset": facts.pop("dataset"), "release": facts.pop("name"), **facts}
    if as_json:
        print_json(facts)
        return
    for key, value in facts.items():
        click.echo(f"{key}: {value}")
