"""Numbers in names: their order, and how messages list them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_DIGITS = re.compile(r"(\d+)")
_MOST_NAMED = 12
"""Ranges or names that a message spells out before it only counts."""


def natural_key(name: str) -> tuple[tuple[int, int, str], ...]:
    """Return a sort key under which ``demo_2`` comes before ``demo_10``.

    Examples
    --------
    >>> sorted(["demo_10", "demo_2"], key=natural_key)
    ['demo_2', 'demo_10']
    """
    return tuple(
        (0, int(part), part) if part.isascii() and part.isdigit() else (1, 0, part)
        for part in _DIGITS.split(name)
        if part
    )


def last_number(name: str) -> int | None:
    """Return the last number in a name (``episode_012`` -> 12), or None where there is none."""
    numbers = _DIGITS.findall(name)
    return int(numbers[-1]) if numbers else None


def number_ranges(numbers: Iterable[int]) -> str:
    """Return numbers as ranges for a message.

    Examples
    --------
    >>> number_ranges([0, 1, 2, 5])
    '0..2, 5'
    """
    ranges: list[list[int]] = []
    for number in sorted(set(numbers)):
        if ranges and number == ranges[-1][1] + 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    return shortened([f"{a}" if a == b else f"{a}..{b}" for a, b in ranges])


def shortened(names: Sequence[str], most: int = _MOST_NAMED) -> str:
    """Return names joined by commas; past the first ``most``, only how many more there are."""
    more = len(names) - most
    text = ", ".join(names[:most])
    return f"{text} and {more} more" if more > 0 else text
