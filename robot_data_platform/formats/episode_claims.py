"""Claims on an episode as a whole, held against its rows: how it ended, how long it is."""

from __future__ import annotations

from robot_data_platform.core.finding import Finding, Severity


def outcome_findings(is_success: bool | None, where: str, subject: str) -> tuple[Finding, ...]:
    """Return a finding for an episode that is stated to have failed.

    Parameters
    ----------
    is_success : bool or None
        What the data states; None = nothing.
    where : str
        The place that states it.
    subject : str
        The episode, for the message.
    """
    if is_success is not False:
        return ()
    finding = Finding(
        rule="episode_is_successful",
        severity=Severity.WARN,
        message=f"{subject} failed: got False from {where}, expected a success to learn from.",
        where=where,
        value=0,
        threshold=1,
        unit="1",
    )
    return (finding,)


def row_count_findings(
    declared: int | None, num_rows: int, where: str, subject: str
) -> tuple[Finding, ...]:
    """Return a finding where an episode has another number of rows than is declared.

    Parameters
    ----------
    declared : int or None
        What the data declares; None = nothing.
    num_rows : int
        Rows that there are.
    where : str
        The place that declares it.
    subject : str
        The episode, for the message.
    """
    if declared in (None, num_rows):
        return ()
    finding = Finding(
        rule="rows_as_declared",
        severity=Severity.WARN,
        message=f"{subject} has another number of rows than declared: got {num_rows}, expected "
        f"{declared} by {where}. The rows that are there are read.",
        where=where,
        value=num_rows,
        threshold=declared,
        unit="rows",
    )
    return (finding,)
