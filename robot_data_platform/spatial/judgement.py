"""Findings of the spatial checks: what a measurement comes to, and what was not measured."""

from __future__ import annotations

from robot_data_platform.core.finding import Finding, Severity
from robot_data_platform.spatial.thresholds import Band

NOT_MEASURED = "Not measured: "
"""Start of the message of a check that could not be made; such a finding is no pass."""


def not_measured(rule: str, where: str, reason: str) -> Finding:
    """Return the finding of a check that could not be made, with the reason."""
    return Finding(
        rule=rule, severity=Severity.INFO, message=f"{NOT_MEASURED}{reason}.", where=where
    )


def is_not_measured(finding: Finding) -> bool:
    """Return whether a finding says that nothing was measured."""
    return finding.message.startswith(NOT_MEASURED)


def judged(rule: str, where: str, value: float, band: Band, message: str) -> list[Finding]:
    """Return the finding of a measurement outside its band; nothing where it passes."""
    severity = band.severity_of(value)
    if severity is None:
        return []
    return [
        Finding(
            rule=rule,
            severity=severity,
            message=message,
            where=where,
            value=float(value),
            threshold=band.fail if severity is Severity.FAIL else band.ok,
            unit=band.unit,
        )
    ]
