"""Why episodes of an upload are in quarantine, as whoever is told of it wants to read it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from robot_data_platform.compute.findings import QUARANTINE_RULE
from robot_data_platform.core.finding import STATUS_QUARANTINED
from robot_data_platform.storage.predicate import all_of, equals

if TYPE_CHECKING:
    from robot_data_platform.storage.lake import Lake


@dataclass(frozen=True, slots=True, kw_only=True)
class QuarantinedEpisode:
    """One episode that could not be ingested."""

    source_key: str
    error_kind: str
    """Empty where an older finding doesn't say it."""
    reason: str


def quarantined_episodes(lake: Lake, dataset: str, upload: str) -> list[QuarantinedEpisode]:
    """Return the published episodes of an upload that are in quarantine, by their index."""
    columns = ["episode_index", "source_key", "status_reason"]
    where = all_of(equals("upload", upload), equals("status", STATUS_QUARANTINED))
    rows = lake.open(dataset, "episodes").read(columns, where).sort_by("episode_index").to_pylist()
    kinds = _kinds(lake, dataset, upload)
    return [
        QuarantinedEpisode(
            source_key=row["source_key"],
            error_kind=kinds.get(row["episode_index"], ""),
            reason=row["status_reason"] or "",
        )
        for row in rows
    ]


def _kinds(lake: Lake, dataset: str, upload: str) -> dict[int, str]:
    where = all_of(equals("rule", QUARANTINE_RULE), equals("upload", upload))
    rows = lake.open(dataset, "quality").read(["episode_index", "where"], where).to_pylist()
    return {row["episode_index"]: row["where"] or "" for row in rows}
