"""Row times of a LeRobot episode: exact nanoseconds where the float seconds allow it."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from robot_data_platform.core.finding import Finding, Severity
from robot_data_platform.core.recording import Int64Array
from robot_data_platform.core.time_base import frame_index_to_ns, seconds_to_ns
from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform.formats.timing import check_increasing

FLOAT32_STEPS = 2
"""How far float32 seconds may be off ``frame_index / fps``: one step for rounding the quotient,
one for a writer that multiplies by a rounded ``1 / fps``."""
CONSTANT_SPREAD = 0.01
"""Spread of the offsets, in periods, up to which they count as one constant offset. Float32 sums
stay far below it, a missed period is a hundred times above."""
RATE_TOLERANCE = 0.01
"""Relative deviation of the measured rate from the declared one that is told; see
``CONSTANT_SPREAD``."""


def row_times(
    frame_index: Int64Array, seconds: npt.NDArray[np.float64] | None, fps: Fraction, subject: str
) -> tuple[Int64Array, tuple[Finding, ...]]:
    """Return the time of every row, and a finding where it is not ``frame_index / fps``.

    Parameters
    ----------
    frame_index : ndarray of int64, shape (N,)
        Strictly increasing.
    seconds : ndarray of float64, shape (N,), or None
        The recorded ``timestamp`` column, if there is one.
    fps : Fraction
        Declared rows per second.
    subject : str
        The episode, for messages.

    Returns
    -------
    timestamp_ns : ndarray of int64, shape (N,)
        Exact where the seconds agree with ``frame_index / fps`` to float32 precision; as
        recorded, rounded to the nanosecond, where any of them doesn't.
    findings : tuple of Finding
        The constant offset, the measured rate or the jitter that was seen.

    Raises
    ------
    DataFaultError
        ``time-not-increasing``: a row is not later than the one before it, or has no time.
    """
    exact_ns = frame_index_to_ns(frame_index, fps)
    if seconds is None:
        return exact_ns, ()
    _check_finite(seconds, subject)
    off_s = seconds - frame_index / float(fps)
    tolerance_s = FLOAT32_STEPS * np.spacing(np.abs(seconds).astype(np.float32))
    if (np.abs(off_s) <= tolerance_s).all():
        return exact_ns, ()
    recorded_ns = seconds_to_ns(seconds)
    check_increasing(recorded_ns, subject)
    return recorded_ns, (_deviation(seconds, off_s, fps, subject),)


def _deviation(
    seconds: npt.NDArray[np.float64], off_s: npt.NDArray[np.float64], fps: Fraction, subject: str
) -> Finding:
    period_s = 1 / float(fps)
    if np.ptp(off_s) <= CONSTANT_SPREAD * period_s:
        offset_ms = float(np.median(off_s)) * 1e3
        what = f"lie {offset_ms:.3f} ms from frame_index / fps throughout"
        return _finding("time_offset_constant", Severity.INFO, subject, what, offset_ms, 0.0, "ms")
    rate_hz = (len(seconds) - 1) / float(seconds[-1] - seconds[0])
    if abs(rate_hz * period_s - 1) > RATE_TOLERANCE:
        what = f"come at {rate_hz:.3f} Hz, not at the declared {float(fps):g} Hz"
        return _finding("rate_as_declared", Severity.WARN, subject, what, rate_hz, float(fps), "Hz")
    most_ms = float(np.abs(off_s).max()) * 1e3
    what = f"lie up to {most_ms:.3f} ms from frame_index / fps"
    return _finding("time_on_grid", Severity.INFO, subject, what, most_ms, 0.0, "ms")


def _finding(
    rule: str,
    severity: Severity,
    subject: str,
    what: str,
    value: float,
    threshold: float,
    unit: str,
) -> Finding:
    return Finding(
        rule=rule,
        severity=severity,
        message=(
            f"{subject}: row times {what}. They were kept as recorded; pictures were matched to "
            "rows by their order."
        ),
        where="timestamp",
        value=value,
        threshold=threshold,
        unit=unit,
    )


def _check_finite(seconds: npt.NDArray[np.float64], subject: str) -> None:
    rows = np.flatnonzero(~np.isfinite(seconds))
    if len(rows):
        raise DataFaultError(
            f"{subject} has a row without a time: got {seconds[rows[0]]} at row {rows[0]} "
            f"({len(rows)} such rows), expected seconds. Correct the timestamp column.",
            kind=ErrorKind.TIME_NOT_INCREASING,
            row=int(rows[0]),
        )
