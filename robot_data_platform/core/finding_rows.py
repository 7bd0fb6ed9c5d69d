"""Findings as rows of ``quality`` and ``spatial``, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from robot_data_platform.core.finding import Finding, Severity

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeKeys:
    """The columns of ``episodes`` that a finding carries."""

    episode_index: int
    episode_id: str
    upload: str


def finding_row(
    keys: EpisodeKeys, finding: Finding, *, stage: str, rules_version: str
) -> dict[str, object]:
    """Return a finding as the columns of `core.findings_schema`."""
    return {
        "episode_index": keys.episode_index,
        "episode_id": keys.episode_id,
        "upload": keys.upload,
        "stage": stage,
        "rules_version": rules_version,
        "rule": finding.rule,
        "severity": finding.severity.value,
        "value": finding.value,
        "threshold": finding.threshold,
        "unit": finding.unit,
        "where": finding.where,
        "message": finding.message,
    }


def findings_by_episode(rows: pa.Table) -> dict[int, list[Finding]]:
    """Return rows as findings by ``episode_index``, in the order of the rows."""
    grouped: dict[int, list[Finding]] = {}
    for row in rows.to_pylist():
        grouped.setdefault(row["episode_index"], []).append(_finding(row))
    return grouped


def _finding(row: Mapping[str, object]) -> Finding:
    facts = {name: row[name] for name in ("rule", "value", "threshold")}
    text = {name: row[name] or "" for name in ("where", "message", "unit")}
    return Finding(severity=Severity(str(row["severity"])), **facts, **text)  # type: ignore[arg-type]
