"""Findings that tell where the data is not as its profile states."""

from __future__ import annotations

from robot_data_platform.core.finding import Finding, Severity


def difference(rule: str, where: str, got: str, expected: str) -> Finding:
    """Return the finding that a place of the recording differs from the profile."""
    return Finding(
        rule=rule,
        severity=Severity.WARN,
        message=f"{where} differs from the profile: got {got}, expected {expected}.",
        where=where,
    )
