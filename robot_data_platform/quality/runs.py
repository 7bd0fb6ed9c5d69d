"""Runs of true values, and how messages name places."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]

PLACES_NAMED = 5
"""Places that a message names; more are counted."""


def runs_of(mask: Bools) -> Ints:
    """Return the runs of true values.

    Parameters
    ----------
    mask : ndarray of bool, shape (n,)

    Returns
    -------
    ndarray of int64, shape (r, 2)
        Half-open ``start, stop`` of each run, in order.

    Examples
    --------
    >>> runs_of(np.array([True, True, False, True])).tolist()
    [[0, 2], [3, 4]]
    """
    edges = np.flatnonzero(np.diff(mask.astype(np.int8), prepend=0, append=0))
    return edges.astype(np.int64).reshape(-1, 2)


def name_runs(mask: Bools) -> str:
    """Return the true places of a mask as inclusive ranges, the first few named.

    Examples
    --------
    >>> name_runs(np.array([True, True, False, True]))
    '0..1, 3'
    """
    return name_list([_range(start, stop - 1) for start, stop in runs_of(mask).tolist()])


def name_list(names: Sequence[str]) -> str:
    """Return the first few names, and how many there are beyond them."""
    shown = ", ".join(names[:PLACES_NAMED])
    more = len(names) - PLACES_NAMED
    return f"{shown} and {more} more" if more > 0 else shown


def span(mask: Bools) -> str:
    """Return the first and last true place of a mask, ``first..last``.

    Examples
    --------
    >>> span(np.array([False, True, False, True]))
    '1..3'
    """
    places = np.flatnonzero(mask)
    return f"{places[0]}..{places[-1]}"


def _range(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}..{last}"
