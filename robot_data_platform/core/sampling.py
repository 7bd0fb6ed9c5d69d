"""Orders of data as pure functions of seed and epoch, at any place of the order, without a state.

Nothing is drawn from a generator: the value at a place of an order is computed from the place. So
an order needs no memory, every rank computes its own part, and resuming is knowing the place.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robot_data_platform.errors import ErrorKind, InvalidInputError

Int64Array = npt.NDArray[np.int64]
UInt64Array = npt.NDArray[np.uint64]
FloatArray = npt.NDArray[np.float64]

NUM_ROUNDS = 6
"""Rounds of the Feistel network; four suffice for a permutation that can't be told from a random
one by queries (Luby and Rackoff), two more make up for the round function, which is no cipher."""

_MULTIPLIERS = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
"""Of the finaliser of splitmix64."""


def permuted(place: Int64Array, size: int, *key: int) -> Int64Array:
    """Return where a pseudo-random permutation of ``range(size)`` sends some places.

    Parameters
    ----------
    place : ndarray of int64, shape (n,)
        ``0 <= place < size``.
    size : int
        Number of elements, below 2**62.
    *key : int
        What chooses the permutation: seed, epoch and so on, each 0 or more.

    Returns
    -------
    ndarray of int64, shape (n,)
        Distinct for distinct places.

    Notes
    -----
    A Feistel network over the least even number of bits that holds ``size``; results outside the
    range are permuted again until they fall inside, fewer than four times on average. O(n) time
    and memory, whatever ``size``.

    Examples
    --------
    >>> sorted(permuted(np.arange(10), 10, 7).tolist()) == list(range(10))
    True
    """
    sizes = np.full(len(place), size, dtype=np.uint64)
    return _permuted(place, sizes, np.zeros(len(place), dtype=np.uint64), *key)


def _permuted(place: Int64Array, size: UInt64Array, tweak: UInt64Array, *key: int) -> Int64Array:
    """Return `permuted` for places of several ranges, each with a permutation of its ``tweak``."""
    drawn = np.random.SeedSequence(key).generate_state(NUM_ROUNDS, np.uint64).astype(np.uint64)
    value, half_bits = place.astype(np.uint64), _half_bits(size)
    left = np.arange(len(value))
    while len(left):
        value[left] = _feistel(value[left], half_bits[left], drawn, tweak[left])
        left = left[value[left] >= size[left]]
    return value.astype(np.int64)


def _half_bits(size: UInt64Array) -> UInt64Array:
    """Return half of the least even number of bits that holds each size, (n,)."""
    _, num_bits = np.frexp((size - np.minimum(size, 1)).astype(np.float64))
    half_bits: UInt64Array = np.maximum(1, (num_bits + 1) // 2).astype(np.uint64)
    return half_bits


def _feistel(
    value: UInt64Array, half_bits: UInt64Array, round_keys: UInt64Array, tweak: UInt64Array
) -> UInt64Array:
    mask = (np.uint64(1) << half_bits) - np.uint64(1)
    left, right = value >> half_bits, value & mask
    for key in round_keys:
        left, right = right, left ^ (_mixed(right ^ key ^ tweak << np.uint64(32)) & mask)
    return left << half_bits | right


def _mixed(value: UInt64Array) -> UInt64Array:
    value = (value ^ value >> np.uint64(30)) * _MULTIPLIERS[0]
    value = (value ^ value >> np.uint64(27)) * _MULTIPLIERS[1]
    return value ^ value >> np.uint64(31)


def rank_part(size: int, rank: int, world_size: int, *, is_even: bool) -> tuple[int, int]:
    """Return the half-open part of an order that one of several ranks takes.

    The parts follow each other. They cover the order and differ by one element at most; where they
    have to be even, up to ``world_size - 1`` elements at the end are left out instead.

    Raises
    ------
    InvalidInputError
        ``invalid-argument``: there is no such rank.

    Examples
    --------
    >>> [rank_part(10, rank, 4, is_even=False) for rank in range(4)]
    [(0, 2), (2, 5), (5, 7), (7, 10)]
    >>> [rank_part(10, rank, 4, is_even=True) for rank in range(4)]
    [(0, 2), (2, 4), (4, 6), (6, 8)]
    """
    if not 0 <= rank < world_size:
        raise InvalidInputError(
            f"Rank {rank} is not one of world_size={world_size}: expected 0..{world_size - 1}. "
            "Pass the rank of this process and the number of processes.",
            kind=ErrorKind.INVALID_ARGUMENT,
            rank=rank,
            world_size=world_size,
        )
    if is_even:
        size -= size % world_size
    return size * rank // world_size, size * (rank + 1) // world_size


@dataclass(frozen=True, slots=True)
class WeightedOrder:
    """An epoch of E episodes in which each row occurs as often as its episode's weight says.

    With weights of 1 each row occurs once. Else row counts are the weights' whole parts or one
    more, and on average exactly the weights, times what makes ``num_samples`` of them.
    """

    start: Int64Array
    """(E + 1,) position of each episode's first row, and the number of rows."""
    weight: FloatArray
    """(E,) how often a row of each episode occurs."""
    num_samples: int

    def rows(self, place: Int64Array, seed: int, epoch: int) -> Int64Array:
        """Return the row at some places of the shuffled epoch.

        Notes
        -----
        Systematic sampling: the rows of each episode, shuffled, lie on a line, each as long as its
        weight, and a comb of equidistant teeth with a random offset is laid on it.
        """
        tooth = permuted(place, self.num_samples, seed, epoch)
        stop = np.cumsum(np.diff(self.start) * self.weight)
        offset = np.random.SeedSequence((seed, epoch, 1)).generate_state(1, np.uint64)[0] / 2.0**64
        at = (tooth + offset) * (stop[-1] / self.num_samples)
        episode = np.minimum(np.searchsorted(stop, at, side="right"), len(stop) - 1)
        within = (at - (stop - np.diff(self.start) * self.weight)[episode]) / self.weight[episode]
        first, num_rows = self.start[episode], np.diff(self.start)[episode]
        on_line = np.clip(np.floor(within).astype(np.int64), 0, num_rows - 1)
        sizes, tweak = num_rows.astype(np.uint64), episode.astype(np.uint64)
        rows: Int64Array = first + _permuted(on_line, sizes, tweak, seed, epoch, 2)
        return rows


