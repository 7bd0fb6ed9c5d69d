"""Groups as mappings: for tests to state, for the assignment under test, and for a slow one."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from robot_data_platform.curation.assign import NO_SPLIT, Groups, assign_groups

Members = Mapping[str, Mapping[str, int]]
"""By group, then by stratum: how many episodes the group has there."""


def assign_members(
    members: Members, ratios: Mapping[str, float], seed: int, earlier: Mapping[str, str]
) -> dict[str, str]:
    """Return the split of each group, by the code under test."""
    splits = sorted(ratios)
    strata = sorted({stratum for sizes in members.values() for stratum in sizes})
    entries = [
        (strata.index(stratum), sizes[stratum])
        for sizes in members.values()
        for stratum in sorted(sizes)
    ]
    groups = Groups(
        names=pa.array(list(members), pa.string()),
        first=np.cumsum([0, *(len(sizes) for sizes in members.values())]),
        stratum=np.array([stratum for stratum, _ in entries], dtype=np.int64),
        size=np.array([size for _, size in entries], dtype=np.int64),
    )
    known = [splits.index(earlier[name]) if name in earlier else NO_SPLIT for name in members]
    places = assign_groups(groups, ratios, seed, np.array(known, dtype=np.int64))
    return {name: splits[place] for name, place in zip(members, places.tolist(), strict=True)}


def assign_slowly(
    members: Members, ratios: Mapping[str, float], seed: int, earlier: Mapping[str, str]
) -> dict[str, str]:
    """Return the split of each group, one group and one count after the other."""
    balance = _Balance(ratios)
    splits = {group: earlier[group] for group in members if group in earlier}
    for group, split in splits.items():
        balance.add(split, members[group])
    for group in sorted(members.keys() - splits.keys(), key=lambda group: hash_key(seed, group)):
        splits[group] = balance.neediest(members[group])
        balance.add(splits[group], members[group])
    return splits


def hash_key(seed: int, text: str) -> bytes:
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
