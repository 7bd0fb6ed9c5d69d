"""A finding: one breach of a rule, or one doubt, with the place and the number."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """How much a finding weighs."""

    INFO = "info"
    """Worth knowing; the episode stays ``ok``."""
    WARN = "warn"
    """Doubtful; the episode becomes ``flagged``."""
    FAIL = "fail"
    """Wrong; the episode becomes ``flagged`` and a release may not hold it by default."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One breach of a rule by one episode (or, with no episode, by the source)."""

    rule: str
    """Stable name of the rule, ``snake_case``, said as what should hold (``state_is_finite``)."""
    severity: Severity
    message: str
    """What was found, where, got and expected, in one or two sentences for a person."""
    where: str = ""
    """The place: a file, ``camera=env frames 30..59``, ``observation_state[3] rows 17..17``."""
    value: float | None = None
    """The measured number, in ``unit``; None = not measured."""
    threshold: float | None = None
    """The limit it was held against, in ``unit``."""
    unit: str = ""
    """Unit of ``value`` and ``threshold`` (``ms``, ``rad``, ``frames``, ``1``)."""


STATUS_OK = "ok"
STATUS_FLAGGED = "flagged"
STATUS_QUARANTINED = "quarantined"


def status_of(findings: list[Finding] | tuple[Finding, ...]) -> str:
    """Return ``ok``, or ``flagged`` where a finding is ``warn`` or ``fail``."""
    doubtful = any(finding.severity is not Severity.INFO for finding in findings)
    return STATUS_FLAGGED if doubtful else STATUS_OK