class BlockOrder:
    """An epoch of blocks of neighbouring rows: a few blocks are open at a time, their rows mixed.

    Blocks are shuffled, then taken ``num_open`` at a time, and the rows of these are shuffled.
    """

    def __init__(self, start: Int64Array, block_rows: int, num_open: int) -> None:
        """Cut E episodes, ``start`` (E + 1,), in blocks that no episode's end lies within."""
        num_rows = np.diff(start)
        num_blocks = -(-num_rows // block_rows)
        before = np.repeat(np.cumsum(num_blocks) - num_blocks, num_blocks)
        within = np.arange(len(before)) - before
        self._first = np.repeat(start[:-1], num_blocks) + within * block_rows
        self._size = np.diff(np.append(self._first, start[-1]))
        self._num_open = num_open
        self._shuffled: tuple[tuple[int, int], Int64Array, Int64Array] | None = None

    def rows(self, place: Int64Array, seed: int, epoch: int) -> Int64Array:
        """Return the row at some places, which rise, of the shuffled epoch."""
        order, stop = self._blocks(seed, epoch)
        group = np.searchsorted(stop, place, side="right") // self._num_open
        parts = [
            self._rows_of_group(int(number), place[group == number], order, stop, (seed, epoch))
            for number in np.unique(group)
        ]
        return np.concatenate([*parts, np.empty(0, np.int64)]).astype(np.int64)

    def _blocks(self, seed: int, epoch: int) -> tuple[Int64Array, Int64Array]:
        """Return the epoch's order of blocks, (B,), and where each ends in it, (B,)."""
        if self._shuffled is None or self._shuffled[0] != (seed, epoch):
            order = permuted(np.arange(len(self._first)), len(self._first), seed, epoch)
            self._shuffled = (seed, epoch), order, np.cumsum(self._size[order])
        return self._shuffled[1:]

    def _rows_of_group(
        self,
        number: int,
        place: Int64Array,
        order: Int64Array,
        stop: Int64Array,
        key: tuple[int, int],
    ) -> Int64Array:
        opened = slice(number * self._num_open, (number + 1) * self._num_open)
        group_stop = stop[opened]
        group_start = group_stop[0] - self._size[order[opened][0]]
        size = int(group_stop[-1] - group_start)
        at = group_start + permuted(place - group_start, size, *key, number + 1)
        block = np.searchsorted(stop, at, side="right")
        rows: Int64Array = self._first[order[block]] + at - (stop[block] - self._size[order[block]])
        return rows
