"""Which split a group of episodes goes to: pure, and the same on every machine.

Two wishes oppose each other. A threshold on a hash never moves an episode, but six episodes at
0.8 / 0.1 / 0.1 leave ``val`` and ``test`` empty half of the time. A quota fills every split, but
sharing the episodes out again after each upload would move some from ``train`` to ``test``. So the
assignment has a memory, the earlier assignments of the same scheme, and three rules:

1. A group that was assigned before stays where it is, for ever, whatever else came or went.
2. New groups follow in the order of a hash of (seed, group). While a split that should have
   episodes has none, the one with the largest ratio gets the next group.
3. After that a group goes to the split that lacks most episodes, counted over all episodes and
   over the group's strata together, against the ratios once the group is in.

The result depends on the set of groups, the scheme and the memory, never on the order of episodes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Int64Array = npt.NDArray[np.int64]

NO_SPLIT = -1
"""In place of the number of a split: none yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Groups:
    """Groups of episodes that stay together, and how many episodes each has by stratum.

    Groups and strata have numbers, 0 to G - 1 and 0 to S - 1. An entry is a pair of them.
    """

    names: pa.Array
    """(G,) text of each group, no two the same."""
    first: Int64Array
    """(G + 1,) a group's first entry, and the number of entries."""
    stratum: Int64Array
    """(P,) stratum of each entry."""
    size: Int64Array
    """(P,) episodes of each entry."""

    @property
    def num_strata(self) -> int:
        """Number of strata."""
        return int(self.stratum.max(initial=-1)) + 1

    def entries(self, group: Int64Array) -> Int64Array:
        """Return the entries of some groups, one group after the other."""
        length = self.first[group + 1] - self.first[group]
        start = np.repeat(self.first[group] - (np.cumsum(length) - length), length)
        return start + np.arange(len(start))


def assign_groups(
    groups: Groups, ratios: Mapping[str, float], seed: int, earlier: Int64Array
) -> Int64Array:
    """Return the split of each group, (G,), as its place in the sorted names of the splits.

    Parameters
    ----------
    groups : Groups
        The groups that have episodes now.
    ratios : mapping of str to float
        Wanted share of episodes of each split; they add up to 1.
    seed : int
        Another seed gives another order of new groups.
    earlier : ndarray of int64, shape (G,)
        Place of the split that each group was assigned to before, or `NO_SPLIT`.

    Notes
    -----
    O(G log G); groups that were assigned before cost no more than being counted.
    """
    balance = _Balance(sorted(ratios), ratios, groups.num_strata)
    split = earlier.copy()
    known = np.flatnonzero(earlier != NO_SPLIT)
    balance.count(groups, known, earlier[known])
    new = np.flatnonzero(earlier == NO_SPLIT)
    new = new[hash_order(seed, groups.names.take(pa.array(new)))]
    split[new] = np.fromiter(balance.fill(groups, new), dtype=np.int64, count=len(new))
    return split


def hash_order(seed: int, texts: pa.Array | pa.ChunkedArray) -> Int64Array:
    """Return the order of texts by a hash of seed and text: as if at random, the same everywhere.

    Examples
    --------
    >>> hash_order(0, pa.array(["a", "b", "c", "d"]))
    array([2, 3, 1, 0])
    """
    start = hashlib.sha256(f"{seed}\x1f".encode())

    def hashed(text: str) -> bytes:
        hasher = start.copy()
        hasher.update(text.encode())
        return hasher.digest()

    digests = np.frombuffer(b"".join(map(hashed, texts.to_pylist())), dtype=">u8").reshape(-1, 4)
    return np.lexsort(digests.astype(np.uint64).T[::-1]).astype(np.int64)


class _Balance:
    """Episodes by split, over all and by stratum, held against the ratios."""

    def __init__(self, names: Sequence[str], ratios: Mapping[str, float], num_strata: int) -> None:
        self._wanted = [(place, ratios[name]) for place, name in enumerate(names) if ratios[name]]
        self._all = [0] * len(names)
        self._by_stratum = [[0] * len(names) for _ in range(num_strata)]
        self._is_any_empty = True

    def count(self, groups: Groups, group: Int64Array, split: Int64Array) -> None:
        """Count groups in that have their split."""
        entry = groups.entries(group)
        of_entry = np.repeat(split, groups.first[group + 1] - groups.first[group])
        shape = (len(self._by_stratum), len(self._all))
        held = np.zeros(shape, dtype=np.int64)
        np.add.at(held, (groups.stratum[entry], of_entry), groups.size[entry])
        self._by_stratum = held.tolist()
        self._all = held.sum(axis=0).tolist()
        self._is_any_empty = any(not self._all[place] for place, _ in self._wanted)

    def fill(self, groups: Groups, order: Int64Array) -> Iterator[int]:
        """Yield the split of one new group after the other, each counted in before the next."""
        bounds = zip(groups.first[order].tolist(), groups.first[order + 1].tolist(), strict=True)
        strata, sizes = groups.stratum.tolist(), groups.size.tolist()
        for start, stop in bounds:
            if self._is_any_empty:
                split = self._largest_empty()
            elif stop == start + 1:
                split = self._neediest_of_one(strata[start], sizes[start])
            else:
                split = self._neediest(
                    list(zip(strata[start:stop], sizes[start:stop], strict=True))
                )
            for entry in range(start, stop):
                self._all[split] += sizes[entry]
                self._by_stratum[strata[entry]][split] += sizes[entry]
            yield split

    def _largest_empty(self) -> int:
        """Return the split without episodes that should have most, if there is one."""
        empty = [(ratio, -place) for place, ratio in self._wanted if not self._all[place]]
        self._is_any_empty = len(empty) > 1
        return -max(empty)[1]

    def _neediest(self, entries: Sequence[tuple[int, int]]) -> int:
        """Return the split for a new group; of equals the first by name."""
        return max(self._wanted, key=lambda wanted: self._lack(wanted, entries))[0]

    def _neediest_of_one(self, stratum: int, size: int) -> int:
        """Return the same for a group of one stratum, as most are, without calls."""
        held, within = self._all, self._by_stratum[stratum]
        total, total_within = sum(held) + size, sum(within) + size
        best, most = NO_SPLIT, -np.inf
        for place, ratio in self._wanted:
            lack = ratio * total - held[place]
            lack += size * (ratio * total_within - within[place]) / size
            if lack > most:
                best, most = place, lack
        return best

    def _lack(self, wanted: tuple[int, float], entries: Sequence[tuple[int, int]]) -> float:
        """Return how many episodes a split lacks, all in all plus within the group's strata."""
        place, ratio = wanted
        size = sum(count for _, count in entries)
        within = (
            count * (ratio * (sum(held := self._by_stratum[stratum]) + count) - held[place])
            for stratum, count in entries
        )
        return ratio * (sum(self._all) + size) - self._all[place] + sum(within) / size
