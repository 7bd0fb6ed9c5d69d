"""`rdp demo`: the whole way on the bundled samples, told step by step."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from robot_data_platform.cli.ingest import materializing
from robot_data_platform.cli.options import lake_option, landing_option
from robot_data_platform.cli.output import console, print_table

if TYPE_CHECKING:
    from robot_data_platform.defs.resources import Platform
    from robot_data_platform.defs.runs import Instance
    from robot_data_platform.storage.lake import Lake
    from robot_data_platform.storage.landing import Landing

SAMPLES = "robot_data_platform_tests/samples/data"
DATASETS = ("aloha_fold", "so101_pick", "aloha_insert")
UPLOAD_STAMP = "20260101t000000z"
"""Fixed, so that a second demonstration finds its uploads there and changes nothing."""
TRAINED_ON = "aloha_fold"


@click.command()
@click.option(
    "--samples",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=SAMPLES,
    show_default=True,
    help="Folder of the sample uploads.",
)
@lake_option
@landing_option
def demo(samples: Path, lake: str, landing: str) -> None:
    """Upload the samples, let the asset graph ingest and release them, train, trace back."""
    from robot_data_platform.defs.resources import Platform
    from robot_data_platform.defs.runs import open_instance
    from robot_data_platform.storage.lake import Lake
    from robot_data_platform.storage.landing import Landing

    started, platform = time.perf_counter(), Platform(lake=lake, landing=landing)
    with open_instance() as instance:
        land_samples(samples, Landing(landing))
        ingest_requested(instance, platform)
        release_all(instance, platform)
        target = Lake(lake)
        model = train(instance, target)
    tell_tables(target)
    tell_lineage(target, model)
    say(f"\nDone in {time.perf_counter() - started:.0f} s. Look around:")
    say("  make ui                      the asset graph, checks and pictures in a browser")
    say("  .venv/bin/rdp episodes aloha_fold")
    say("  .venv/bin/rdp findings so101_pick")
    say(f"  .venv/bin/rdp lineage {model}")


def say(text: str) -> None:
    """Print one line of the story."""
    click.echo(text)


def land_samples(samples: Path, landing: Landing) -> None:
    """Upload each sample dataset that is not there yet."""
    say("1. Three robots upload their recordings.")
    there = set(landing.list_uploads())
    for dataset in DATASETS:
        upload = f"{UPLOAD_STAMP}-{dataset}-0000"
        if upload not in there:
            landing.put(samples / dataset, dataset, upload)
        say(f"   {landing.root}/{dataset}/{upload}")


def ingest_requested(instance: Instance, platform: Platform) -> None:
    """Ask the sensor what is new and run the graph for it."""
    from robot_data_platform.defs.runs import ingest
    from robot_data_platform.defs.watch import requested_uploads

    say("2. The sensor sees their markers; the asset graph ingests and checks each upload.")
    for manifest in requested_uploads(instance, platform):
        started = time.perf_counter()
        with materializing(enabled=console().is_terminal):
            ingest(instance, platform, manifest)
        say(f"   {manifest.upload}: {time.perf_counter() - started:.1f} s")


def release_all(instance: Instance, platform: Platform) -> None:
    """Curate splits and release every dataset."""
    from robot_data_platform.defs.runs import release

    say("3. Every dataset is split and released.")
    for dataset in DATASETS:
        release(instance, platform, dataset)


def train(instance: Instance, lake: Lake) -> str:
    """Train a small policy on the newest release and record it; return the model's name."""
    from robot_data_platform.cli.demo_policy import fit, read_samples
    from robot_data_platform.defs.models import report_model
    from robot_data_platform.lineage.models import training_run
    from robot_data_platform.reader import RobotLanceDataset
    from robot_data_platform.storage.snapshot import list_releases

    released = list_releases(lake, TRAINED_ON)[-1]
    name = f"ridge-{released['digest'][:12]}"
    say(f"4. A policy is trained on {TRAINED_ON}/{released['release']}: states and pictures.")
    if _is_recorded(lake, name):
        say(f"   {name} is there already: the same data gives the same model")
        return name
    with (
        training_run(
            lake, TRAINED_ON, released["release"], model=name, parameters={"method": "ridge"}
        ) as run,
        tempfile.TemporaryDirectory() as folder,
    ):
        train_split = RobotLanceDataset(
            lake.root, TRAINED_ON, release=released["release"], split="train"
        )
        features, actions = read_samples(train_split)
        policy = fit(features, actions)
        rmse = float((((policy.actions(features) - actions) ** 2).mean()) ** 0.5)
        run.log_metrics(train_rmse=rmse)
        artifact = Path(folder) / f"{name}.npz"
        policy.save(artifact)
        run.save_artifact(artifact)
    say(f"   {len(features)} rows, {features.shape[1]} features, train RMSE {rmse:.4f}")
    report_model(instance, name, released["release"], released["digest"], {"train_rmse": rmse})
    return name


def _is_recorded(lake: Lake, model: str) -> bool:
    from robot_data_platform.storage.predicate import equals

    table = lake.find_catalog("models")
    return table is not None and table.count_rows(equals("model", model)) > 0


def tell_tables(lake: Lake) -> None:
    """Print tables with versions, and every episode that is not simply ok, with the reason."""
    from robot_data_platform.compute.listing import dataset_facts, list_episodes
    from robot_data_platform.curation.contents import show
    from robot_data_platform.storage.snapshot import list_releases

    say("\n5. What the lake holds now:")
    rows, doubtful, released = [], [], []
    for dataset in DATASETS:
        facts = dataset_facts(lake, dataset)
        versions = " ".join(f"{name}@{version}" for name, version in facts["versions"].items())
        rows.append([dataset, facts["episodes"], facts["rows"], versions])
        doubtful += [
            [dataset, e["source"], e["status"], e["reason"]]
            for e in list_episodes(lake, dataset)
            if e["status"] != "ok"
        ]
        row = list_releases(lake, dataset)[-1]
        splits = show(lake, dataset, row["release"]).episodes_by_split
        released.append([dataset, row["release"], row["num_episodes"], row["num_rows"], splits])
    print_table("Tables", ["dataset", "episodes", "rows", "Lance versions"], rows)
    print_table("Set apart", ["dataset", "episode", "status", "reason"], doubtful)
    print_table("Releases", ["dataset", "release", "episodes", "rows", "splits"], released)


def tell_lineage(lake: Lake, model: str) -> None:
    """Print where a model came from, down to the source files."""
    from robot_data_platform.lineage.query import lineage_of

    facts = lineage_of(lake, model)
    say(f"\n6. What {model} was trained on, answered from the lake alone:")
    say(f"   release {facts.release}, digest {facts.digest[:16]}…")
    say("   " + " ".join(f"{name}@{version}" for name, version in facts.tables.items()))
    say(f"   {len(facts.episodes)} episodes of {', '.join(facts.uploads)}")
    for source in facts.sources[:3]:
        say(f"   {(source['sha256'] or '?')[:16]}…  {source['path']}")
    say(f"   … {len(facts.sources)} source files in all")
