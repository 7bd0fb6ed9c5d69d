"""`rdp lineage` and `rdp impact`: what a model or release came from, and where data went."""

from __future__ import annotations

from dataclasses import asdict

import click

from robot_data_platform.cli.options import reading
from robot_data_platform.cli.output import print_json


@click.command()
@click.argument("name")
@reading
def lineage(name: str, lake: str, as_json: bool) -> None:
    """Walk from a model or release (DATASET/RELEASE) back to the source files and their hashes."""
    from robot_data_platform.lineage.query import lineage_of
    from robot_data_platform.storage.lake import Lake

    facts = asdict(lineage_of(Lake(lake), name))
    if as_json:
        print_json(facts)
        return
    for key in ("model", "dataset", "release", "digest", "code_version"):
        click.echo(f"{key}: {facts[key] or '-'}")
    for table, version in facts["tables"].items():
        click.echo(f"  table {table}@{version}")
    for key in ("episodes", "uploads", "runs"):
        click.echo(f"{key}: {len(facts[key])}")
        for value in facts[key]:
            click.echo(f"  {value}")
    click.echo(f"sources: {len(facts['sources'])}")
    for source in facts["sources"]:
        click.echo(f"  {source['sha256']}  {source['path']}")


@click.command()
@click.argument("name")
@reading
def impact(name: str, lake: str, as_json: bool) -> None:
    """Find every release and model that holds an episode, an upload or a source file (sha256)."""
    from robot_data_platform.lineage.impact import impact_of
    from robot_data_platform.storage.lake import Lake

    facts = asdict(impact_of(Lake(lake), name))
    if as_json:
        print_json(facts)
        return
    for key, values in facts.items():
        if not isinstance(values, list | tuple):
            click.echo(f"{key}: {values}")
            continue
        click.echo(f"{key}: {len(values)}")
        for value in values:
            click.echo(f"  {value}")
