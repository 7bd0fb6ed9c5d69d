"""Epochs in batches, read ahead: the right rows in the right order, resumable, bounded."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from itertools import islice

import numpy as np
import pytest

from robot_data_platform.errors import DataFaultError, ErrorKind, InvalidInputError
from robot_data_platform.reader import RobotLanceDataset
from robot_data_platform.reader.prefetch import read_ahead
from robot_data_platform.reader.samplers import (
    GopBlockSampler,
    SequentialSampler,
    ShuffleSampler,
)
from robot_data_platform.testing.lake_model import NO_PICTURE, LakeModel
from robot_data_platform.testing.pictures import read_number
from robot_data_platform_tests.reader.test_batches import Ledger
from robot_data_platform_tests.reader.test_faults import FIRST_BAD, SECOND_GOP, replace_gop
from robot_data_platform_tests.reader.test_samplers import Make


@pytest.fixture
def rows(built: LakeModel) -> RobotLanceDataset:
    return RobotLanceDataset(built.root, built.dataset)


@pytest.fixture
def ledger(monkeypatch: pytest.MonkeyPatch) -> Ledger:
    return Ledger(monkeypatch)


@pytest.mark.parametrize("prefetch", [0, 1, 3])
@pytest.mark.parametrize("kind", [SequentialSampler, ShuffleSampler, GopBlockSampler])
def test_batches_hold_the_rows_of_the_order_with_their_own_pictures(
    rows: RobotLanceDataset, built: LakeModel, kind: Make, prefetch: int
) -> None:
    order = list(kind(rows))
    numbers = {
        camera: np.concatenate([e.picture_number[camera] for e in built.episodes])
        for camera in built.shape.cameras
    }
    read: list[int] = []
    for batch in rows.iter_batches(16, kind(rows), prefetch):
        index = batch["index"]
        read += index.tolist()
        for camera, number in numbers.items():
            key = f"observation.images.{camera}"
            shown = [
                NO_PICTURE if is_missing else read_number(picture)
                for picture, is_missing in zip(batch[key], batch[f"{key}_is_missing"], strict=True)
            ]
            assert shown == number[index].tolist()
    assert read == order


def test_a_batch_has_stacked_values_and_lists_of_text(rows: RobotLanceDataset) -> None:
    batch = next(iter(rows.iter_batches(4)))
    items = rows[:4]
    assert batch.keys() == items[0].keys()
    assert batch["task"] == [item["task"] for item in items]
    np.testing.assert_array_equal(batch["action"], np.stack([item["action"] for item in items]))


@pytest.mark.parametrize(("drop_last", "sizes"), [(False, [50, 50, 29]), (True, [50, 50])])
def test_the_last_batch_is_smaller_or_left_out(
    rows: RobotLanceDataset, drop_last: bool, sizes: list[int]
) -> None:
    batches = rows.iter_batches(50, drop_last=drop_last)
    assert [len(batch["index"]) for batch in batches] == sizes


def test_saving_after_any_batch_resumes_with_the_next(rows: RobotLanceDataset) -> None:
    whole = [batch["index"].tolist() for batch in rows.iter_batches(30, ShuffleSampler(rows))]
    sampler = ShuffleSampler(rows)
    for batch in islice(rows.iter_batches(30, sampler, prefetch=3), 2):
        last = batch["index"].tolist()
    assert last == whole[1]
    resumed = ShuffleSampler(rows)
    resumed.load_state_dict(sampler.state_dict())
    assert [b["index"].tolist() for b in rows.iter_batches(30, resumed)] == whole[2:]
    assert (resumed.epoch, resumed.position) == (1, 0)


@pytest.mark.parametrize("kind", [SequentialSampler, GopBlockSampler])
@pytest.mark.parametrize("prefetch", [0, 3])
def test_orders_with_neighbours_read_and_decode_each_gop_once(
    rows: RobotLanceDataset, ledger: Ledger, kind: Make, prefetch: int
) -> None:
    for _ in rows.iter_batches(7, kind(rows), prefetch):
        pass
    # Rows of 40, 43 and 46 show 20, 22 and 23 pictures: three GOPs of 8 for each camera.
    assert len(ledger.decodes) == 3 * 3 * 2
    read = [row_id for row_ids in ledger.blobs for row_id in row_ids]
    assert sorted(read) == sorted(set(read))


def test_without_a_cache_a_gop_is_decoded_in_each_batch(built: LakeModel, ledger: Ledger) -> None:
    rows = RobotLanceDataset(built.root, built.dataset, gop_cache_bytes=0, cameras=["env"])
    for _ in rows.iter_batches(8, prefetch=0):
        pass
    assert len(ledger.decodes) > 9


def test_a_cache_that_holds_one_gop_gives_the_same(built: LakeModel) -> None:
    rows = RobotLanceDataset(built.root, built.dataset)
    tight = RobotLanceDataset(built.root, built.dataset, gop_cache_bytes=80_000)
    for one, other in zip(rows.iter_batches(20), tight.iter_batches(20), strict=True):
        for key, value in one.items():
            np.testing.assert_array_equal(other[key], value, err_msg=key)


def test_a_damaged_gop_shows_in_its_place(own: LakeModel) -> None:
    replace_gop(own, SECOND_GOP, is_hashed=False, change=slice(0, 200))
    rows = RobotLanceDataset(own.root, own.dataset)
    batches = rows.iter_batches(4, prefetch=3)
    seen = [n for batch in islice(batches, FIRST_BAD // 4) for n in batch["index"].tolist()]
    with pytest.raises(DataFaultError) as caught:
        next(batches)
    assert caught.value.kind is ErrorKind.GOP_DAMAGED
    assert seen == list(range(FIRST_BAD))


@pytest.mark.parametrize("arguments", [{"batch_size": 0}, {"batch_size": 1, "prefetch": -1}])
def test_batches_of_nothing_are_refused(rows: RobotLanceDataset, arguments: dict[str, int]) -> None:
    with pytest.raises(InvalidInputError, match="reads nothing") as caught:
        rows.iter_batches(**arguments)  # type: ignore[arg-type]
    assert caught.value.kind is ErrorKind.INVALID_ARGUMENT


def test_leaving_an_epoch_early_ends_its_threads(rows: RobotLanceDataset) -> None:
    for _ in islice(rows.iter_batches(4, prefetch=2), 1):
        pass
    names = [thread.name for thread in threading.enumerate()]
    assert not [name for name in names if name.startswith("rdp-prefetch")]


@pytest.mark.parametrize("num_ahead", [0, 1, 2, 5])
def test_no_more_is_read_ahead_than_asked_for(num_ahead: int) -> None:
    started: list[int] = []

    def read(order: int) -> int:
        started.append(order)
        return order * 10

    results: Iterator[int] = read_ahead(read, range(20), num_ahead)
    for taken, result in enumerate(results):
        assert result == taken * 10
        assert len(started) <= taken + 1 + num_ahead
    assert sorted(started) == list(range(20))


@pytest.mark.parametrize("size", [(24, 32), (64, 96), (90, 130)])
@pytest.mark.parametrize("channels_first", [False, True])
def test_kept_gops_give_the_pictures_that_are_decoded_one_by_one(
    built: LakeModel, size: tuple[int, int], channels_first: bool
) -> None:
    rows = RobotLanceDataset(
        built.root, built.dataset, image_size=size, channels_first=channels_first
    )
    for batch in rows.iter_batches(20, GopBlockSampler(rows)):
        for camera in built.shape.cameras:
            one_by_one = rows.take_frames_decoded(camera, batch["index"].tolist())[camera]
            np.testing.assert_array_equal(batch[f"observation.images.{camera}"], one_by_one)
