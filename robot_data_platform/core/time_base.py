"""Integer time: ticks of a time base, frame numbers of a rate, and nanoseconds."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt

NS_PER_S = 1_000_000_000
"""Nanoseconds in a second."""


def rate_fraction(rate_hz: float | int | Fraction) -> Fraction:
    """Return a rate as an exact fraction, with denominators up to 1001 (30000/1001 and the like)."""
    return Fraction(rate_hz).limit_denominator(1001)


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
    """
    num, den = (time_base * NS_PER_S).as_integer_ratio()
    whole, rest = np.divmod(np.asarray(ticks, dtype=np.int64), den)
    return whole * num + (2 * rest * num + den) // (2 * den)


def frame_index_to_ns(
    frame_index: npt.NDArray[np.int64], rate_hz: float | Fraction
) -> npt.NDArray[np.int64]:
    """Return ``frame_index / rate`` in nanoseconds, exact to half a nanosecond."""
    return ticks_to_ns(frame_index, 1 / rate_fraction(rate_hz))


def seconds_to_ns(seconds: npt.NDArray[np.floating]) -> npt.NDArray[np.int64]:
    """Return float seconds as integer nanoseconds, rounded to nearest (float64 arithmetic)."""
    return np.rint(np.asarray(seconds, dtype=np.float64) * NS_PER_S).astype(np.int64)
