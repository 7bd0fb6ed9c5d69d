"""Integer time: ticks of a time base, frame numbers of a rate, and nanoseconds."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from robot_data_platform.errors import DataFaultError, ErrorKind, InvalidInputError

NS_PER_S = 1_000_000_000
"""Nanoseconds in a second."""

_INT64 = np.iinfo(np.int64)


def rate_fraction(rate_hz: float | int | Fraction) -> Fraction:
    """Return a rate as an exact fraction, of denominator 1001 (30000/1001) or less.

    Raises
    ------
    InvalidInputError
        ``invalid-argument``: not above 0, or not finite.
    """
    try:
        rate = Fraction(rate_hz).limit_denominator(1001)
    except (ValueError, OverflowError):
        rate = Fraction(0)
    if rate <= 0:
        raise InvalidInputError(
            f"Rate rate_hz is {rate_hz!r}: expected a finite number of Hz above 0. Correct the "
            "rate that the data or the profile states.",
            kind=ErrorKind.INVALID_ARGUMENT,
            rate_hz=str(rate_hz),
        )
    return rate


def ticks_to_ns(ticks: npt.NDArray[np.int64], time_base: Fraction) -> npt.NDArray[np.int64]:
    """Return ticks of ``time_base`` seconds as nanoseconds, rounded half up.

    Parameters
    ----------
    ticks : ndarray of int64, shape (n,)
        Time in ticks.
    time_base : Fraction
        Seconds in a tick, exact.

    Returns
    -------
    ndarray of int64, shape (n,)
        Nanoseconds; exact integer arithmetic, no floats.

    Raises
    ------
    DataFaultError
        ``metadata-contradiction``: a time is 292 years or more from zero, beyond int64
        nanoseconds.
    """
    num, den = (time_base * NS_PER_S).as_integer_ratio()
    ticks = np.asarray(ticks, dtype=np.int64)
    _check_in_range(ticks, num, den)
    if 2 * den * (num + 1) > _INT64.max:
        # Beyond int64 on the way: Python's integers have no limit.
        exact = [(2 * int(t) * num + den) // (2 * den) for t in ticks]
        return np.array(exact, dtype=np.int64)
    whole, rest = np.divmod(ticks, den)
    ns: npt.NDArray[np.int64] = whole * num + (2 * rest * num + den) // (2 * den)
    return ns


def _check_in_range(ticks: npt.NDArray[np.int64], num: int, den: int) -> None:
    if not ticks.size:
        return
    farthest = max(int(ticks.max()), -int(ticks.min()))
    if farthest * num >= _INT64.max * den:
        raise DataFaultError(
            f"A time stamp is {farthest} ticks of {num}/{den} ns from zero: expected less than 292 "
            "years. Correct the stream's time stamps or its time base.",
            kind=ErrorKind.METADATA_CONTRADICTION,
            ticks=farthest,
        )


def frame_index_to_ns(
    frame_index: npt.NDArray[np.int64], rate_hz: float | Fraction
) -> npt.NDArray[np.int64]:
    """Return ``frame_index / rate`` in nanoseconds, exact to half a nanosecond."""
    return ticks_to_ns(frame_index, 1 / rate_fraction(rate_hz))


def seconds_to_ns(seconds: npt.NDArray[np.floating]) -> npt.NDArray[np.int64]:
    """Return float seconds as integer nanoseconds, rounded to nearest (float64 arithmetic).

    Raises
    ------
    DataFaultError
        ``time-not-increasing``: a time is not finite, or beyond int64 nanoseconds.
    """
    ns = np.rint(np.asarray(seconds, dtype=np.float64) * NS_PER_S)
    beyond = np.flatnonzero(~(np.abs(ns) < float(_INT64.max)))
    if beyond.size:
        row = int(beyond[0])
        raise DataFaultError(
            f"Row {row} has the time {float(seconds[row])} s: expected a finite number within 292 "
            "years of zero. Correct the recording's time stamps.",
            kind=ErrorKind.TIME_NOT_INCREASING,
            row=row,
        )
    return ns.astype(np.int64)
