"""Taking one episode out of a dataset for good, as a recorded act.

The record comes first, in the catalog, and one commit to ``episodes`` follows. Whoever publishes
the upload meanwhile conflicts with that commit and then sees the record. Releases made before
still read the episode; its rows and GOPs go when maintenance collects what nothing names.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from robot_data_platform.compute.restating import restate_frames
from robot_data_platform.compute.retired import RETIREMENTS
from robot_data_platform.core.catalog_schema import retirements_schema
from robot_data_platform.errors import ErrorKind, NotFoundError
from robot_data_platform.lineage.edges import record_edges
from robot_data_platform.storage.commit import append_rows, commit_fragments
from robot_data_platform.storage.predicate import equals

if TYPE_CHECKING:
    from robot_data_platform.core.run import RunInfo
    from robot_data_platform.storage.lake import Lake
    from robot_data_platform.storage.table import LakeTable


@dataclass(frozen=True, slots=True, kw_only=True)
class Retirement:
    """How retiring an episode ended."""

    episode_id: str
    upload: str
    source_key: str
    episodes_version: int
    """A version of ``episodes`` without it."""
    is_new: bool
    """False where it was retired before, so nothing was written."""


def retire_episode(
    lake: Lake, dataset: str, episode_id: str, reason: str, retired_by: str, run: RunInfo
) -> Retirement:
    """Take an episode out of a dataset, whatever is ingested later.

    Retiring it again writes nothing; a call that died in the middle is finished by the next.

    Parameters
    ----------
    episode_id : str
        A published episode.
    reason, retired_by : str
        Kept with the record.

    Raises
    ------
    NotFoundError
        ``dataset-not-found``; ``episode-not-found``: no such episode is published.
    """
    episodes = lake.open(dataset, "episodes")
    known = _shown(episodes, episode_id) or _retired(lake, episode_id)
    if known is None:
        raise _not_shown(dataset, episode_id)
    recorded = _record(lake, dataset, known, reason, retired_by, run)
    committed = commit_fragments(
        episodes.uri, [], properties=run.properties(), replace=equals("episode_id", episode_id)
    )
    if committed.is_new:
        restate_frames(lake, dataset, lake.open(dataset, "episodes"))
        inputs = [("episodes", committed.version - 1), (RETIREMENTS, recorded)]
        record_edges(lake, dataset, ("episodes", committed.version), inputs, run)
    return Retirement(
        episode_id=episode_id,
        upload=known["upload"],
        source_key=known["source_key"],
        episodes_version=committed.version,
        is_new=committed.is_new,
    )


def _shown(episodes: LakeTable, episode_id: str) -> dict[str, str] | None:
    columns = ["episode_id", "upload", "source_key"]
    rows: list[dict[str, str]] = episodes.read(
        columns, equals("episode_id", episode_id)
    ).to_pylist()
    return rows[0] if rows else None


def _retired(lake: Lake, episode_id: str) -> dict[str, str] | None:
    table = lake.find_catalog(RETIREMENTS)
    return None if table is None else _shown(table, episode_id)


def _record(
    lake: Lake,
    dataset: str,
    key: dict[str, str],
    reason: str,
    retired_by: str,
    run: RunInfo,
) -> int:
    """Record a retirement, once; return the version of the catalog's table that holds it."""
    row = {
        **key,
        "dataset": dataset,
        "reason": reason,
        "retired_by": retired_by,
        "retired_ns": run.created_ns,
        "run_id": run.run_id,
        "code_version": run.code_version,
    }
    return append_rows(
        lake.ensure_catalog(RETIREMENTS).uri,
        pa.Table.from_pylist([row], schema=retirements_schema()),
        properties=run.properties(),
        is_done=lambda at: at.count_rows(equals("episode_id", key["episode_id"])) > 0,
    ).version


def _not_shown(dataset: str, episode_id: str) -> NotFoundError:
    return NotFoundError(
        f"Dataset {dataset!r} shows no episode {episode_id!r}: expected the episode_id of a "
        f"published one. List them with `rdp episodes {dataset} --json`.",
        kind=ErrorKind.EPISODE_NOT_FOUND,
        dataset=dataset,
        episode_id=episode_id,
    )
