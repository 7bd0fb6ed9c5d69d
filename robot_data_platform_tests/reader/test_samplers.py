"""Samplers over a real dataset: coverage, ranks, epochs, weights, and resuming."""

from __future__ import annotations

import json
import pickle
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest

from robot_data_platform.errors import ErrorKind, InvalidInputError
from robot_data_platform.reader import RobotLanceDataset
from robot_data_platform.reader.samplers import (
    GopBlockSampler,
    Sampler,
    SequentialSampler,
    ShuffleSampler,
)
from robot_data_platform.testing.lake_model import LakeModel

Make = Callable[..., Sampler]

KINDS: list[Make] = [SequentialSampler, ShuffleSampler, GopBlockSampler]
SHUFFLES: list[Make] = [ShuffleSampler, GopBlockSampler]
each_kind = pytest.mark.parametrize("make", KINDS)
each_shuffle = pytest.mark.parametrize("make", SHUFFLES)


@pytest.fixture(scope="module")
def rows(built: LakeModel) -> RobotLanceDataset:
    return RobotLanceDataset(built.root, built.dataset)


@each_kind
def test_an_epoch_has_every_row_once(rows: RobotLanceDataset, make: Make) -> None:
    assert sorted(make(rows)) == list(range(len(rows)))


@each_kind
@pytest.mark.parametrize("even_ranks", [False, True])
def test_ranks_share_an_epoch_without_overlap(
    rows: RobotLanceDataset, make: Make, even_ranks: bool
) -> None:
    parts = [list(make(rows, rank=rank, world_size=4, even_ranks=even_ranks)) for rank in range(4)]
    taken = Counter(row for part in parts for row in part)
    lengths = [len(part) for part in parts]
    num_lost = len(rows) % 4 if even_ranks else 0
    assert set(taken.values()) == {1}
    assert len(taken) == len(rows) - num_lost
    assert max(lengths) - min(lengths) == (0 if even_ranks else 1)


@each_shuffle
def test_epochs_and_seeds_have_orders_of_their_own(rows: RobotLanceDataset, make: Make) -> None:
    sampler = make(rows, seed=3)
    first, second = list(sampler), list(sampler)
    assert first != second
    assert first == list(make(rows, seed=3))
    assert first != list(make(rows, seed=4))
    sampler.set_epoch(0)
    assert list(sampler) == first


@each_kind
@pytest.mark.parametrize("num_taken", [0, 1, 50, 128])
def test_a_state_resumes_an_epoch_where_it_was(
    rows: RobotLanceDataset, make: Make, num_taken: int
) -> None:
    sampler = make(rows, rank=1, world_size=2)
    list(sampler)
    num_taken = min(num_taken, len(sampler) - 1)
    state = json.loads(json.dumps(sampler.state_dict(num_taken)))
    expected = list(sampler)[num_taken:]
    resumed = make(rows, rank=1, world_size=2)
    resumed.load_state_dict(state)
    assert list(resumed) == expected
    assert resumed.epoch == 2


@pytest.mark.parametrize(
    ("arguments", "named"),
    [({"seed": 1}, "seed=0"), ({"rank": 0, "world_size": 2}, "world_size=1")],
)
def test_a_state_of_another_order_is_refused(
    rows: RobotLanceDataset, arguments: dict[str, int], named: str
) -> None:
    state = ShuffleSampler(rows).state_dict()
    with pytest.raises(InvalidInputError, match=named) as caught:
        ShuffleSampler(rows, **arguments).load_state_dict(state)  # type: ignore[arg-type]
    assert caught.value.kind is ErrorKind.INVALID_ARGUMENT


def test_a_state_of_other_data_is_refused(rows: RobotLanceDataset, built: LakeModel) -> None:
    fewer = RobotLanceDataset(built.root, built.dataset, episodes=[0])
    with pytest.raises(InvalidInputError, match="num_rows=129: expected 40"):
        ShuffleSampler(fewer).load_state_dict(ShuffleSampler(rows).state_dict())


def test_rows_of_an_episode_occur_as_often_as_its_weight_says(
    rows: RobotLanceDataset, built: LakeModel
) -> None:
    first, second, _ = (episode.episode_id for episode in built.episodes)
    taken = Counter(ShuffleSampler(rows, weights={first: 2, second: 0}))
    counts = [taken[row] for row in range(len(rows))]
    assert counts == [2] * 40 + [0] * 43 + [1] * 46


def test_each_of_several_datasets_has_a_weight(built: LakeModel) -> None:
    parts = [RobotLanceDataset(built.root, built.dataset, episodes=[n]) for n in (0, 1)]
    taken = Counter(ShuffleSampler(parts, weights=[1, 3]))
    assert [taken[row] for row in range(83)] == [1] * 40 + [3] * 43


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ({"ep_x": 1.0}, r"\['ep_x'\].*3 episodes"),
        ([1.0, 2.0], "2 numbers for 1 datasets"),
        ([-1.0], "finite numbers of 0 or more"),
        ([float("nan")], "finite numbers of 0 or more"),
        ([0.0], "leave no row"),
    ],
)
def test_weights_that_mean_nothing_are_refused(
    rows: RobotLanceDataset, weights: object, message: str
) -> None:
    with pytest.raises(InvalidInputError, match=message) as caught:
        ShuffleSampler(rows, weights=weights)  # type: ignore[arg-type]
    assert caught.value.kind is ErrorKind.INVALID_ARGUMENT


def test_a_block_has_the_rows_of_a_gop(rows: RobotLanceDataset) -> None:
    # GOPs of 8 pictures, each shown by two rows.
    assert rows.rows_per_gop() == 16
    assert {row // 16 for row in list(GopBlockSampler(rows, num_open_blocks=1))[:8]} <= set(
        range(9)
    )


def test_rows_of_the_open_blocks_are_mixed(rows: RobotLanceDataset) -> None:
    first = list(GopBlockSampler(rows, num_open_blocks=4))[:40]
    starts = np.array([*range(0, 40, 16), *range(40, 83, 16), *range(83, 129, 16)])
    blocks = np.searchsorted(starts, first, side="right")
    assert len(set(blocks.tolist())) <= 4
    assert np.count_nonzero(np.diff(blocks)) > 20


@pytest.mark.parametrize("arguments", [{"num_open_blocks": 0}, {"block_rows": 0}])
def test_blocks_of_nothing_are_refused(rows: RobotLanceDataset, arguments: dict[str, int]) -> None:
    with pytest.raises(InvalidInputError, match="read nothing") as caught:
        GopBlockSampler(rows, **arguments)  # type: ignore[arg-type]
    assert caught.value.kind is ErrorKind.INVALID_ARGUMENT


@each_kind
def test_an_empty_dataset_has_an_empty_order(built: LakeModel, make: Make) -> None:
    assert list(make(RobotLanceDataset(built.root, built.dataset, episodes=[]))) == []


@each_kind
def test_a_sampler_can_be_pickled(rows: RobotLanceDataset, make: Make) -> None:
    sampler = make(rows, rank=1, world_size=3)
    assert list(pickle.loads(pickle.dumps(sampler))) == list(sampler)
