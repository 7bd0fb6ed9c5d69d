"""Several processes write one dataset at the same moment."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from robot_data_platform.compute.frames import write_frames
from robot_data_platform.compute.gop_video import write_gop_video
from robot_data_platform.compute.ingestion import Workplace
from robot_data_platform.compute.publish import publish_episodes
from robot_data_platform.compute.registration import find_ingestion, register_upload
from robot_data_platform.errors import DataFaultError
from robot_data_platform.testing.rawlog import RawlogShape
from robot_data_platform_tests.compute.uploads import (
    IN_PROCESS,
    RUN,
    SETTINGS,
    STEPS,
    assert_holds,
    doubled,
    land,
    published,
    workplace,
)
from robot_data_platform_tests.end_to_end.processes import go, started

SHAPE = RawlogShape(num_episodes=2, num_rows=12)


def ingest_at_once(place: Workplace, uploads: Sequence[str]) -> None:
    """Ingest uploads, each in a process of its own, all from the same moment on."""
    with ExitStack() as stack:
        processes = [stack.enter_context(started(place, upload)) for upload in uploads]
        go(*processes)
        assert [process.wait() for process in processes] == [0] * len(uploads)


def test_two_ingestions_of_one_upload_leave_one_copy(tmp_path: Path) -> None:
    place = workplace(tmp_path)
    episodes = land(place, "robot", "u1", SHAPE)
    ingest_at_once(place, ["u1", "u1"])
    assert_holds(place, "robot", "u1", episodes)
    assert doubled(place.lake, "robot") == {}
    assert place.lake.ensure_catalog("uploads").count_rows() == 1


def test_of_two_settings_published_at_once_one_is_there_whole(tmp_path: Path) -> None:
    place = workplace(tmp_path)
    episodes = land(place, "robot", "u1", SHAPE)
    ingestions = []
    for settings in (SETTINGS, replace(SETTINGS, gop_size=8)):
        ingestions.append(register_upload(place, "u1", settings, RUN).ingestion)
        write_gop_video(ingestions[-1], IN_PROCESS, RUN)
        write_frames(ingestions[-1], IN_PROCESS, RUN)
    with ThreadPoolExecutor() as pool:
        list(pool.map(lambda ingestion: publish_episodes(ingestion, IN_PROCESS, RUN), ingestions))
    rows = place.lake.open("robot", "episodes").read(["ingestion_id"])
    assert len(set(rows["ingestion_id"].to_pylist())) == 1
    assert_holds(place, "robot", "u1", episodes)


def test_content_that_was_corrected_on_the_way_is_refused(tmp_path: Path) -> None:
    place = workplace(tmp_path)
    land(place, "robot", "u1", replace(SHAPE, seed=0))
    for step in ("raw_episodes", "gop_video", "frames"):
        STEPS[step](place, "u1", IN_PROCESS, RUN)
    stale = find_ingestion(place, "u1", SETTINGS)
    land(place, "robot", "u1", replace(SHAPE, seed=1))
    with pytest.raises(DataFaultError, match="'u1' was corrected while it was ingested"):
        publish_episodes(stale, IN_PROCESS, RUN)
    assert place.lake.ensure("robot", "episodes").count_rows() == 0


def test_four_uploads_at_once_are_all_there_under_indices_of_their_own(tmp_path: Path) -> None:
    place = workplace(tmp_path)
    # Two of them bring cameras that the others lack, so that columns are added meanwhile.
    cameras = {"u0": ("env",), "u1": ("env", "wrist"), "u2": ("env", "top"), "u3": ("env",)}
    written = {
        upload: land(place, "robot", upload, replace(SHAPE, seed=seed, cameras=names))
        for seed, (upload, names) in enumerate(cameras.items())
    }
    ingest_at_once(place, list(written))
    for upload, episodes in written.items():
        assert_holds(place, "robot", upload, episodes)
    assert doubled(place.lake, "robot") == {}
    shown = [e for upload in written for e in published(place, "robot", upload).values()]
    assert sorted(episode.episode_index for episode in shown) == list(range(8))
