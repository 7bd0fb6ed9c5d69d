"""A step that runs without what the step before it writes says so and writes nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from robot_data_platform.compute.ingestion import Workplace
from robot_data_platform.errors import ErrorKind, NotFoundError
from robot_data_platform.testing.rawlog import RawlogShape
from robot_data_platform_tests.compute.uploads import (
    IN_PROCESS,
    RUN,
    STEPS,
    assert_holds,
    ingest,
    land,
    published,
    workplace,
)

SHAPE = RawlogShape(num_episodes=2, num_rows=12)


@pytest.fixture
def place(tmp_path: Path) -> Workplace:
    """A place with one ingested upload, so that every table is there, and one that only landed."""
    place = workplace(tmp_path)
    land(place, "robot", "u1", RawlogShape(num_episodes=1, num_rows=12, seed=1))
    ingest(place, "u1")
    land(place, "robot", "u2", SHAPE)
    return place


def run(place: Workplace, *steps: str) -> None:
    for step in steps:
        STEPS[step](place, "u2", IN_PROCESS, RUN)


@pytest.mark.parametrize("step", list(STEPS)[1:])
def test_every_step_needs_the_upload_to_be_registered(tmp_path: Path, step: str) -> None:
    place = workplace(tmp_path)
    land(place, "robot", "u2", SHAPE)
    with pytest.raises(NotFoundError, match=r"'u2'.*raw_episodes") as caught:
        run(place, step)
    assert caught.value.kind == ErrorKind.UPLOAD_NOT_FOUND


def test_rows_are_not_written_without_their_pictures(place: Workplace) -> None:
    with pytest.raises(
        NotFoundError, match=r"'episode_000'.*\['env', 'wrist'\].*gop_video"
    ) as caught:
        run(place, "raw_episodes", "frames")
    assert caught.value.kind == ErrorKind.GOP_MISSING
    assert place.lake.open("robot", "frames").count_rows("episode_index > 0") == 0


def test_episodes_are_not_published_without_their_rows(place: Workplace) -> None:
    with pytest.raises(NotFoundError, match=r"'episode_000'.*frames") as caught:
        run(place, "raw_episodes", "gop_video", "episodes")
    assert caught.value.kind == ErrorKind.NO_ROWS
    assert published(place, "robot", "u2") == {}


def test_an_upload_without_cameras_needs_no_pictures(place: Workplace) -> None:
    episodes = land(place, "robot", "u2", replace(SHAPE, cameras=()))
    run(place, *STEPS)
    assert_holds(place, "robot", "u2", episodes)


def test_the_steps_in_order_mend_what_was_refused(place: Workplace) -> None:
    with pytest.raises(NotFoundError):
        run(place, "raw_episodes", "frames")
    run(place, *STEPS)
    assert_holds(place, "robot", "u2", land(place, "robot", "u2", SHAPE))
