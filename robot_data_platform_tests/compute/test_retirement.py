from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from robot_data_platform.compute import publish
from robot_data_platform.compute.checks import upload_is_published_once
from robot_data_platform.compute.ingestion import Workplace
from robot_data_platform.compute.maintenance import maintain_dataset
from robot_data_platform.compute.registration import find_ingestion
from robot_data_platform.compute.retirement import Retirement, retire_episode
from robot_data_platform.compute.upkeep_policy import UpkeepPolicy
from robot_data_platform.curation.release import create_release
from robot_data_platform.curation.spec import SplitSpec
from robot_data_platform.curation.verify import verify
from robot_data_platform.errors import ErrorKind, NotFoundError
from robot_data_platform.lineage.impact import impact_of
from robot_data_platform.lineage.query import lineage_of
from robot_data_platform.storage.predicate import equals
from robot_data_platform.testing.rawlog import RawlogShape
from robot_data_platform_tests.compute.uploads import (
    IN_PROCESS,
    RUN,
    SETTINGS,
    STEPS,
    assert_holds,
    copied,
    ingest,
    land,
    published,
    released,
    versions,
)

SHAPE = RawlogShape(num_episodes=2, num_rows=12, cameras=("env",))
LATER = replace(RUN, run_id="run-2", asset="retirements", created_ns=RUN.created_ns + 1)
AT_ONCE = UpkeepPolicy(keep_versions=timedelta(0), grace=timedelta(0))


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Workplace:
    """A dataset of one upload with two episodes, and a release of both."""
    return released(tmp_path_factory.mktemp("template"), SHAPE, "before")


@pytest.fixture
def place(template: Workplace, tmp_path: Path) -> Workplace:
    return copied(template, tmp_path)


def retire(place: Workplace, source_key: str = "episode_000") -> Retirement:
    episode = published(place, "robot", "u1")[source_key].episode_id
    return retire_episode(place.lake, "robot", episode, "not agreed to", "somebody", LATER)


def test_a_retired_episode_is_gone_by_one_commit(place: Workplace) -> None:
    before = versions(place.lake, "robot")
    done = retire(place)
    assert list(published(place, "robot", "u1")) == ["episode_001"]
    after = versions(place.lake, "robot")
    assert {name for name in before if after[name] != before[name]} == {"robot/episodes"}
    assert done.episodes_version == after["robot/episodes"] == before["robot/episodes"] + 1


def test_retiring_again_writes_nothing(place: Workplace) -> None:
    done = retire(place)
    before = versions(place.lake, "robot")
    again = retire_episode(place.lake, "robot", done.episode_id, "again", "another", LATER)
    assert not again.is_new
    assert versions(place.lake, "robot") == before
    recorded = place.lake.ensure_catalog("retirements").read(["reason", "retired_by"])
    assert recorded.to_pylist() == [{"reason": "not agreed to", "retired_by": "somebody"}]


def test_an_episode_that_is_not_published_is_refused(place: Workplace) -> None:
    with pytest.raises(NotFoundError, match="'robot' shows no episode 'ep_none'") as caught:
        retire_episode(place.lake, "robot", "ep_none", "why", "somebody", LATER)
    assert caught.value.kind == ErrorKind.EPISODE_NOT_FOUND
    assert place.lake.find_catalog("retirements") is None


def test_an_earlier_release_still_reads_a_retired_episode_after_maintenance(
    place: Workplace,
) -> None:
    retire(place)
    run = replace(LATER, created_ns=LATER.created_ns + 1)
    assert maintain_dataset(place.lake, "robot", run, AT_ONCE).num_superseded_rows > 0
    assert place.lake.open("robot", "frames").count_rows(equals("episode_index", 0)) == 0
    report = verify(place.lake, "robot", "before")
    assert (report.problems, report.num_episodes) == ((), 2)


def test_a_correction_does_not_bring_a_retired_episode_back(place: Workplace) -> None:
    retire(place)
    episodes = land(place, "robot", "u1", replace(SHAPE, seed=1))
    ingest(place, "u1")
    assert_holds(place, "robot", "u1", episodes[1:])
    frames = place.lake.open("robot", "frames")
    assert frames.count_rows(equals("episode_index", 2)) == 0
    ingestion = find_ingestion(place, "u1", SETTINGS)
    assert upload_is_published_once(ingestion).is_passed


def test_an_upload_all_of_whose_episodes_are_retired_shows_none_again(place: Workplace) -> None:
    for key in ("episode_000", "episode_001"):
        retire(place, key)
    maintain_dataset(place.lake, "robot", replace(LATER, created_ns=1 << 61), AT_ONCE)
    ingest(place, "u1")
    assert published(place, "robot", "u1") == {}


def test_an_upload_is_whole_after_a_retired_episode_was_collected_and_it_was_corrected_back(
    place: Workplace,
) -> None:
    episodes = land(place, "robot", "u1", SHAPE)
    retire(place)
    maintain_dataset(place.lake, "robot", replace(LATER, created_ns=1 << 61), AT_ONCE)
    land(place, "robot", "u1", replace(SHAPE, seed=1))
    ingest(place, "u1")
    land(place, "robot", "u1", SHAPE)
    ingest(place, "u1")
    assert_holds(place, "robot", "u1", episodes[1:])
    assert published(place, "robot", "u1")["episode_001"].episode_index == 1


def test_an_episode_retired_while_its_upload_is_published_stays_away(
    place: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    land(place, "robot", "u1", replace(SHAPE, seed=1))
    for step in ("raw_episodes", "gop_video", "frames"):
        STEPS[step](place, "u1", IN_PROCESS, LATER)
    describe_all = publish._describe_all

    def describe_and_lose(*arguments: object) -> object:
        rows = describe_all(*arguments)  # type: ignore[arg-type]
        retire(place)
        return rows

    monkeypatch.setattr(publish, "_describe_all", describe_and_lose)
    STEPS["episodes"](place, "u1", IN_PROCESS, LATER)
    assert list(published(place, "robot", "u1")) == ["episode_001"]


def test_later_releases_name_the_run_that_retired(place: Workplace) -> None:
    retired = retire(place)
    create_release(place.lake, "robot", SplitSpec(), RUN, name="after")
    lineage = lineage_of(place.lake, "robot/after")
    assert LATER.run_id in lineage.runs
    assert len(lineage.episodes) == 1
    impact = impact_of(place.lake, retired.episode_id)
    assert [release.release for release in impact.releases] == ["before"]
