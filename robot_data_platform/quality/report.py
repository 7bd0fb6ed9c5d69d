"""Findings as rows of ``quality``, and rolled up as columns of ``episodes``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from robot_data_platform.core.finding import STATUS_QUARANTINED, Finding, Severity, status_of
from robot_data_platform.core.schema import findings_schema
from robot_data_platform.quality.thresholds import RULES_VERSION

STAGE = "quality"
"""``stage`` of findings of these rules."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeKeys:
    """The columns of ``episodes`` that a finding carries."""

    episode_index: int
    episode_id: str
    upload: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Rollup:
    """What an episode's findings come to, as columns of ``episodes``."""

    status: str
    q_version: str
    q_num_info: int
    q_num_warn: int
    q_num_fail: int
    q_rules_broken: tuple[str, ...]
    """Rules with a finding of ``warn`` or ``fail``, sorted."""


def findings_table(
    findings_by_episode: Iterable[tuple[EpisodeKeys, Sequence[Finding]]],
) -> pa.Table:
    """Return findings as rows of ``quality``, in the order given."""
    rows = [_row(keys, finding) for keys, findings in findings_by_episode for finding in findings]
    return pa.Table.from_pylist(rows, schema=findings_schema())


def _row(keys: EpisodeKeys, finding: Finding) -> dict[str, object]:
    return {
        "episode_index": keys.episode_index,
        "episode_id": keys.episode_id,
        "upload": keys.upload,
        "stage": STAGE,
        "rules_version": RULES_VERSION,
        "rule": finding.rule,
        "severity": finding.severity.value,
        "value": finding.value,
        "threshold": finding.threshold,
        "unit": finding.unit,
        "where": finding.where,
        "message": finding.message,
    }


def findings_by_episode(rows: pa.Table) -> dict[int, list[Finding]]:
    """Return rows of ``quality`` as findings by ``episode_index``, in the order of the rows."""
    grouped: dict[int, list[Finding]] = {}
    for row in rows.to_pylist():
        grouped.setdefault(row["episode_index"], []).append(_finding(row))
    return grouped


def _finding(row: Mapping[str, object]) -> Finding:
    facts = {name: row[name] for name in ("rule", "value", "threshold")}
    text = {name: row[name] or "" for name in ("where", "message", "unit")}
    return Finding(severity=Severity(str(row["severity"])), **facts, **text)  # type: ignore[arg-type]


def rollup(
    findings: Sequence[Finding], *, earlier: Sequence[Finding] = (), is_quarantined: bool = False
) -> Rollup:
    """Return the verdict on an episode, from these findings and those of its ingestion.

    Parameters
    ----------
    findings : sequence of Finding
        What these rules found.
    earlier : sequence of Finding
        What ingestion found, as in ``quality``.
    is_quarantined : bool
        Whether the episode is in quarantine, where it stays.
    """
    standing = [*earlier, *findings]
    count = Counter(finding.severity for finding in standing)
    broken = {f.rule for f in standing if f.severity is not Severity.INFO}
    return Rollup(
        status=STATUS_QUARANTINED if is_quarantined else status_of(standing),
        q_version=RULES_VERSION,
        q_num_info=count[Severity.INFO],
        q_num_warn=count[Severity.WARN],
        q_num_fail=count[Severity.FAIL],
        q_rules_broken=tuple(sorted(broken)),
    )
