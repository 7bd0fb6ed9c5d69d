"""Findings as rows of ``quality``, and rolled up as columns of ``episodes``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pyarrow as pa

from robot_data_platform.core.finding import STATUS_QUARANTINED, Finding, Severity, status_of
from robot_data_platform.core.finding_rows import (
    EpisodeKeys,
    finding_row,
    findings_by_episode,
)
from robot_data_platform.core.schema import findings_schema

__all__ = ["EpisodeKeys", "Rollup", "findings_by_episode", "findings_table", "rollup"]

STAGE = "quality"
"""``stage`` of findings of these rules."""


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
    findings_by_episode: Iterable[tuple[EpisodeKeys, Sequence[Finding]]], rules_version: str
) -> pa.Table:
    """Return findings of rules at a version as rows of ``quality``, in the order given."""
    rows = [
        finding_row(keys, finding, stage=STAGE, rules_version=rules_version)
        for keys, findings in findings_by_episode
        for finding in findings
    ]
    return pa.Table.from_pylist(rows, schema=findings_schema())


def rollup(
    findings: Sequence[Finding],
    rules_version: str,
    *,
    earlier: Sequence[Finding] = (),
    is_quarantined: bool = False,
) -> Rollup:
    """Return the verdict on an episode, from these findings and those of its ingestion.

    Parameters
    ----------
    findings : sequence of Finding
        What these rules found.
    rules_version : str
        Names the rules and their thresholds.
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
        q_version=rules_version,
        q_num_info=count[Severity.INFO],
        q_num_warn=count[Severity.WARN],
        q_num_fail=count[Severity.FAIL],
        q_rules_broken=tuple(sorted(broken)),
    )
