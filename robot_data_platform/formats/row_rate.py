"""Times of rows that have no clock, from a rate that the profile or the data states."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robot_data_platform.core.finding import Finding, Severity
from robot_data_platform.core.recording import Int64Array
from robot_data_platform.core.time_base import frame_index_to_ns
from robot_data_platform.errors import ErrorKind, InvalidInputError
from robot_data_platform.formats.profile import Profile

MAX_RATE_HZ = 1e6
"""Fastest rate that is believed, as in a profile."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedRate:
    """Rows per second, and who says so."""

    hz: float
    where: str
    """``attribute `fps```."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowTimes:
    """Times of an episode's rows."""

    timestamp_ns: Int64Array
    """(N,) int64 ns."""
    clock: str
    """Where the times come from, for the metadata."""
    findings: tuple[Finding, ...] = ()


def times_at_rate(
    num_rows: int, profile: Profile, recorded: StatedRate | None, looked_at: str, subject: str
) -> RowTimes:
    """Return rows at k / rate: the profile's rate, else the one that the data states.

    Parameters
    ----------
    num_rows : int
        Rows of the episode.
    profile : Profile
        Its ``control_hz`` wins.
    recorded : StatedRate or None
        What the data states.
    looked_at : str
        Where the data could have stated it, for the message.
    subject : str
        The episode, for messages.

    Raises
    ------
    InvalidInputError
        ``invalid-profile``: nothing states a rate, or the data an impossible one.
    """
    rate = _rate(profile, recorded, looked_at, subject)
    return RowTimes(
        timestamp_ns=frame_index_to_ns(np.arange(num_rows, dtype=np.int64), rate.hz),
        clock=f"row number / {rate.hz:g} Hz ({rate.where})",
        findings=_contradiction(rate, recorded, subject),
    )


def no_rate(subject: str, got: str) -> InvalidInputError:
    """Return the error for an episode whose rows have no time."""
    return InvalidInputError(
        f"{subject} has no clock: got {got}, expected rows per second. State `control_hz` in the "
        "profile.",
        kind=ErrorKind.INVALID_PROFILE,
        key="control_hz",
    )


def _rate(
    profile: Profile, recorded: StatedRate | None, looked_at: str, subject: str
) -> StatedRate:
    if recorded is not None and not 0 < recorded.hz <= MAX_RATE_HZ:
        raise no_rate(subject, f"{recorded.where} of {recorded.hz:g}")
    if profile.control_hz is not None:
        return StatedRate(hz=profile.control_hz, where="`control_hz` of the profile")
    if recorded is None:
        raise no_rate(subject, f"neither `control_hz` in the profile nor {looked_at} in the file")
    return recorded


def _contradiction(
    used: StatedRate, recorded: StatedRate | None, subject: str
) -> tuple[Finding, ...]:
    if recorded is None or recorded.hz == used.hz:
        return ()
    finding = Finding(
        rule="rate_as_profile_states",
        severity=Severity.WARN,
        message=(
            f"{subject}: {recorded.where} says {recorded.hz:g} Hz: expected the profile's "
            f"{used.hz:g} Hz, which was used."
        ),
        where=recorded.where,
        value=recorded.hz,
        threshold=used.hz,
        unit="Hz",
    )
    return (finding,)
