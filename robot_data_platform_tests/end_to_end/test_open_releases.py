"""Three releases are being read while a fourth upload comes in and the lake is maintained."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from robot_data_platform.compute.ingestion import Workplace
from robot_data_platform.compute.maintenance import maintain_dataset
from robot_data_platform.compute.upkeep_policy import UpkeepPolicy
from robot_data_platform.curation.release import create_release
from robot_data_platform.curation.spec import SplitSpec
from robot_data_platform.curation.verify import verify
from robot_data_platform.reader import RobotLanceDataset
from robot_data_platform.reader.items import Item
from robot_data_platform.testing.rawlog import RawlogShape
from robot_data_platform_tests.compute.uploads import (
    RUN,
    assert_holds,
    assert_same_items,
    ingest,
    land,
    workplace,
)
from robot_data_platform_tests.end_to_end.processes import go, started

SHAPE = RawlogShape(num_episodes=2, num_rows=12)
DATASETS = {"fold": SHAPE, "insert": replace(SHAPE, seed=1), "pick": replace(SHAPE, seed=2)}
FOURTH = {
    "one of more cameras": ("u-more", replace(SHAPE, seed=3, cameras=("env", "wrist", "top"))),
    "one in place of a released one": ("u-pick", replace(SHAPE, seed=3)),
}
"""By what it is: an upload to ``pick`` and its shape."""
AT_ONCE = UpkeepPolicy(keep_versions=timedelta(0), grace=timedelta(0))


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Workplace:
    place = workplace(tmp_path_factory.mktemp("template"))
    for dataset, shape in DATASETS.items():
        land(place, dataset, f"u-{dataset}", shape)
        ingest(place, f"u-{dataset}")
        create_release(place.lake, dataset, SplitSpec(), RUN, name="r1")
    return place


@pytest.fixture
def place(template: Workplace, tmp_path: Path) -> Workplace:
    """Three released datasets of one upload each."""
    shutil.copytree(Path(template.lake_root).parent, tmp_path, dirs_exist_ok=True)
    return workplace(tmp_path)


def open_releases(place: Workplace) -> dict[str, RobotLanceDataset]:
    return {name: RobotLanceDataset(place.lake_root, name, release="r1") for name in DATASETS}


def read_all(readers: Mapping[str, RobotLanceDataset]) -> dict[str, list[Item]]:
    return {name: rows.__getitems__(range(len(rows))) for name, rows in readers.items()}


def assert_same(readers: Mapping[str, RobotLanceDataset], before: Mapping[str, list[Item]]) -> None:
    for name, items in read_all(readers).items():
        assert_same_items(items, before[name])


@pytest.mark.parametrize("fourth", FOURTH)
def test_readers_of_releases_see_nothing_move(place: Workplace, fourth: str) -> None:
    upload, shape = FOURTH[fourth]
    readers = open_releases(place)
    before = read_all(readers)
    episodes = land(place, "pick", upload, shape)
    with started(place, upload) as process:
        go(process)
        assert_same(readers, before)
        while process.poll() is None:
            assert_same(readers, before)
            assert_same(open_releases(place), before)
        assert process.returncode == 0
    for name in DATASETS:
        maintain_dataset(place.lake, name, replace(RUN, created_ns=RUN.created_ns + 1), AT_ONCE)
    assert_same(readers, before)
    assert_same(open_releases(place), before)
    assert [verify(place.lake, name, "r1").problems for name in DATASETS] == [(), (), ()]
    assert_holds(place, "pick", upload, episodes)
