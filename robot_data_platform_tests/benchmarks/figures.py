"""Figures with their spread, and ratios of settings that took turns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

Figure = dict[str, Any]
"""``median``, ``p25``, ``p75``, ``n`` and ``unit``."""


def figure(values: Sequence[float], unit: str) -> Figure:
    """Return median and quartiles of repeated measurements, to four significant digits."""
    low, middle, high = np.percentile(np.asarray(values, dtype=np.float64), [25, 50, 75])
    return {
        "median": rounded(middle),
        "p25": rounded(low),
        "p75": rounded(high),
        "n": len(values),
        "unit": unit,
    }


def ratio(numerator: Sequence[float], denominator: Sequence[float]) -> Figure:
    """Return the ratio of two settings, round by round, so that what slows both cancels."""
    pairs = np.asarray(numerator, dtype=np.float64) / np.asarray(denominator, dtype=np.float64)
    return figure(pairs.tolist(), "x")


def rounded(value: float) -> float:
    """Return a number to four significant digits."""
    return float(f"{value:.4g}")


def take_turns(
    num_rounds: int, measures: Mapping[str, Callable[[int], float]]
) -> dict[str, list[float]]:
    """Measure every setting once a round, A B C A B C, starting with another one each round.

    Parameters
    ----------
    num_rounds : int
        Times that each is measured.
    measures : mapping of str to callable
        By setting: takes the round's number, returns what was measured.
    """
    found: dict[str, list[float]] = {name: [] for name in measures}
    names = list(measures)
    for number in range(num_rounds):
        start = number % len(names)
        for name in names[start:] + names[:start]:
            found[name].append(measures[name](number))
    return found
