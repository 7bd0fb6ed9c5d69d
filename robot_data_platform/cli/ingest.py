"""`rdp upload` and `rdp ingest`."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from robot_data_platform.cli.options import (
    allow_pickle_option,
    json_option,
    lake_option,
    landing_option,
)
from robot_data_platform.cli.output import console, print_json, print_table
from robot_data_platform.cli.source import check_format, stated_text
from robot_data_platform.errors import ErrorKind, InvalidInputError

if TYPE_CHECKING:
    from robot_data_platform.compute.listing import IngestFacts
    from robot_data_platform.storage.landing import Landing, Manifest, Progress

SOURCE = click.argument("source", type=click.Path(exists=True, path_type=Path))
DATASET = click.option("--dataset", required=True, help="Dataset to put it in: a-z 0-9 _ . -")
PROFILE = click.option(
    "--profile",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="YAML that states what the data does not say (docs/formats.md).",
)
FORMAT = click.option("--format", "format_hint", help="Format name; default: detected.")
MAX_UPLOADS_PER_SECOND = 1000


@click.command()
@SOURCE
@DATASET
@PROFILE
@FORMAT
@allow_pickle_option
@landing_option
@json_option
def upload(
    source: Path,
    dataset: str,
    profile: Path | None,
    format_hint: str | None,
    allow_pickle: bool,
    landing: str,
    as_json: bool,
) -> None:
    """Copy SOURCE into the landing folder and write its marker; sensors do the rest."""
    from robot_data_platform.storage.landing import Landing

    stated = stated_text(source, profile, allow_pickle=allow_pickle)
    with progress_bar("uploading", enabled=shows_progress(as_json)) as progress:
        manifest = put_upload(Landing(landing), source, dataset, stated, format_hint, progress)
    if as_json:
        print_json(
            {
                "dataset": dataset,
                "upload": manifest.upload,
                "files": len(manifest.files),
                "bytes": sum(entry.size_bytes for entry in manifest.files),
                "manifest_sha256": manifest.manifest_sha256,
            }
        )
        return
    click.echo(f"Uploaded {len(manifest.files)} files as {manifest.upload}.")
    click.echo("A running `dagster dev` ingests it within half a minute.")


@click.command()
@SOURCE
@DATASET
@PROFILE
@FORMAT
@allow_pickle_option
@lake_option
@landing_option
@json_option
def ingest(
    source: Path,
    dataset: str,
    profile: Path | None,
    format_hint: str | None,
    allow_pickle: bool,
    lake: str,
    landing: str,
    as_json: bool,
) -> None:
    """Land SOURCE as an upload and materialize everything for it."""
    from robot_data_platform.compute.listing import ingest_facts
    from robot_data_platform.defs import runs
    from robot_data_platform.defs.resources import Platform
    from robot_data_platform.storage.lake import Lake
    from robot_data_platform.storage.landing import Landing

    started, is_shown = time.perf_counter(), shows_progress(as_json)
    # What can be told before anything is copied.
    target = Lake(lake).check_writable()
    target.find(dataset, "episodes")
    stated = stated_text(source, profile, allow_pickle=allow_pickle)
    check_format(source, stated, format_hint)
    with progress_bar("uploading", enabled=is_shown) as progress:
        manifest = put_upload(Landing(landing), source, dataset, stated, format_hint, progress)
    with runs.open_instance() as instance, materializing(enabled=is_shown):
        runs.ingest(instance, Platform(lake=lake, landing=landing), manifest)
    facts = ingest_facts(target, dataset, manifest.upload, time.perf_counter() - started)
    print_json(facts) if as_json else print_ingested(facts)
    if not facts["episodes"]["converted"]:
        sys.exit(1)


def put_upload(
    landing: Landing,
    source: Path,
    dataset: str,
    profile: str | None,
    format_hint: str | None,
    progress: Progress | None,
) -> Manifest:
    """Upload a folder under the next free id of this second."""
    stamp = datetime.now(UTC).strftime("%Y%m%dt%H%M%Sz")
    for number in range(MAX_UPLOADS_PER_SECOND):
        name = f"{stamp}-{dataset}-{number:04d}"
        if name in landing.list_uploads(after=f"{stamp}-"):
            continue
        try:
            return landing.put(
                source,
                dataset,
                name,
                format_hint=format_hint,
                profile=profile,
                progress=progress,
            )
        except InvalidInputError as err:
            if err.kind is not ErrorKind.ALREADY_EXISTS:
                raise
    raise click.ClickException(f"{MAX_UPLOADS_PER_SECOND} uploads in one second; try again.")


def print_ingested(facts: IngestFacts) -> None:
    """Print what an ingestion came to."""
    counts = facts["episodes"]
    click.echo(
        f"{facts['dataset']}: {counts['converted']} episodes converted "
        f"({counts['flagged']} flagged), {counts['quarantined']} quarantined; "
        f"{facts['rows']} rows, {facts['gops']} GOPs in {facts['seconds']:.1f} s"
    )
    for lost in facts["quarantined"]:
        click.echo(f"  quarantined {lost['source']}: {lost['reason']}")
    print_table(
        "Tables",
        ["table", "version", "uri"],
        [[name, t["version"], t["uri"]] for name, t in facts["tables"].items()],
    )
    click.echo(
        f"Next: `rdp episodes {facts['dataset']}`, `rdp findings {facts['dataset']}`, "
        f"`rdp release create {facts['dataset']} NAME`."
    )


def shows_progress(as_json: bool) -> bool:
    """Return whether a bar is wanted: only for a person who looks at a terminal."""
    return not as_json and console().is_terminal


@contextmanager
def progress_bar(label: str, *, enabled: bool) -> Iterator[Progress | None]:
    """Yield something to report (done, total) to; nothing where it is not wanted."""
    from rich.progress import Progress as RichProgress

    if not enabled:
        yield None
        return
    with RichProgress(console=console(), transient=True) as bar:
        task = bar.add_task(label, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


@contextmanager
def materializing(*, enabled: bool) -> Iterator[None]:
    """Show a progress bar per asset for whatever is materialized inside the block."""
    from rich.progress import Progress as RichProgress

    from robot_data_platform.defs.progress import listening

    if not enabled:
        yield
        return
    with RichProgress(console=console(), transient=True) as bar:
        tasks: dict[str, object] = {}

        def listen(asset: str, done: int, total: int) -> None:
            if asset not in tasks:
                tasks[asset] = bar.add_task(asset, total=total)
            bar.update(tasks[asset], completed=done, total=total)  # type: ignore[arg-type]

        with listening(listen):
            yield
