"""Reading on past GOPs that are damaged or gone: what is left out, and what is told of it."""

from __future__ import annotations

import logging

import lance
import pytest

from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform.reader import RobotLanceDataset
from robot_data_platform.reader.samplers import ShuffleSampler
from robot_data_platform.testing.lake import release_lake
from robot_data_platform.testing.lake_model import LakeModel
from robot_data_platform.testing.pictures import read_number
from robot_data_platform_tests.reader.test_faults import SECOND_GOP, replace_gop

BAD = range(28, 36)
"""Rows whose pictures are in the second GOP of the second episode."""


def damage(model: LakeModel, how: str) -> None:
    if how == "gone":
        lance.dataset(f"{model.root}/robot/gops.lance").delete(SECOND_GOP)
    else:
        replace_gop(model, SECOND_GOP, is_hashed=how == "garbage", change=slice(0, 200))


@pytest.mark.parametrize("how", ["gone", "other hash", "garbage"])
def test_items_that_need_the_gop_are_left_out_and_the_others_are_right(
    own: LakeModel, how: str
) -> None:
    damage(own, how)
    rows = RobotLanceDataset(own.root, own.dataset, on_error="skip")
    items = rows[:]
    numbers = [n for e in own.episodes for n in e.picture_number["env"].tolist()]
    assert [int(item["index"]) for item in items] == [n for n in range(43) if n not in BAD]
    for item in items:
        assert read_number(item["observation.images.env"]) == numbers[int(item["index"])]


def test_windows_that_reach_the_gop_are_left_out(own: LakeModel) -> None:
    damage(own, "gone")
    key = "observation.images.env"
    rows = RobotLanceDataset(
        own.root, own.dataset, on_error="skip", delta_timestamps={key: [0.0, 0.1]}
    )
    read = [int(item["index"]) for item in rows[:]]
    assert read == [n for n in range(43) if n not in range(23, 36)]


def test_the_report_names_the_gop_once_and_counts_items(
    own: LakeModel, caplog: pytest.LogCaptureFixture
) -> None:
    damage(own, "other hash")
    episode = own.episodes[1].episode_id
    release_lake(own.root, own.dataset, "r1", {e.episode_id: "train" for e in own.episodes})
    rows = RobotLanceDataset(own.root, own.dataset, release="r1", on_error="skip")
    with caplog.at_level(logging.WARNING, "robot_data_platform.reader.skips"):
        for batch in rows.iter_batches(5, ShuffleSampler(rows)):
            assert not set(batch["index"].tolist()) & set(BAD)
    (gop,) = rows.skipped.gops
    assert rows.skipped.num_items == len(BAD)
    assert (gop.dataset, gop.release, gop.episode, gop.camera) == ("robot", "r1", episode, "env")
    assert gop.gop_key == (1 << 28) + 1
    assert "sha256" in gop.reason
    (record,) = caplog.records
    for name in ("GOP 1", "'env'", episode, "'robot'", "'r1'"):
        assert name in record.getMessage()


def test_where_nothing_is_left_it_is_raised(own: LakeModel) -> None:
    damage(own, "gone")
    rows = RobotLanceDataset(own.root, own.dataset, on_error="skip")
    with pytest.raises(DataFaultError, match="GOP 1") as caught:
        rows[BAD[0]]
    assert caught.value.kind is ErrorKind.GOP_MISSING


def test_without_faults_the_report_is_empty(built: LakeModel) -> None:
    rows = RobotLanceDataset(built.root, built.dataset, on_error="skip")
    rows[:10]
    assert (rows.skipped.gops, rows.skipped.num_items) == ((), 0)
