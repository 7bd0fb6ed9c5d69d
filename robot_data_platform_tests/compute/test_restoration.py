from __future__ import annotations

import shutil
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

import pyarrow as pa
import pytest

from robot_data_platform.compute import restoration
from robot_data_platform.compute.ingestion import Workplace
from robot_data_platform.compute.maintenance import maintain_dataset
from robot_data_platform.compute.restoration import Restoration, restore_episodes
from robot_data_platform.compute.retirement import retire_episode
from robot_data_platform.compute.upkeep_policy import UpkeepPolicy
from robot_data_platform.errors import ErrorKind, NotFoundError
from robot_data_platform.storage.commit import grow_schema
from robot_data_platform.storage.lake import Lake
from robot_data_platform.testing.rawlog import RawlogEpisode, RawlogShape
from robot_data_platform_tests.compute.uploads import (
    RUN,
    assert_holds,
    ingest,
    land,
    published,
    versions,
    workplace,
)

SHAPE = RawlogShape(num_episodes=2, num_rows=12, cameras=("env",))
LATER = replace(RUN, run_id="run-2", asset="restorations", created_ns=RUN.created_ns + 1)
FAR_LATER = replace(LATER, created_ns=1 << 61)
COLLECT = UpkeepPolicy(grace=timedelta(0))


@dataclass(frozen=True, slots=True)
class Corrected:
    """A dataset whose only upload was corrected."""

    place: Workplace
    first: tuple[RawlogEpisode, ...]
    version: int
    """Version of ``episodes`` that showed what was uploaded first."""

    def restore(self) -> Restoration:
        return restore_episodes(self.place.lake, "robot", self.version, LATER)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Corrected:
    place = workplace(tmp_path_factory.mktemp("template"))
    first = land(place, "robot", "u1", SHAPE)
    ingest(place, "u1")
    version = place.lake.open("robot", "episodes").version
    land(place, "robot", "u1", replace(SHAPE, seed=1))
    ingest(place, "u1")
    return Corrected(place, first, version)


@pytest.fixture
def corrected(template: Corrected, tmp_path: Path) -> Corrected:
    shutil.copytree(Path(template.place.lake_root).parent, tmp_path, dirs_exist_ok=True)
    return replace(template, place=workplace(tmp_path))


def test_an_earlier_version_is_shown_again_as_it_was(corrected: Corrected) -> None:
    lake = corrected.place.lake
    before = lake.open("robot", "episodes", corrected.version).read()
    assert corrected.restore().is_new
    shown = lake.open("robot", "episodes").read().sort_by("episode_index")
    assert shown.equals(before.sort_by("episode_index"))
    assert_holds(corrected.place, "robot", "u1", corrected.first)


def test_what_is_shown_already_writes_nothing(corrected: Corrected) -> None:
    corrected.restore()
    before = versions(corrected.place.lake, "robot")
    assert not corrected.restore().is_new
    assert versions(corrected.place.lake, "robot") == before


def test_columns_that_came_since_stay(corrected: Corrected) -> None:
    uri = corrected.place.lake.table_uri("robot", "episodes")
    grow_schema(uri, [pa.field("note", pa.string())], {})
    corrected.restore()
    rows = corrected.place.lake.open("robot", "episodes").read(["note"])
    assert rows["note"].to_pylist() == [None, None]


def test_what_was_retired_since_stays_away(corrected: Corrected) -> None:
    lake = corrected.place.lake
    episode = published(corrected.place, "robot", "u1")["episode_000"].episode_id
    retire_episode(lake, "robot", episode, "not agreed to", "somebody", LATER)
    assert corrected.restore().num_episodes == 1
    assert list(published(corrected.place, "robot", "u1")) == ["episode_001"]


def test_what_was_collected_since_is_refused_and_nothing_changes(corrected: Corrected) -> None:
    maintain_dataset(corrected.place.lake, "robot", FAR_LATER, COLLECT)
    before = published(corrected.place, "robot", "u1")
    with pytest.raises(NotFoundError, match=r"episode_index \[0, 1\] \(2 in all\)") as caught:
        corrected.restore()
    assert caught.value.kind == ErrorKind.NO_ROWS
    assert published(corrected.place, "robot", "u1") == before


def test_a_collection_just_before_the_commit_is_noticed(
    corrected: Corrected, monkeypatch: pytest.MonkeyPatch
) -> None:
    lacking = restoration._lacking
    rounds: list[int] = []

    def look_and_collect(lake: Lake, dataset: str, rows: object) -> list[int]:
        found = lacking(lake, dataset, rows)
        if not rounds:
            rounds.append(1)
            maintain_dataset(lake, dataset, FAR_LATER, COLLECT)
        return found

    monkeypatch.setattr(restoration, "_lacking", look_and_collect)
    with pytest.raises(NotFoundError, match="were collected by maintenance"):
        corrected.restore()
    assert len(published(corrected.place, "robot", "u1")) == 2


def test_a_version_that_is_not_there_is_refused(corrected: Corrected) -> None:
    with pytest.raises(NotFoundError) as caught:
        restore_episodes(corrected.place.lake, "robot", 999, LATER)
    assert caught.value.kind == ErrorKind.VERSION_NOT_FOUND


def test_a_version_without_any_episode_is_restored_before_anything_was_cut(
    tmp_path: Path,
) -> None:
    place = workplace(tmp_path)
    version = place.lake.ensure("robot", "episodes").version
    assert not restore_episodes(place.lake, "robot", version, LATER).is_new
    assert place.lake.find("robot", "frames") is None
