"""The same upload again writes nothing; another content of it takes its place in one step."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from robot_data_platform.compute import episodes_map
from robot_data_platform.compute.ingestion import Workplace
from robot_data_platform.compute.publish import PublishResult
from robot_data_platform.core.finding import STATUS_QUARANTINED
from robot_data_platform.reader import RobotLanceDataset
from robot_data_platform.storage.snapshot import open_snapshot
from robot_data_platform.testing.pictures import read_number
from robot_data_platform.testing.rawlog import Fault, RawlogEpisode, RawlogShape
from robot_data_platform_tests.compute.uploads import (
    IN_PROCESS,
    RUN,
    STEPS,
    assert_holds,
    doubled,
    ingest,
    land,
    published,
    versions,
    workplace,
)

SHAPE = RawlogShape(num_episodes=2, num_rows=12, faults={1: "nan_state"})
CORRECTED = RawlogShape(num_episodes=2, num_rows=14, seed=1)
LATER = replace(RUN, run_id="run-2", created_ns=RUN.created_ns + 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ingested:
    place: Workplace
    episodes: tuple[RawlogEpisode, ...]


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Ingested:
    place = workplace(tmp_path_factory.mktemp("template"))
    episodes = land(place, "robot", "u1", SHAPE)
    ingest(place, "u1")
    return Ingested(place=place, episodes=episodes)


@pytest.fixture
def ingested(template: Ingested, tmp_path: Path) -> Ingested:
    """A dataset of one upload with two episodes, for one test alone."""
    shutil.copytree(Path(template.place.lake_root).parent, tmp_path, dirs_exist_ok=True)
    return replace(template, place=workplace(tmp_path))


@pytest.mark.parametrize("step", STEPS)
def test_a_step_that_runs_again_alone_writes_nothing(ingested: Ingested, step: str) -> None:
    before = versions(ingested.place.lake, "robot")
    STEPS[step](ingested.place, "u1", IN_PROCESS, LATER)
    assert versions(ingested.place.lake, "robot") == before


def test_all_steps_again_write_nothing(ingested: Ingested) -> None:
    before = versions(ingested.place.lake, "robot")
    ingest(ingested.place, "u1", run=LATER)
    ingest(ingested.place, "u1", run=LATER)
    assert versions(ingested.place.lake, "robot") == before


def test_steps_with_nothing_to_do_work_on_no_episode(
    ingested: Ingested, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        pytest.fail("an episode was worked on again")

    monkeypatch.setattr(episodes_map, "_run", refuse)
    ingest(ingested.place, "u1", run=LATER)


def test_an_upload_of_broken_episodes_alone_writes_nothing_when_it_runs_again(
    tmp_path: Path,
) -> None:
    place = workplace(tmp_path)
    faults: dict[int, Fault] = {0: "truncated_video", 1: "time_backwards"}
    land(place, "robot", "u1", replace(SHAPE, faults=faults))
    ingest(place, "u1")
    before = versions(place.lake, "robot")
    ingest(place, "u1", run=LATER)
    assert versions(place.lake, "robot") == before
    statuses = [episode.status for episode in published(place, "robot", "u1").values()]
    assert statuses == [STATUS_QUARANTINED, STATUS_QUARANTINED]


def test_a_corrected_upload_takes_the_place_of_the_first_in_one_commit(ingested: Ingested) -> None:
    place = ingested.place
    before = place.lake.open("robot", "episodes").version
    corrected = land(place, "robot", "u1", CORRECTED)
    result = ingest(place, "u1", run=LATER)["episodes"]
    assert_holds(place, "robot", "u1", corrected)
    assert place.lake.open("robot", "episodes").count_rows() == CORRECTED.num_episodes
    assert doubled(place.lake, "robot") == {}
    assert isinstance(result, PublishResult)
    assert result.episodes_version == before + 1


def test_a_corrected_episode_keeps_its_id_and_gets_a_fresh_index(ingested: Ingested) -> None:
    before = published(ingested.place, "robot", "u1")
    land(ingested.place, "robot", "u1", CORRECTED)
    ingest(ingested.place, "u1", run=LATER)
    after = published(ingested.place, "robot", "u1")
    for key, episode in after.items():
        assert episode.episode_id == before[key].episode_id
        assert episode.episode_index not in {old.episode_index for old in before.values()}
        assert episode.content_digest != before[key].content_digest


def test_the_first_content_stays_readable_at_its_version(ingested: Ingested) -> None:
    place, first = ingested.place, ingested.episodes[0]
    version = open_snapshot(place.lake, "robot").episodes.version
    land(place, "robot", "u1", CORRECTED)
    ingest(place, "u1", run=LATER)
    rows = RobotLanceDataset(place.lake_root, "robot", version=version, episodes=[0])
    items = rows.__getitems__(range(len(rows)))
    np.testing.assert_array_equal([item["observation.state"] for item in items], first.state)
    shown = [read_number(item["observation.images.env"]) for item in items]
    assert shown == first.picture_number["env"].tolist()


def test_an_upload_corrected_back_shows_its_first_content_under_its_first_indices(
    ingested: Ingested,
) -> None:
    place, before = ingested.place, published(ingested.place, "robot", "u1")
    held = {name: place.lake.open("robot", name).version for name in ("gops", "frames")}
    land(place, "robot", "u1", CORRECTED)
    ingest(place, "u1", run=LATER)
    land(place, "robot", "u1", SHAPE)
    ingest(place, "u1", run=LATER)
    assert published(place, "robot", "u1") == before
    assert_holds(place, "robot", "u1", ingested.episodes)
    assert {n: place.lake.open("robot", n).version for n in held} == {
        name: version + 1 for name, version in held.items()
    }


def test_another_profile_takes_the_place_of_the_first(ingested: Ingested) -> None:
    place, before = ingested.place, published(ingested.place, "robot", "u1")
    land(place, "robot", "u1", SHAPE, profile="robot: renamed_arm\n")
    ingest(place, "u1", run=LATER)
    assert_holds(place, "robot", "u1", ingested.episodes)
    table = place.lake.open("robot", "episodes")
    assert set(table.read(["robot"])["robot"].to_pylist()) == {"renamed_arm"}
    after = published(place, "robot", "u1")
    assert {e.episode_index for e in after.values()}.isdisjoint(
        {e.episode_index for e in before.values()}
    )


def test_an_episode_that_a_corrected_upload_lacks_leaves_the_view(ingested: Ingested) -> None:
    corrected = land(ingested.place, "robot", "u1", replace(CORRECTED, num_episodes=1))
    ingest(ingested.place, "u1", run=LATER)
    assert_holds(ingested.place, "robot", "u1", corrected)
    assert len(RobotLanceDataset(ingested.place.lake_root, "robot").episode_ids) == 1


def test_a_camera_that_a_later_upload_adds_is_null_in_earlier_rows(ingested: Ingested) -> None:
    place = ingested.place
    later = land(place, "robot", "u2", replace(CORRECTED, cameras=("env", "wrist", "top")))
    ingest(place, "u2")
    assert_holds(place, "robot", "u1", ingested.episodes)
    assert_holds(place, "robot", "u2", later)
    frames = place.lake.open("robot", "frames")
    added = [name for name in frames.schema.names if name.startswith("observation_images_top_")]
    assert len(added) == 4
    rows = frames.read(added, "episode_index < 2")
    assert [rows[name].null_count for name in added] == [rows.num_rows] * 4


def test_the_rate_of_a_camera_that_a_later_upload_adds_is_told(ingested: Ingested) -> None:
    place = ingested.place
    land(place, "robot", "u2", replace(CORRECTED, cameras=("env", "top")))
    before = json.loads(place.lake.open("robot", "frames").metadata["rdp.camera_fps"])
    ingest(place, "u2")
    after = json.loads(place.lake.open("robot", "frames").metadata["rdp.camera_fps"])
    assert after == {**before, "top": before["env"]}


def test_a_camera_that_a_later_upload_lacks_is_null_in_its_rows(ingested: Ingested) -> None:
    place = ingested.place
    later = land(place, "robot", "u2", replace(CORRECTED, cameras=("env",)))
    ingest(place, "u2")
    assert_holds(place, "robot", "u2", later)
    rows = place.lake.open("robot", "frames").read(
        ["observation_images_wrist_ref_id"], "episode_index >= 2"
    )
    assert rows["observation_images_wrist_ref_id"].null_count == rows.num_rows


def test_a_state_of_another_width_is_refused_with_both_widths(ingested: Ingested) -> None:
    place = ingested.place
    land(place, "robot", "u2", replace(CORRECTED, state_width=6))
    ingest(place, "u2")
    for episode in published(place, "robot", "u2").values():
        assert episode.status == STATUS_QUARANTINED
        assert "has width 6: expected 4" in (episode.status_reason or "")
    rows = RobotLanceDataset(place.lake_root, "robot")
    assert len(rows.episode_ids) == SHAPE.num_episodes
    assert_holds(place, "robot", "u1", ingested.episodes)
