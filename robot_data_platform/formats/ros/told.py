"""Findings that list topics: one per rule and episode, however many topics it is about."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from robot_data_platform.core.finding import Finding, Severity
from robot_data_platform.formats.natural_order import shortened

MOST_LISTED = 5


def told(
    subject: str,
    text_by_topic: Mapping[str, str],
    what: str,
    *,
    rule: str,
    severity: Severity,
    then: str = "",
    count: int | None = None,
    unit: str = "topics",
) -> Iterator[Finding]:
    """Yield a finding about some topics; none where there are none.

    Parameters
    ----------
    subject : str
        The episode.
    text_by_topic : mapping
        What is said of each topic, after its name; may be empty.
    what : str
        What is found, behind its count: ``topics were left out``.
    rule, severity : str, Severity
        Of the finding.
    then : str
        What else there is to say, or to do.
    count : int, optional
        What is counted; by default the topics.
    unit : str
        Of the count.
    """
    if not text_by_topic:
        return
    count = len(text_by_topic) if count is None else count
    named = [f"{topic} {text}".rstrip() for topic, text in sorted(text_by_topic.items())]
    yield Finding(
        rule=rule,
        severity=severity,
        message=f"{subject}: {count} {what}: {shortened(named, MOST_LISTED)}. {then}".rstrip(),
        where=f"topic={min(text_by_topic)}",
        value=count,
        threshold=None if severity is Severity.INFO else 0,
        unit=unit,
    )
