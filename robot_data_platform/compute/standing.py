"""Findings that hold of an upload now, whichever checks made them, and the status they come to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from robot_data_platform.core.finding import (
    STATUS_QUARANTINED,
    Finding,
    Severity,
    status_of,
)
from robot_data_platform.core.finding_rows import findings_by_episode
from robot_data_platform.storage.predicate import equals

if TYPE_CHECKING:
    from collections.abc import Sequence

    from robot_data_platform.compute.ingestion import Ingestion
    from robot_data_platform.storage.lake import Lake


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckSet:
    """Checks whose findings go to a table, and whose version to a column of ``episodes``."""

    table: str
    version_column: str


QUALITY = CheckSet(table="quality", version_column="q_version")
SPATIAL = CheckSet(table="spatial", version_column="s_version")


def findings_of_ingestion(ingestion: Ingestion) -> dict[int, list[Finding]]:
    """Return what ingestion itself found, by ``episode_index``."""
    quality = ingestion.workplace.lake.open(ingestion.dataset, QUALITY.table)
    return findings_by_episode(quality.read(where=equals("rules_version", ingestion.ingestion_id)))


def findings_of(ingestion: Ingestion, checks: CheckSet) -> dict[int, list[Finding]]:
    """Return what a set of checks found that holds of an ingestion now, by ``episode_index``."""
    lake, dataset = ingestion.workplace.lake, ingestion.dataset
    table, episodes = lake.find(dataset, checks.table), lake.open(dataset, "episodes")
    if table is None or checks.version_column not in episodes.schema.names:
        return {}
    held = episodes.read(["episode_index", checks.version_column], ingestion.where())
    version_of = dict(zip(*(column.to_pylist() for column in held.columns), strict=True))
    rows = table.read(where=ingestion.where())
    holds = [
        version_of.get(index) == version
        for index, version in zip(
            rows["episode_index"].to_pylist(), rows["rules_version"].to_pylist(), strict=True
        )
    ]
    return findings_by_episode(rows.filter(pa.array(holds, pa.bool_())))


def status_columns(findings: Sequence[Finding], *, is_quarantined: bool) -> dict[str, object]:
    """Return the status of an episode, and its reason, from all findings that hold of it."""
    doubts = [f for f in findings if f.severity is not Severity.INFO]
    worst = sorted(doubts, key=lambda f: f.severity is not Severity.FAIL)
    return {
        "status": STATUS_QUARANTINED if is_quarantined else status_of(list(findings)),
        "status_reason": worst[0].message if worst else None,
    }


def columns_of_episodes(lake: Lake, dataset: str, rows: Sequence[dict[str, object]]) -> pa.Table:
    """Return rows as a table with the types of the columns of ``episodes``."""
    schema = lake.open(dataset, "episodes").schema
    return pa.Table.from_pylist(
        list(rows), schema=pa.schema([schema.field(name) for name in rows[0]])
    )


def worst_markdown(header: Sequence[str], rows: Sequence[Sequence[str]], *, otherwise: str) -> str:
    """Return rows as a Markdown table, or a sentence where there are none."""
    lines = [f"| {' | '.join(header)} |", "|---" * len(header) + "|"]
    lines += [f"| {' | '.join(_cell(cell) for cell in row)} |" for row in rows]
    return "\n".join(lines) if rows else otherwise


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
