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
from collections import defaultdict
from collections.abc import Mapping

Members = Mapping[str, Mapping[str, int]]
"""By group, then by stratum: how many episodes the group has there."""


def assign_groups(
    members: Members, ratios: Mapping[str, float], seed: int, earlier: Mapping[str, str]
) -> dict[str, str]:
    """Return the split of each group.

    Parameters
    ----------
    members : mapping of str to mapping of str to int
        The groups that have episodes now, with their number of episodes by stratum.
    ratios : mapping of str to float
        Wanted share of episodes of each split; they add up to 1.
    seed : int
        Another seed gives another order of new groups.
    earlier : mapping of str to str
        Split of every group that was assigned before; groups without episodes now are ignored.

    Examples
    --------
    >>> groups = {name: {"": 1} for name in "abcdef"}
    >>> first = assign_groups(groups, {"train": 0.8, "val": 0.1, "test": 0.1}, 0, {})
    >>> sorted(first.values())
    ['test', 'train', 'train', 'train', 'train', 'val']
    """
    balance = _Balance(ratios)
    splits = {group: earlier[group] for group in members if group in earlier}
    for group, split in splits.items():
        balance.add(split, members[group])
    for group in sorted(members.keys() - splits.keys(), key=lambda group: hash_order(seed, group)):
        splits[group] = balance.neediest(members[group])
        balance.add(splits[group], members[group])
    return splits


def hash_order(seed: int, text: str) -> bytes:
    """Return a key that sorts texts as if at random, the same way everywhere."""
    return hashlib.sha256(f"{seed}\x1f{text}".encode()).digest()


class _Balance:
    """Episodes by split, over all and by stratum, held against the ratios."""

    def __init__(self, ratios: Mapping[str, float]) -> None:
        self._ratios = {name: ratios[name] for name in sorted(ratios) if ratios[name] > 0}
        self._all: dict[str, int] = defaultdict(int)
        self._by_stratum: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))

    def add(self, split: str, strata: Mapping[str, int]) -> None:
        """Count a group in."""
        for stratum, size in strata.items():
            self._all[split] += size
            self._by_stratum[stratum][split] += size

    def neediest(self, strata: Mapping[str, int]) -> str:
        """Return the split for a new group; of equals the first by name."""
        empty = [split for split in self._ratios if not self._all[split]]
        if empty:
            return max(empty, key=self._ratios.__getitem__)
        return max(self._ratios, key=lambda split: self._lack(split, strata))

    def _lack(self, split: str, strata: Mapping[str, int]) -> float:
        """Return how many episodes a split lacks, all in all plus within the group's strata."""
        size = sum(strata.values())
        within = (
            count * self._missing(split, self._by_stratum[stratum], count)
            for stratum, count in strata.items()
        )
        return self._missing(split, self._all, size) + sum(within) / size

    def _missing(self, split: str, counts: Mapping[str, int], size: int) -> float:
        return self._ratios[split] * (sum(counts.values()) + size) - counts.get(split, 0)
