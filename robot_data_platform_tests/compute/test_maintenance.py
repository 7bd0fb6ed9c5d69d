from __future__ import annotations

import shutil
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

from robot_data_platform.compute.ingestion import Workplace
from robot_data_platform.compute.maintenance import maintain_dataset
from robot_data_platform.compute.upkeep_policy import UpkeepPolicy
from robot_data_platform.compute.upkeep_report import UpkeepReport
from robot_data_platform.core.schema import TABLES
from robot_data_platform.curation.release import create_release
from robot_data_platform.curation.spec import SplitSpec
from robot_data_platform.curation.verify import verify
from robot_data_platform.errors import ErrorKind, NotFoundError
from robot_data_platform.reader import RobotLanceDataset
from robot_data_platform.storage.compaction import CompactionPolicy
from robot_data_platform.testing.rawlog import RawlogShape
from robot_data_platform_tests.compute.uploads import (
    IN_PROCESS,
    RUN,
    STEPS,
    assert_holds,
    assert_same_items,
    ingest,
    land,
    published,
    versions,
    workplace,
)

FIRST = RawlogShape(num_episodes=2, num_rows=12)
CORRECTED = replace(FIRST, seed=1)
DAY_NS = 86_400 * 10**9
ROW_TABLES = ("gops", "frames", "quality", "spatial", "measurements")
EAGER = CompactionPolicy()
AT_ONCE = UpkeepPolicy(
    keep_versions=timedelta(0),
    grace=timedelta(0),
    compaction=dict.fromkeys((*TABLES, "measurements"), EAGER),
)
"""Nothing is young, and two small fragments are enough to merge."""


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Workplace:
    """A dataset of one upload with a finding, ingested, corrected and ingested again."""
    place = workplace(tmp_path_factory.mktemp("template"))
    land(place, "robot", "u1", replace(FIRST, faults={1: "nan_state"}))
    ingest(place, "u1")
    land(place, "robot", "u1", CORRECTED)
    ingest(place, "u1")
    return place


@pytest.fixture
def place(template: Workplace, tmp_path: Path) -> Workplace:
    shutil.copytree(Path(template.lake_root).parent, tmp_path, dirs_exist_ok=True)
    return workplace(tmp_path)


def maintain(
    place: Workplace, policy: UpkeepPolicy = AT_ONCE, days_later: float = 0
) -> UpkeepReport:
    run = replace(
        RUN, asset="maintenance", created_ns=RUN.created_ns + 1 + int(days_later * DAY_NS)
    )
    return maintain_dataset(place.lake, "robot", run, policy)


def num_rows(place: Workplace, where: str) -> dict[str, int]:
    return {name: place.lake.open("robot", name).count_rows(where) for name in ROW_TABLES}


def test_superseded_rows_are_collected_after_the_grace(place: Workplace) -> None:
    before = num_rows(place, "episode_index < 2")
    assert all(before.values())
    report = maintain(place, UpkeepPolicy(grace=timedelta(days=1)), days_later=1.1)
    assert report.num_superseded_rows == sum(before.values())
    assert num_rows(place, "episode_index < 2") == dict.fromkeys(ROW_TABLES, 0)


def test_superseded_rows_stay_within_the_grace(place: Workplace) -> None:
    before = num_rows(place, "episode_index < 2")
    report = maintain(place, UpkeepPolicy(grace=timedelta(days=1)), days_later=0.9)
    assert report.num_superseded_rows == 0
    assert num_rows(place, "episode_index < 2") == before


def test_what_is_published_stays_however_old_it_is(place: Workplace) -> None:
    shown = published(place, "robot", "u1")
    maintain(place, days_later=1000)
    assert published(place, "robot", "u1") == shown
    assert_holds(place, "robot", "u1", land(place, "robot", "u1", CORRECTED))


def test_rows_of_a_run_that_never_published_are_collected_and_made_again(place: Workplace) -> None:
    episodes = land(place, "robot", "u2", replace(FIRST, seed=2))
    for step in ("raw_episodes", "gop_video", "frames"):
        STEPS[step](place, "u2", IN_PROCESS, RUN)
    maintain(place)
    assert num_rows(place, "episode_index >= 4") == dict.fromkeys(ROW_TABLES, 0)
    ingest(place, "u2")
    assert_holds(place, "robot", "u2", episodes)


