"""Half-open ranges of episode indices: merged, reduced and written as text."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import numpy.typing as npt

IndexRange = tuple[int, int]
"""First index, and the one after the last."""


def merged(ranges: Iterable[IndexRange]) -> list[IndexRange]:
    """Return the same indices in as few ranges as can be, sorted; empty ranges are left out."""
    found: list[IndexRange] = []
    for start, stop in sorted(r for r in ranges if r[0] < r[1]):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], stop))
        else:
            found.append((start, stop))
    return found


def without(ranges: Iterable[IndexRange], taken: npt.NDArray[np.int64]) -> list[IndexRange]:
    """Return the ranges without some indices.

    Parameters
    ----------
    ranges : iterable of (int, int)
        Ranges that may overlap.
    taken : ndarray of int64, shape (n,)
        Indices in any order.
    """
    held = np.unique(taken)
    return [left for start, stop in merged(ranges) for left in _gaps(start, stop, held)]


def _gaps(start: int, stop: int, held: npt.NDArray[np.int64]) -> Iterator[IndexRange]:
    for index in held[np.searchsorted(held, start) : np.searchsorted(held, stop)].tolist():
        if start < index:
            yield start, index
        start = index + 1
    if start < stop:
        yield start, stop


def covers(ranges: Iterable[IndexRange], other: IndexRange) -> bool:
    """Return whether every index of ``other`` is in one of the ranges."""
    return any(start <= other[0] and other[1] <= stop for start, stop in merged(ranges))


def indices_in(ranges: Iterable[IndexRange], of: Iterable[int]) -> set[int]:
    """Return those of some indices that are in one of the ranges."""
    held = merged(ranges)
    return {index for index in of if any(start <= index < stop for start, stop in held)}


def ranges_to_json(ranges: Iterable[IndexRange]) -> str:
    """Return merged ranges as a JSON list of pairs."""
    return json.dumps(merged(ranges), separators=(",", ":"))


def ranges_from_json(text: str) -> list[IndexRange]:
    """Return the ranges that `ranges_to_json` wrote."""
    return [(int(start), int(stop)) for start, stop in json.loads(text)]
