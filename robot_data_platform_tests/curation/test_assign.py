from __future__ import annotations

from collections import Counter
from fractions import Fraction
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robot_data_platform_tests.curation.members import Members, assign_members, assign_slowly

RATIOS = {"train": 0.8, "val": 0.1, "test": 0.1}
HALVES = {"a": 0.5, "b": 0.5, "unused": 0.0}
NAMES = st.text(st.characters(codec="ascii", categories=["Ll"]), min_size=1, max_size=4)
SIZES = st.dictionaries(st.sampled_from(["fold", "pick", "insert"]), st.integers(1, 5), min_size=1)
GROUPS = st.dictionaries(NAMES, SIZES, max_size=30)
SEEDS = st.integers(0, 5)


def single(count: int, strata: int = 1) -> Members:
    """Return groups of one episode each, with the strata in turn."""
    return {f"g{number}": {f"s{number % strata}": 1} for number in range(count)}


@given(GROUPS, st.lists(GROUPS, max_size=4), SEEDS)
def test_no_group_ever_moves_while_the_set_grows_and_shrinks(
    first: Members, later: list[Members], seed: int
) -> None:
    memory: dict[str, str] = {}
    for members in (first, *later):
        splits = assign_members(members, RATIOS, seed, memory)
        assert all(splits[group] == memory[group] for group in splits.keys() & memory.keys())
        memory |= splits


@given(GROUPS, st.lists(GROUPS, max_size=2), SEEDS, st.sampled_from([RATIOS, HALVES]))
def test_groups_go_where_counting_one_by_one_puts_them(
    first: Members, later: list[Members], seed: int, ratios: dict[str, float]
) -> None:
    memory: dict[str, str] = {}
    for members in (first, *later):
        in_order = {name: dict(sorted(sizes.items())) for name, sizes in members.items()}
        splits = assign_members(members, ratios, seed, memory)
        assert splits == assign_slowly(in_order, ratios, seed, memory)
        memory |= splits


@given(GROUPS, SEEDS, st.randoms(use_true_random=False))
def test_the_order_of_groups_does_not_matter(members: Members, seed: int, random: Random) -> None:
    names = list(members)
    random.shuffle(names)
    shuffled = {name: members[name] for name in names}
    assert assign_members(shuffled, RATIOS, seed, {}) == assign_members(members, RATIOS, seed, {})


@given(GROUPS)
def test_every_group_gets_a_split_that_has_a_ratio(members: Members) -> None:
    splits = assign_members(members, {"train": 1.0, "val": 0.0}, 0, {})
    assert splits == dict.fromkeys(members, "train")


@pytest.mark.parametrize(
    ("count", "expected"),
    [
        (0, {}),
        (1, {"train": 1}),
        (2, {"train": 1, "test": 1}),
        (3, {"train": 1, "val": 1, "test": 1}),
        (6, {"train": 4, "val": 1, "test": 1}),
        (10, {"train": 8, "val": 1, "test": 1}),
        (100, {"train": 80, "val": 10, "test": 10}),
    ],
)
def test_small_sets_fill_every_split_and_large_ones_meet_the_ratios(
    count: int, expected: dict[str, int]
) -> None:
    assert Counter(assign_members(single(count), RATIOS, 0, {}).values()) == expected


@given(st.integers(8, 120), st.integers(1, 12), SEEDS, st.integers(1, 30))
def test_ratios_are_met_within_two_episodes_however_the_set_grew(
    count: int, strata: int, seed: int, step: int
) -> None:
    members = single(count, strata)
    memory: dict[str, str] = {}
    for stop in range(step, count + step, step):
        memory = assign_members(dict(list(members.items())[:stop]), RATIOS, seed, memory)
    counts = Counter(memory.values())
    excess = {split: abs(counts[split] - Fraction(RATIOS[split]) * count) for split in RATIOS}
    assert max(excess.values()) < 2


@given(st.integers(20, 150), st.integers(1, 5), SEEDS)
def test_ratios_are_met_within_each_stratum_too(count: int, strata: int, seed: int) -> None:
    members = single(count, strata)
    splits = assign_members(members, RATIOS, seed, {})
    for stratum in {name for sizes in members.values() for name in sizes}:
        inside = [splits[group] for group, sizes in members.items() if stratum in sizes]
        counts = Counter(inside)
        assert all(abs(counts[split] - RATIOS[split] * len(inside)) < 2.5 for split in RATIOS)


def test_a_large_group_counts_with_all_its_episodes() -> None:
    members: Members = {"big": {"s0": 80}, **single(20)}
    splits = assign_members(members, {"train": 0.8, "val": 0.2}, 0, {"big": "train"})
    assert Counter(splits.values()) == {"train": 1, "val": 20}


def test_another_seed_gives_another_assignment() -> None:
    assignments = [assign_members(single(50), RATIOS, seed, {}) for seed in range(5)]
    assert len({tuple(sorted(splits.items())) for splits in assignments}) == 5


def test_the_assignment_of_a_seed_is_the_same_in_every_release_of_this_code() -> None:
    splits = assign_members(single(6), RATIOS, 0, {})
    assert (splits.pop("g2"), splits.pop("g5")) == ("val", "test")
    assert splits == dict.fromkeys(("g0", "g1", "g3", "g4"), "train")
