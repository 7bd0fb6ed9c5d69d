from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import lance
import numpy as np
import pytest

from robot_data_platform.reader import RobotLanceDataset
from robot_data_platform.reader.items import Item
from robot_data_platform.testing.lake import add_upload, release_lake
from robot_data_platform.testing.lake_model import LakeModel, LakeShape

TABLES = ("gops", "frames", "episodes")


def table(model: LakeModel, name: str) -> lance.LanceDataset:
    return lance.dataset(f"{model.root}/{model.dataset}/{name}.lance")


def append(model: LakeModel) -> None:
    add_upload(model.root, model.dataset, "upload-9", 90, 1, model.shape)


def swap(model: LakeModel) -> None:
    """Ingest the first upload again, other rows under fresh indices."""
    shape = LakeShape(num_rows=9, cameras=("env",), width_px=64, height_px=48, gop_size=4)
    add_upload(model.root, model.dataset, "upload-1", 50, 2, shape)


def delete(model: LakeModel) -> None:
    for name in TABLES:
        table(model, name).delete("episode_index = 0")


def update(model: LakeModel) -> None:
    table(model, "frames").update({"task": "'other'"}, where="frame_index < 5")


def compact(model: LakeModel) -> None:
    append(model)
    for name in TABLES:
        table(model, name).optimize.compact_files(target_rows_per_fragment=1_000_000)


def clean_up(model: LakeModel) -> None:
    swap(model)
    compact(model)
    for name in TABLES:
        table(model, name).cleanup_old_versions(
            timedelta(0), error_if_tagged_old_versions=False, delete_unverified=True
        )


CHANGES = [append, swap, delete, update, compact]


def snapshot_of(rows: RobotLanceDataset) -> list[Item]:
    return rows.__getitems__(range(len(rows)))


def assert_same(before: list[Item], after: list[Item]) -> None:
    assert len(before) == len(after)
    for one, other in zip(before, after, strict=True):
        assert one.keys() == other.keys()
        for key, value in one.items():
            np.testing.assert_array_equal(other[key], value, err_msg=key)


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_a_change_of_the_tables_changes_nothing_for_an_open_reader(
    own: LakeModel, change: Callable[[LakeModel], None]
) -> None:
    half = RobotLanceDataset(own.root, own.dataset)
    before = snapshot_of(RobotLanceDataset(own.root, own.dataset))
    half[0]
    change(own)
    assert_same(before, snapshot_of(half))


@pytest.mark.parametrize("change", [*CHANGES, clean_up], ids=lambda change: change.__name__)
def test_a_release_reads_the_same_whatever_came_after_it(
    own: LakeModel, change: Callable[[LakeModel], None]
) -> None:
    release_lake(own.root, own.dataset, "r1", {e.episode_id: "train" for e in own.episodes})
    before = snapshot_of(RobotLanceDataset(own.root, own.dataset, release="r1"))
    change(own)
    assert_same(before, snapshot_of(RobotLanceDataset(own.root, own.dataset, release="r1")))


def test_a_closed_reader_opens_the_versions_it_had(own: LakeModel) -> None:
    rows = RobotLanceDataset(own.root, own.dataset)
    before = snapshot_of(rows)
    rows.close()
    append(own)
    assert_same(before, snapshot_of(rows))


def test_a_new_reader_sees_the_swapped_episodes_and_not_the_old(own: LakeModel) -> None:
    swap(own)
    rows = RobotLanceDataset(own.root, own.dataset)
    assert {int(item["episode_index"]) for item in rows} == {50, 51}
    assert rows.episode_ids == [episode.episode_id for episode in own.episodes]


def test_rows_and_pictures_are_right_after_compaction(own: LakeModel) -> None:
    before = snapshot_of(RobotLanceDataset(own.root, own.dataset))
    compact(own)
    rows = RobotLanceDataset(own.root, own.dataset, episodes=[0, 1])
    assert_same(before, snapshot_of(rows))
