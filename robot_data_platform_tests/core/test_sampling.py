from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robot_data_platform.core.sampling import BlockOrder, WeightedOrder, permuted, rank_part
from robot_data_platform.errors import ErrorKind, InvalidInputError

KEYS = st.integers(0, 2**63)
LENGTHS = st.lists(st.integers(0, 30), min_size=1, max_size=8)


def starts(lengths: list[int]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)


@given(size=st.integers(0, 3000), key=KEYS, epoch=st.integers(0, 5))
def test_a_permutation_gives_every_number_once(size: int, key: int, epoch: int) -> None:
    found = permuted(np.arange(size), size, key, epoch)
    assert sorted(found.tolist()) == list(range(size))


@given(size=st.integers(1, 3000), key=KEYS, data=st.data())
def test_a_place_of_a_permutation_does_not_depend_on_which_others_are_asked_for(
    size: int, key: int, data: st.DataObject
) -> None:
    place = data.draw(st.lists(st.integers(0, size - 1), max_size=20))
    whole = permuted(np.arange(size), size, key)
    assert permuted(np.array(place, dtype=np.int64), size, key).tolist() == whole[place].tolist()


def test_a_permutation_of_a_large_range_needs_no_memory_of_its_size() -> None:
    size = 1 << 60
    found = permuted(np.array([0, 1, size - 1]), size, 7)
    assert len(set(found.tolist())) == 3
    assert 0 <= found.min() <= found.max() < size


def test_each_place_is_sent_everywhere_about_equally_often() -> None:
    counts = np.zeros((20, 20))
    for key in range(4000):
        counts[np.arange(20), permuted(np.arange(20), 20, key)] += 1
    # 4,000 draws over 20 places: 200 each, with a deviation of 13.8.
    assert abs(counts - 200).max() < 6 * 13.8


def test_neighbours_end_up_far_apart() -> None:
    found = permuted(np.arange(100_000), 100_000, 3)
    distance = np.abs(np.diff(found))
    # Two random places of a range are a third of it apart.
    assert abs(distance.mean() / 100_000 - 1 / 3) < 0.01
    assert np.corrcoef(np.arange(100_000), found)[0, 1] == pytest.approx(0, abs=0.02)


def test_the_order_of_a_key_never_changes() -> None:
    # A checkpoint of an older release has to resume to the same rows.
    assert permuted(np.arange(8), 8, 1, 0).tolist() == [1, 6, 5, 3, 2, 7, 4, 0]


@given(size=st.integers(0, 500), world_size=st.integers(1, 9), is_even=st.booleans())
def test_ranks_cover_the_order_and_differ_by_one_at_most(
    size: int, world_size: int, is_even: bool
) -> None:
    parts = [rank_part(size, r, world_size, is_even=is_even) for r in range(world_size)]
    covered = [place for start, stop in parts for place in range(start, stop)]
    lengths = {stop - start for start, stop in parts}
    assert covered == list(range(size - size % world_size if is_even else size))
    assert max(lengths) - min(lengths) <= (0 if is_even else 1)


@pytest.mark.parametrize(("rank", "world_size"), [(2, 2), (-1, 2), (0, 0)])
def test_a_rank_that_is_none_is_refused(rank: int, world_size: int) -> None:
    with pytest.raises(InvalidInputError, match=f"Rank {rank}") as caught:
        rank_part(10, rank, world_size, is_even=False)
    assert caught.value.kind is ErrorKind.INVALID_ARGUMENT


@given(lengths=LENGTHS, block_rows=st.integers(1, 12), num_open=st.integers(1, 5), key=KEYS)
def test_blocks_give_every_row_once(
    lengths: list[int], block_rows: int, num_open: int, key: int
) -> None:
    order = BlockOrder(starts(lengths), block_rows, num_open)
    size = sum(lengths)
    assert sorted(order.rows(np.arange(size), key, 0).tolist()) == list(range(size))


@given(lengths=LENGTHS, block_rows=st.integers(1, 12), num_open=st.integers(1, 5), key=KEYS)
def test_so_many_blocks_are_open_at_a_time_and_no_more(
    lengths: list[int], block_rows: int, num_open: int, key: int
) -> None:
    start = starts(lengths)
    rows = BlockOrder(start, block_rows, num_open).rows(np.arange(sum(lengths)), key, 0)
    episode = np.searchsorted(start, rows, side="right") - 1
    within = (rows - start[episode]) // block_rows
    blocks = list(zip(episode.tolist(), within.tolist(), strict=True))
    left = {block: blocks.count(block) for block in blocks}
    opened: set[tuple[int, int]] = set()
    for block in blocks:
        opened.add(block)
        assert len(opened) <= num_open
        left[block] -= 1
        if not any(left[each] for each in opened):
            opened.clear()


@given(lengths=LENGTHS, key=KEYS, epoch=st.integers(0, 3))
def test_weights_of_one_give_every_row_once(lengths: list[int], key: int, epoch: int) -> None:
    size = sum(lengths)
    if size:
        order = WeightedOrder(starts(lengths), np.ones(len(lengths)), size)
        assert sorted(order.rows(np.arange(size), key, epoch).tolist()) == list(range(size))


@given(weights=st.lists(st.sampled_from([0.0, 0.25, 1.0, 2.0, 2.5]), min_size=1, max_size=5))
def test_rows_occur_as_often_as_their_weight_says(weights: list[float]) -> None:
    start = starts([40] * len(weights))
    num_samples = round(40 * sum(weights))
    if not num_samples:
        return
    rows = WeightedOrder(start, np.array(weights), num_samples).rows(np.arange(num_samples), 5, 1)
    counts = np.bincount(rows, minlength=start[-1]).reshape(-1, 40)
    for count, weight in zip(counts, weights, strict=True):
        assert set(count.tolist()) <= {int(weight), int(np.ceil(weight)), int(weight) + 1}
        assert abs(count.sum() - 40 * weight) <= 1


def test_half_of_the_rows_are_others_in_another_epoch() -> None:
    order = WeightedOrder(starts([1000]), np.array([0.5]), 500)
    first, second = (set(order.rows(np.arange(500), 1, epoch).tolist()) for epoch in (0, 1))
    assert len(first) == len(second) == 500
    assert first != second
