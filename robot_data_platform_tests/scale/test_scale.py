"""Every part of `make bench-scale` on a lake of hundreds of episodes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from robot_data_platform_tests.scale.__main__ import tidy
from robot_data_platform_tests.scale.lake import Shape, built
from robot_data_platform_tests.scale.measures import MEASURES, Place, measured
from robot_data_platform_tests.scale.on_s3 import session_on_s3
from robot_data_platform_tests.scale.orchestration import measure_partitions
from robot_data_platform_tests.scale.page import END, START, render
from robot_data_platform_tests.scale.postgres import programs
from robot_data_platform_tests.scale.session import (
    command_names,
    compaction_names,
    landed,
    record_model,
)
from robot_data_platform_tests.scale.template import SHAPE

EPISODES = 300
UPLOADS = 10
FLAGGED = EPISODES // 50
TEMPLATE = 1
NEW_EPISODES = 3

Taken = Mapping[str, Mapping[str, Any]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lake and its landing folder."""
    shape = Shape(num_episodes=EPISODES, num_uploads=UPLOADS)
    return built(tmp_path_factory.mktemp("scale") / "lake", shape, lambda text: None)


@pytest.fixture(scope="module")
def on_s3(folder: Path) -> Taken:
    """What some measures returned on a copy of the lake as it was built, on S3."""
    names = ["compact_frames", "split", "release", "open_release", "lineage_model"]
    with session_on_s3(folder, lambda text: None, 1, lambda name, result: None) as session:
        return session.run(names)


@pytest.fixture(scope="module")
def taken(folder: Path, on_s3: Taken) -> Taken:
    """What each measure returned, all on one lake, in this process."""
    place = Place(lake_root=str(folder / "lake"), landing_root=str(folder / "landing"))
    results = {name: measured(name, place) for name in compaction_names()}
    tidy(place.lake, lambda text: None)
    for name in command_names():
        results[name] = measured(name, landed(place, 0) if name == "add" else place)
        if name == "release":
            record_model(place)
    return results


def facts(taken: Taken, name: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = taken[name]["facts"]
    return found


def test_every_measure_has_time_and_memory(taken: Taken) -> None:
    assert taken.keys() == MEASURES.keys()
    for result in taken.values():
        assert result["wall_s"] > 0
        assert result["peak_mb"] > 0


def test_the_fragments_of_uploads_become_one(taken: Taken) -> None:
    assert facts(taken, "compact_episodes")["changed"]


def test_an_assignment_leaves_flagged_episodes_out_and_stays(taken: Taken) -> None:
    counts = facts(taken, "split")["counts"]
    assert sum(counts.values()) == EPISODES + TEMPLATE - FLAGGED
    assert facts(taken, "split_again")["counts"] == counts


def test_what_is_open_has_every_row(taken: Taken) -> None:
    rows = sum(1 + index % 3 for index in range(1, EPISODES + 1)) + SHAPE.num_rows
    assert facts(taken, "open_live")["rows"] == rows
    assert facts(taken, "open_release")["rows"] == facts(taken, "release")["rows"]


def test_a_filter_lists_what_it_names(taken: Taken) -> None:
    assert facts(taken, "episodes_upload")["episodes"] == EPISODES // UPLOADS
    assert facts(taken, "episodes_flagged")["episodes"] == FLAGGED


def test_lineage_and_impact_agree(taken: Taken) -> None:
    train = facts(taken, "split")["counts"]["train"]
    assert facts(taken, "lineage_model")["episodes"] == train
    assert facts(taken, "impact_upload") == {"episodes": EPISODES // UPLOADS, "models": 1}


def test_an_upload_goes_through_every_step(taken: Taken) -> None:
    assert {"raw_episodes", "quality_results"} <= facts(taken, "add")["step_s"].keys()


def test_a_lake_on_s3_gives_the_same_answers(taken: Taken, on_s3: Taken) -> None:
    for name, result in on_s3.items():
        assert result["facts"] == facts(taken, name)


def test_partitions_are_measured_on_postgresql_at_each_size() -> None:
    if programs() is None:
        pytest.skip("PostgreSQL is absent: install Debian's package postgresql")
    found: dict[str, dict[str, Any]] = {}
    measure_partitions(lambda text: None, lambda part, size, r: found.update({size: r}), (5, 12))
    assert found.keys() == {"5", "12"}
    assert found["5"].keys() == found["12"].keys()
    assert all(seconds > 0 for seconds in found["12"].values())


def test_every_landed_upload_has_other_content(tmp_path: Path) -> None:
    place = Place(lake_root=str(tmp_path / "lake"), landing_root=str(tmp_path / "landing"))
    places = [landed(place, number) for number in (0, 1)]
    manifests = [p.workplace.landing.manifest(p.upload) for p in places]
    assert not {f.sha256 for f in manifests[0].files if f.path.endswith("mp4")} & {
        f.sha256 for f in manifests[1].files
    }
    assert replace(places[0], upload="") == replace(places[1], upload="")


def test_the_page_says_what_the_json_says(repository: Path) -> None:
    text = (repository / "docs" / "scale.md").read_text()
    results = json.loads((repository / "docs" / "scale.json").read_text())
    assert text.partition(START)[2].partition(END)[0] == "\n" + render(results) + "\n"


def test_the_json_names_no_place_of_the_machine(repository: Path) -> None:
    text = (repository / "docs" / "scale.json").read_text()
    assert not [mark for mark in ("/work", "/root", "/home", "://", "127.0.0.1") if mark in text]