def test_a_step_after_the_collection_does_not_go_on_without_what_was_collected(
    place: Workplace,
) -> None:
    land(place, "robot", "u2", replace(FIRST, seed=2))
    for step in ("raw_episodes", "gop_video"):
        STEPS[step](place, "u2", IN_PROCESS, RUN)
    maintain(place)
    with pytest.raises(NotFoundError) as caught:
        STEPS["frames"](place, "u2", IN_PROCESS, RUN)
    assert caught.value.kind == ErrorKind.UPLOAD_NOT_FOUND


def test_an_upload_corrected_back_after_the_collection_is_whole(place: Workplace) -> None:
    maintain(place)
    episodes = land(place, "robot", "u1", FIRST)
    ingest(place, "u1")
    assert_holds(place, "robot", "u1", episodes)


def test_a_release_reads_the_same_after_its_rows_were_superseded_and_collected(
    place: Workplace,
) -> None:
    create_release(place.lake, "robot", SplitSpec(), RUN, name="r1")
    rows = RobotLanceDataset(place.lake_root, "robot", release="r1")
    before = rows.__getitems__(range(len(rows)))
    land(place, "robot", "u1", replace(FIRST, seed=2))
    ingest(place, "u1")
    report = maintain(place)
    assert report.num_superseded_rows > 0
    assert report.num_versions_removed > 0
    again = RobotLanceDataset(place.lake_root, "robot", release="r1")
    assert_same_items(again.__getitems__(range(len(again))), before)
    assert verify(place.lake, "robot", "r1").problems == ()


@pytest.mark.parametrize("index_min_rows", [1, UpkeepPolicy().index_min_rows])
def test_a_second_maintenance_does_nothing(place: Workplace, index_min_rows: int) -> None:
    policy = replace(AT_ONCE, index_min_rows=index_min_rows)
    first = maintain(place, policy)
    assert first.compacted
    before = versions(place.lake, "robot")
    second = maintain(place, policy)
    assert versions(place.lake, "robot") == before
    assert (second.num_superseded_rows, second.num_versions_removed, second.compacted) == (0, 0, [])


def test_rows_and_pictures_are_right_after_fragments_were_merged(place: Workplace) -> None:
    written = {
        upload: land(place, "robot", upload, replace(FIRST, seed=seed))
        for seed, upload in enumerate(("u2", "u3", "u4"), start=2)
    }
    for upload in written:
        ingest(place, upload)
    assert {"frames", "episodes"} <= set(maintain(place).compacted)
    for upload, episodes in written.items():
        assert_holds(place, "robot", upload, episodes)


def test_rows_are_found_by_an_index_that_was_made_before_them(
    place: Workplace,
) -> None:
    policy = replace(AT_ONCE, index_min_rows=1)
    assert maintain(place, policy).tables["frames"].index_created
    episodes = land(place, "robot", "u2", replace(FIRST, seed=2))
    ingest(place, "u2")
    assert_holds(place, "robot", "u2", episodes)
    maintain(place, policy)
    assert_holds(place, "robot", "u2", episodes)


def test_scrubbing_finds_the_gop_of_which_one_bit_has_changed(place: Workplace) -> None:
    gops = place.lake.open("robot", "gops")
    rows = gops.read(["gop_key"], with_row_id=True).slice(5, 1)
    (blob,) = gops.read_blobs(rows["_rowid"].to_numpy().astype(np.uint64))
    flip_bit(Path(gops.uri), blob)
    report = maintain(place, UpkeepPolicy(grace=timedelta(days=1)))
    assert report.damaged_gops == rows["gop_key"].to_pylist()
    assert report.num_gops_scrubbed == gops.count_rows()


def test_scrubbing_finds_nothing_where_nothing_is_damaged(place: Workplace) -> None:
    report = maintain(place)
    assert report.num_gops_scrubbed == place.lake.open("robot", "gops").count_rows() > 0
    assert report.damaged_gops == []


def flip_bit(table: Path, blob: bytes) -> None:
    """Change one bit of a blob in whichever file of the table holds it."""
    (path,) = (p for p in table.rglob("*") if p.is_file() and blob in p.read_bytes())
    content = bytearray(path.read_bytes())
    content[content.index(blob) + len(blob) // 2] ^= 1
    path.write_bytes(content)
