"""The samples after the demonstration, held against what their generator wrote down."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from robot_data_platform.compute.listed_findings import list_findings
from robot_data_platform.compute.listing import EpisodeFacts, list_episodes
from robot_data_platform.reader import RobotLanceDataset
from robot_data_platform.storage.snapshot import list_releases
from robot_data_platform_tests.end_to_end.conftest import Demonstration

DATASETS = ("aloha_fold", "so101_pick", "aloha_insert")
STATUS_BY_DEFECT = {
    "truncated_video": "quarantined",
    "frozen_camera": "flagged",
    "nan_in_state": "flagged",
}
RULE_BY_DEFECT = {
    "truncated_video": "episode_can_be_ingested",
    "frozen_camera": "picture_changes_while_moving",
    "nan_in_state": "state_is_finite",
}
SAMPLES = Path(__file__).parents[1] / "samples" / "data"
Truth = dict[str, Any]


@pytest.fixture(scope="session")
def truth(samples: Path) -> Truth:
    facts: Truth = json.loads((samples / "TRUTH.json").read_text())["datasets"]
    return facts


def told(demonstration: Demonstration, dataset: str) -> list[EpisodeFacts]:
    return sorted(list_episodes(demonstration.lake, dataset), key=lambda e: e["source"])


def true_episodes(truth: Truth, dataset: str) -> list[dict[str, Any]]:
    return sorted(truth[dataset]["episodes"], key=lambda e: str(e["name"]))


@pytest.mark.parametrize("dataset", DATASETS)
def test_every_episode_has_the_status_that_its_defect_deserves(
    demonstration: Demonstration, truth: Truth, dataset: str
) -> None:
    expected = [
        STATUS_BY_DEFECT[e["defect"]["kind"]] if e["defect"] else "ok"
        for e in true_episodes(truth, dataset)
    ]
    assert [e["status"] for e in told(demonstration, dataset)] == expected


@pytest.mark.parametrize("dataset", DATASETS)
def test_the_only_doubt_is_the_defect(
    demonstration: Demonstration, truth: Truth, dataset: str
) -> None:
    defects = [e["defect"]["kind"] for e in true_episodes(truth, dataset) if e["defect"]]
    doubts = {
        (f["episode_index"], f["rule"])
        for f in list_findings(demonstration.lake, dataset)
        if f["severity"] != "info"
    }
    assert [rule for _, rule in doubts] == [RULE_BY_DEFECT[kind] for kind in defects]


@pytest.mark.parametrize("dataset", DATASETS)
def test_every_converted_episode_has_the_rows_that_were_recorded(
    demonstration: Demonstration, truth: Truth, dataset: str
) -> None:
    got = [e["rows"] for e in told(demonstration, dataset) if e["status"] != "quarantined"]
    expected = [
        e["rows"]
        for e in true_episodes(truth, dataset)
        if not e["defect"] or e["defect"]["kind"] != "truncated_video"
    ]
    assert got == expected


@pytest.mark.parametrize("dataset", DATASETS)
def test_the_release_holds_every_episode_without_a_doubt(
    demonstration: Demonstration, truth: Truth, dataset: str
) -> None:
    num_good = sum(not e["defect"] for e in true_episodes(truth, dataset))
    assert list_releases(demonstration.lake, dataset)[-1]["num_episodes"] == num_good


@pytest.mark.parametrize("dataset", DATASETS)
def test_the_reader_serves_the_release(demonstration: Demonstration, dataset: str) -> None:
    release = list_releases(demonstration.lake, dataset)[-1]
    view = RobotLanceDataset(demonstration.lake.root, dataset, release=release["release"])
    assert len(view) == release["num_rows"]


def test_the_story_names_each_episode_that_was_set_apart(
    demonstration: Demonstration, truth: Truth
) -> None:
    printed = "".join(demonstration.printed.split())
    broken = [
        e["name"] for dataset in DATASETS for e in true_episodes(truth, dataset) if e["defect"]
    ]
    assert [name for name in broken if name not in printed] == []


def test_the_story_ends_at_a_source_file_with_its_hash(
    demonstration: Demonstration, samples: Path
) -> None:
    lines = demonstration.printed.split("6. What")[1].splitlines()
    paths = [line.split()[-1] for line in lines if "…  " in line]
    assert all((samples / "aloha_fold" / path).is_file() for path in paths)
    assert paths


def test_a_second_demonstration_changes_nothing(demonstration: Demonstration) -> None:
    versions = {
        (name, table): demonstration.lake.open(name, table).version
        for name in DATASETS
        for table in ("gops", "frames", "episodes", "quality", "splits")
    }
    assert demonstration.rdp("demo", "--samples", str(SAMPLES)).returncode == 0
    assert versions == {key: demonstration.lake.open(*key).version for key in versions}
