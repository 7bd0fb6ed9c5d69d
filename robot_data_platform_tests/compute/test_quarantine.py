"""Broken episodes are put aside with the reason, and the rest of their upload goes on."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest

from robot_data_platform.compute.ingestion import Workplace
from robot_data_platform.compute.listed_findings import list_findings
from robot_data_platform.core.finding import STATUS_FLAGGED, STATUS_OK, STATUS_QUARANTINED
from robot_data_platform.testing.rawlog import RawlogEpisode, RawlogShape
from robot_data_platform_tests.compute.uploads import (
    Published,
    assert_holds,
    ingest,
    land,
    published,
    workplace,
)

SHAPE = RawlogShape(
    num_episodes=4,
    num_rows=12,
    faults={0: "truncated_video", 1: "time_backwards", 2: "nan_state"},
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ingested:
    place: Workplace
    episodes: tuple[RawlogEpisode, ...]
    shown: dict[str, Published]


@pytest.fixture(scope="module")
def ingested(tmp_path_factory: pytest.TempPathFactory) -> Ingested:
    place = workplace(tmp_path_factory.mktemp("quarantine"))
    episodes = land(place, "robot", "u1", SHAPE)
    ingest(place, "u1")
    return Ingested(place=place, episodes=episodes, shown=published(place, "robot", "u1"))


def test_only_broken_episodes_are_not_ok(ingested: Ingested) -> None:
    assert [ingested.shown[f"episode_{n:03d}"].status for n in range(4)] == [
        STATUS_QUARANTINED,
        STATUS_QUARANTINED,
        STATUS_FLAGGED,
        STATUS_OK,
    ]


@pytest.mark.parametrize(
    ("episode", "reason"),
    [
        ("episode_000", r"cameras/wrist\.mp4"),
        ("episode_001", r"signals/state\.parquet.* at row 3"),
        ("episode_002", r"'observation_state'.* NaN .*rows 5"),
        ("episode_003", r"^$"),
    ],
)
def test_each_episode_says_what_is_wrong_with_it(
    ingested: Ingested, episode: str, reason: str
) -> None:
    assert re.search(reason, ingested.shown[episode].status_reason or "")


def test_the_rest_of_the_upload_is_whole(ingested: Ingested) -> None:
    readable = [e for e in ingested.episodes if e.fault in (None, "nan_state")]
    assert_holds(ingested.place, "robot", "u1", readable)


def test_an_episode_in_quarantine_has_no_rows(ingested: Ingested) -> None:
    frames = ingested.place.lake.open("robot", "frames")
    assert set(frames.read(["episode_index"])["episode_index"].to_pylist()) == {2, 3}


def test_the_reason_of_a_quarantine_is_a_finding(ingested: Ingested) -> None:
    findings = list_findings(ingested.place.lake, "robot", rule="episode_can_be_ingested")
    assert [(f["episode_index"], f["message"]) for f in findings] == [
        (0, ingested.shown["episode_000"].status_reason),
        (1, ingested.shown["episode_001"].status_reason),
    ]
