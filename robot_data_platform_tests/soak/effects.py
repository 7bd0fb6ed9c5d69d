"""What a step changes in the model, held against what the step says and what the lake shows."""

from __future__ import annotations

from robot_data_platform.compute.abandonment import given_up
from robot_data_platform.core.run import RunInfo
from robot_data_platform.storage.lake import Lake
from robot_data_platform.storage.predicate import in_range, is_in
from robot_data_platform_tests.soak.materialize import Outcome
from robot_data_platform_tests.soak.model import (
    DATASET,
    Expected,
    Ingested,
    Model,
    Row,
    source_key,
    stable_id,
)
from robot_data_platform_tests.soak.seen import assert_episode_row, episodes_of

JUDGED = {"quality_results": "q_", "spatial_results": "s_"}
"""Columns that checks write, beside the status; by asset."""


def assert_ended(outcome: Outcome, expected: Expected, what: str) -> None:
    """Hold how a step ended against how it had to."""
    if outcome.error is not None:
        assert outcome.error in expected.refusals, f"{what}: {outcome.message}"
    else:
        assert not expected.refusals or expected.may_pass, f"{what}: not {expected.refusals}"
        assert outcome.is_new is expected.is_new, f"{what}: is_new is {outcome.is_new}"


def apply(
    model: Model, lake: Lake, asset: str, upload: str, outcome: Outcome, run: RunInfo
) -> None:
    """Change the model as a step of an upload changed the lake."""
    if outcome.error is not None:
        return
    if asset == "raw_episodes":
        _register(model, upload, outcome, run)
        return
    assert outcome.ingestion is not None
    ingested = model.at_index(outcome.ingestion.first_episode_index)
    if asset == "gop_video":
        if not ingested.has_gops:
            ingested.has_gops, ingested.is_noted = bool(model.good(ingested)), True
    elif asset == "frames":
        if not ingested.has_frames:
            ingested.has_frames, ingested.is_noted = bool(model.good(ingested)), True
    elif outcome.is_new:
        (_publish if asset == "episodes" else _judge)(model, lake, asset, ingested, outcome, run)
    if outcome.is_new and outcome.output is not None:
        model.note_edges((asset, upload, *outcome.output), outcome.reads, run.run_id)


def _register(model: Model, upload: str, outcome: Outcome, run: RunInfo) -> None:
    assert outcome.ingestion is not None
    known = model.ingestion(upload)
    if known is None or not model.is_registered(known):
        known = model.add(upload, outcome.ingestion.ingestion_id, run.created_ns)
    assert outcome.ingestion.first_episode_index == known.first_index
    assert outcome.ingestion.ingestion_id == known.ingestion_id


def _publish(
    model: Model, lake: Lake, asset: str, ingested: Ingested, outcome: Outcome, run: RunInfo
) -> None:
    assert outcome.output is not None
    shown = episodes_of(lake.open(DATASET, "episodes", outcome.output[1]))
    for row in [*model.rows_of(ingested.upload)]:
        del model.episodes[str(row["episode_id"])]
    for number in model.shown(ingested):
        key = stable_id(ingested.upload, source_key(number))
        assert_episode_row(shown[key], ingested, number, run.run_id)
        digest = shown[key]["content_digest"]
        assert model.digests.setdefault((ingested.content, number), digest) == digest
        model.episodes[key] = shown[key]


def _judge(
    model: Model, lake: Lake, asset: str, ingested: Ingested, outcome: Outcome, run: RunInfo
) -> None:
    prefix = JUDGED[asset]
    shown = episodes_of(lake.open(DATASET, "episodes"))
    for key, row in model.episodes.items():
        if row["ingestion_id"] == ingested.ingestion_id:
            model.episodes[key] = judged(row, shown[key], prefix)
            assert model.episodes[key][f"{prefix}version"] is not None


def judged(row: Row, shown: Row, prefix: str) -> Row:
    """Return a row with what a set of checks may write of it taken from what the lake shows."""
    names = [name for name in row if name.startswith(prefix)]
    if row["status"] != "quarantined":
        assert shown["status"] in ("ok", "flagged")
        names.append("status")
    return {**row, **{name: shown[name] for name in (*names, "status_reason")}}


def give_up(model: Model, lake: Lake, oldest_ns: int) -> None:
    """Take over what maintenance gave up: only what nothing shows, and nothing young."""
    shown = {row["episode_index"] for row in model.episodes.values()}
    ranges = given_up(lake.open(DATASET, "episodes"))
    indices = {index for start, stop in ranges for index in range(start, stop)}
    assert indices >= model.given_up
    for index in indices - model.given_up:
        assert index not in shown
        assert model.at_index(index).created_ns < oldest_ns
    model.given_up = indices


def collect(model: Model, lake: Lake) -> None:
    """Take over what is left of ingestions of which indices were given up."""
    shown = {row["episode_index"] for row in model.episodes.values()}
    gone = is_in("episode_index", sorted(index for index in model.given_up if index not in shown))
    assert not any(_holds(lake, table, gone) for table in ("frames", "gops", "quality"))
    for ingested in (*model.ingestions.values(), *model.replaced):
        if model.is_registered(ingested) and not model.good(ingested):
            where = in_range("episode_index", ingested.first_index, ingested.indices().stop)
            ingested.has_gops = _holds(lake, "gops", where)
            ingested.has_frames = _holds(lake, "frames", where)


def _holds(lake: Lake, table: str, where: str | None) -> bool:
    opened = lake.find(DATASET, table)
    return opened is not None and opened.count_rows(where) > 0
