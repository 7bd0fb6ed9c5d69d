"""Episodes retired, and ``episodes`` taken back to an earlier version."""

from __future__ import annotations

from collections.abc import Mapping

from robot_data_platform.compute.restoration import restore_episodes
from robot_data_platform.compute.retirement import retire_episode
from robot_data_platform.core.run import RunInfo
from robot_data_platform.errors import ErrorKind, NotFoundError
from robot_data_platform.storage.lake import Lake
from robot_data_platform_tests.soak.model import DATASET, Model, Row


def without_null(rows: Mapping[str, Row]) -> dict[str, Row]:
    """Return rows without what is null: a column that came later is null in older rows."""
    return {
        key: {name: value for name, value in row.items() if value is not None}
        for key, row in rows.items()
    }


def retire(lake: Lake, model: Model, episode: str, run: RunInfo) -> None:
    """Retire a visible episode; a second call does nothing."""
    done = retire_episode(lake, DATASET, episode, "a person asked for it", "somebody", run)
    assert done.is_new
    row = model.episodes.pop(episode)
    model.retired.add(episode)
    assert (done.upload, done.source_key) == (row["upload"], row["source_key"])
    recorded = lake.ensure_catalog("retirements")
    assert set(recorded.read(["episode_id"])["episode_id"].to_pylist()) == model.retired
    version = done.episodes_version
    inputs = {"episodes": version - 1, "retirements": recorded.version}
    model.edges += [
        (run.asset, None, "episodes", version, table, str(at), run.run_id)
        for table, at in inputs.items()
    ]
    again = retire_episode(lake, DATASET, episode, "again", "somebody", run)
    assert not again.is_new


def restore(
    lake: Lake,
    model: Model,
    version: int,
    rows: Mapping[str, Row],
    may_be_gone: bool,
    run: RunInfo,
) -> None:
    """Go back to a version; be refused where something that it names is not there any more."""
    wanted = {key: row for key, row in rows.items() if key not in model.retired}
    is_there = all(_is_there(model, row) for row in wanted.values())
    try:
        done = restore_episodes(lake, DATASET, version, run)
    except NotFoundError as err:
        is_right = may_be_gone if err.kind == ErrorKind.VERSION_NOT_FOUND else not is_there
        if not is_right:
            raise
        return
    assert is_there
    assert done.is_new is (without_null(wanted) != without_null(model.episodes))
    model.episodes = dict(wanted)
    if done.is_new:
        edge = ("episodes", done.episodes_version, "episodes", str(version), run.run_id)
        model.edges.append((run.asset, None, *edge))


def _is_there(model: Model, row: Row) -> bool:
    """Return whether all that a row names can still be read."""
    ingested = model.at_index(row["episode_index"])
    if model.is_gone(ingested, ingested.number_of(row["episode_index"])):
        return False
    if row["status"] == "quarantined":
        return ingested.is_noted
    return ingested.has_frames and ingested.has_gops
