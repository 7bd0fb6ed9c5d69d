"""Row clocks: what makes a column of times usable."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from robot_data_platform.core.finding import Finding, Severity
from robot_data_platform.core.recording import Int64Array
from robot_data_platform.errors import DataFaultError, ErrorKind

MAX_ROWS = 1 << 28
"""Rows of one episode that are read; 2^28 at 1 kHz are three days."""


def check_increasing(timestamp_ns: Int64Array, subject: str) -> None:
    """Refuse times that don't increase from row to row.

    Parameters
    ----------
    timestamp_ns : ndarray of int64, shape (N,)
        Times in ns.
    subject : str
        What the times belong to, for the message.

    Raises
    ------
    DataFaultError
        ``time-not-increasing``: names the first row that is not later than the one before it.
    """
    late = np.flatnonzero(timestamp_ns[1:] <= timestamp_ns[:-1])
    if len(late):
        row = int(late[0]) + 1
        raise DataFaultError(
            f"{subject} has a time that does not increase at row {row}: got "
            f"{int(timestamp_ns[row])} ns after {int(timestamp_ns[row - 1])} ns ({len(late)} such "
            "rows), expected each row later than the one before it. Correct the clock, or drop "
            "the episode.",
            kind=ErrorKind.TIME_NOT_INCREASING,
            row=row,
            num_rows=len(late),
        )


def integer_times(times: npt.NDArray[np.generic], subject: str) -> Int64Array:
    """Return recorded integer times as int64 nanoseconds, none of them changed.

    Raises
    ------
    DataFaultError
        ``time-not-increasing``: they are floats, which can't hold nanoseconds since 1970, or
        beyond int64.
    """
    if times.dtype.kind not in "iu":
        raise _not_int64(subject, f"values of type {times.dtype}")
    if times.dtype.kind == "u" and len(times) and int(times.max()) >= 1 << 63:
        row = int(np.flatnonzero(times >= np.uint64(1 << 63))[0])
        raise _not_int64(subject, f"{int(times[row])} at row {row}, beyond int64")
    return times.astype(np.int64)


def check_rows(num_rows: int, subject: str) -> tuple[Finding, ...]:
    """Refuse an episode of no row, or of absurdly many; flag one of a single row.

    Raises
    ------
    DataFaultError
        ``no-rows``: there is none. ``shape-mismatch``: more rows than ``MAX_ROWS``.
    """
    if num_rows == 0:
        raise DataFaultError(
            f"{subject} has no rows: got 0, expected at least 1. Drop the episode.",
            kind=ErrorKind.NO_ROWS,
        )
    if num_rows > MAX_ROWS:
        raise DataFaultError(
            f"{subject} has too many rows: got {num_rows}, expected at most {MAX_ROWS}. "
            "Split the episode.",
            kind=ErrorKind.SHAPE_MISMATCH,
            num_rows=num_rows,
        )
    if num_rows > 1:
        return ()
    message = f"{subject} is a single row: got 1, expected at least 2 to see any motion."
    single = Finding(
        rule="episode_has_several_rows",
        severity=Severity.WARN,
        message=message,
        value=1,
        unit="rows",
    )
    return (single,)


def _not_int64(subject: str, got: str) -> DataFaultError:
    return DataFaultError(
        f"{subject} has times that are no int64 nanoseconds: got {got}, expected int64. "
        "Write the clock's integers as they are.",
        kind=ErrorKind.TIME_NOT_INCREASING,
    )
