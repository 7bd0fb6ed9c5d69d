"""Maintenance beside an ingestion that is about to publish: it is whole, or refused whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from robot_data_platform.compute import abandonment, gop_video, publish
from robot_data_platform.compute.ingestion import Ingestion, Workplace
from robot_data_platform.compute.maintenance import maintain_dataset
from robot_data_platform.compute.registration import find_ingestion
from robot_data_platform.compute.scrub_share import NONE
from robot_data_platform.compute.upkeep_policy import UpkeepPolicy
from robot_data_platform.errors import (
    ErrorKind,
    InvalidInputError,
    NotFoundError,
    StorageError,
    is_worth_retrying,
)
from robot_data_platform.storage.commit import commit_fragments
from robot_data_platform.storage.table import LakeTable
from robot_data_platform.testing.rawlog import RawlogEpisode, RawlogShape
from robot_data_platform_tests.compute.uploads import (
    IN_PROCESS,
    RUN,
    SETTINGS,
    STEPS,
    assert_holds,
    ingest,
    land,
    published,
    workplace,
)

SHAPE = RawlogShape(num_episodes=2, num_rows=12)
AT_ONCE = UpkeepPolicy(keep_versions=timedelta(0), grace=timedelta(0), scrub=NONE)
LATER = replace(RUN, asset="maintenance", created_ns=RUN.created_ns + 1)
AFTER_ALL = replace(LATER, created_ns=RUN.created_ns + 10**18)
"""Later than any file was written."""


@pytest.fixture
def place(tmp_path: Path) -> Workplace:
    return workplace(tmp_path)


@pytest.fixture
def waiting(place: Workplace) -> tuple[RawlogEpisode, ...]:
    """An upload of which all is written but its publication."""
    episodes = land(place, "robot", "u1", SHAPE)
    for step in ("raw_episodes", "gop_video", "frames"):
        STEPS[step](place, "u1", IN_PROCESS, RUN)
    return episodes


def collect(place: Workplace) -> int:
    return maintain_dataset(place.lake, "robot", LATER, AT_ONCE).num_superseded_rows


def test_a_publisher_that_looked_before_the_collection_is_refused_and_done_again_whole(
    place: Workplace, waiting: tuple[RawlogEpisode, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    collected: list[int] = []

    def look_then_collect(episodes: LakeTable, upload: str, indices: tuple[int, int]) -> None:
        abandonment.refuse_given_up(episodes, upload, indices)
        if not collected:
            collected.append(collect(place))

    monkeypatch.setattr(publish, "refuse_given_up", look_then_collect)
    with pytest.raises(NotFoundError, match="lost its reservation") as caught:
        STEPS["episodes"](place, "u1", IN_PROCESS, RUN)
    assert caught.value.kind is ErrorKind.UPLOAD_NOT_FOUND
    assert collected[0] > 0
    assert published(place, "robot", "u1") == {}
    ingest(place, "u1")
    assert_holds(place, "robot", "u1", waiting)


@pytest.mark.parametrize("step", ["set_metadata", "fence"])
def test_what_is_published_in_the_middle_of_a_collection_is_whole_or_refused(
    place: Workplace,
    waiting: tuple[RawlogEpisode, ...],
    monkeypatch: pytest.MonkeyPatch,
    step: str,
) -> None:
    ingestion, original = find_ingestion(place, "u1", SETTINGS), getattr(abandonment, step)
    refused: list[bool] = []

    def publish_first(*arguments: object) -> object:
        if not refused:
            refused.append(is_refused(ingestion))
        return original(*arguments)

    monkeypatch.setattr(abandonment, step, publish_first)
    collect(place)
    assert refused == [step == "fence"]
    if refused == [False]:
        assert_holds(place, "robot", "u1", waiting)
    else:
        assert published(place, "robot", "u1") == {}
        ingest(place, "u1")
        assert_holds(place, "robot", "u1", waiting)


def is_refused(ingestion: Ingestion) -> bool:
    try:
        publish.publish_episodes(ingestion, IN_PROCESS, RUN)
    except NotFoundError:
        return True
    return False


def test_pictures_that_waited_too_long_for_their_commit_are_refused_and_made_again(
    place: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    episodes = land(place, "robot", "u1", SHAPE)
    STEPS["raw_episodes"](place, "u1", IN_PROCESS, RUN)
    removed: list[int] = []

    def collect_first(uri: str, fragments: Sequence[str], **options: object) -> object:
        if not removed:
            report = maintain_dataset(place.lake, "robot", AFTER_ALL, AT_ONCE)
            removed.append(report.tables["gops"].orphan_files)
        return commit_fragments(uri, fragments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(gop_video, "commit_fragments", collect_first)
    with pytest.raises(StorageError, match="Run the step again") as caught:
        STEPS["gop_video"](place, "u1", IN_PROCESS, RUN)
    assert is_worth_retrying(caught.value)
    assert removed[0] > 0
    ingest(place, "u1")
    assert_holds(place, "robot", "u1", episodes)


@pytest.mark.usefixtures("waiting")
def test_indices_that_were_given_up_are_never_reserved_again(place: Workplace) -> None:
    before = find_ingestion(place, "u1", SETTINGS).index_range
    assert collect(place) > 0
    STEPS["raw_episodes"](place, "u1", IN_PROCESS, RUN)
    after = find_ingestion(place, "u1", SETTINGS).index_range
    assert after[0] >= before[1]
    uploads = place.lake.ensure_catalog("uploads").read(["ingestion_id"])
    assert uploads.num_rows == 1


@pytest.mark.usefixtures("waiting")
def test_a_collection_that_died_after_its_mark_is_ended_by_the_next_one(
    place: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as broken:
        broken.setattr(abandonment, "fence", die)
        with pytest.raises(KeyboardInterrupt):
            collect(place)
    assert collect(place) > 0
    assert collect(place) == 0


def test_a_grace_that_lance_would_not_keep_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="0 to 6 days"):
        UpkeepPolicy(grace=timedelta(days=7))
