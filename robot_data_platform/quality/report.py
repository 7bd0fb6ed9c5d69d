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
from robot_data_platform.core.findings_schema import findings_schema
from robot_data_platform.quality.measurements import EpisodeMeasurements
from robot_data_platform.quality.thresholds import Thresholds

__all__ = [
    "CameraLag",
    "EpisodeKeys",
    "Rollup",
    "findings_by_episode",
    "findings_table",
    "rollup",
    "worst_lag",
]

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
    q_lag_ms: float | None = None
    """The largest lag of a camera, whichever way; None = none is sure enough."""
    q_lag_confidence: float | None = None
    q_lag_camera: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CameraLag:
    """By how much a camera's pictures are late, surely enough to be told."""

    camera: str
    lag_ms: float
    confidence: float


def worst_lag(measured: EpisodeMeasurements, limits: Thresholds) -> CameraLag | None:
    """Return the largest lag, whichever way, of the cameras whose lag is known; None = of none."""
    known = [
        CameraLag(camera=stream.pictures.camera, lag_ms=lag.lag_ms, confidence=lag.confidence)
        for stream, lag in zip(measured.streams, measured.lags, strict=True)
        if lag.lag_ms is not None and lag.confidence >= limits.lag_confidence.value
    ]
    return max(known, key=lambda each: abs(each.lag_ms), default=None)


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
    lag: CameraLag | None = None,
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
    lag : CameraLag, optional
        The largest that is known.
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
        q_lag_ms=None if lag is None else lag.lag_ms,
        q_lag_confidence=None if lag is None else lag.confidence,
        q_lag_camera=None if lag is None else lag.camera,
    )
