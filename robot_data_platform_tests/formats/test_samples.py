"""The sample uploads are read as their maker says they are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from robot_data_platform.core.recording import Recording, VideoSegment
from robot_data_platform.formats.inspect import inspect_source
from robot_data_platform.formats.profile import find_profile
from robot_data_platform.formats.registry import detect_format
from robot_data_platform.storage.source import LocalSource
from robot_data_platform_tests.formats.reading import signal

UPLOADS = ("aloha_fold", "so101_pick", "aloha_insert")
Facts = dict[str, Any]


@pytest.fixture(scope="module")
def truth(samples: Path) -> Facts:
    """What TRUTH.json says, by upload."""
    facts: Facts = json.loads((samples / "TRUTH.json").read_text())["datasets"]
    return facts


def read_all(folder: Path) -> list[Recording]:
    source = LocalSource(folder)
    profile, reader = find_profile(source), detect_format(source)
    listing = reader.list_episodes(source, profile)
    assert listing.findings == ()
    return [reader.read(source, ref, profile) for ref in listing.episodes]


@pytest.mark.parametrize("upload", UPLOADS)
def test_every_episode_has_its_true_rows_task_names_and_cameras(
    samples: Path, truth: Facts, upload: str
) -> None:
    recordings = read_all(samples / upload)
    episodes = truth[upload]["episodes"]
    assert len(recordings) == len(episodes)
    for recording, facts in zip(recordings, episodes, strict=True):
        state = signal(recording, "observation_state")
        assert (len(state.values), recording.task) == (facts["rows"], facts["task"])
        assert recording.ref.source_episode_index == facts["source_episode_index"]
        assert state.names == tuple(truth[upload]["joint_names"])
        frames = {c.name: c.pictures.num_frames for c in recording.cameras}
        names = {name.removeprefix("observation.images."): name for name in facts["cameras"]}
        assert frames == {name: facts["cameras"][key]["frames"] for name, key in names.items()}
        assert recording.findings == ()


def test_the_drivers_are_the_true_intervals(samples: Path, truth: Facts) -> None:
    for recording, facts in zip(
        read_all(samples / "aloha_fold"), truth["aloha_fold"]["episodes"], strict=True
    ):
        got = [[i.value, i.start_ns, i.end_ns] for i in recording.sources]
        assert got == facts["sources"]
        assert signal(recording, "observation_state").timestamp_ns[0] == facts["start_ns"]


def test_shared_videos_start_at_the_true_frames(samples: Path, truth: Facts) -> None:
    for recording, facts in zip(
        read_all(samples / "so101_pick"), truth["so101_pick"]["episodes"], strict=True
    ):
        for camera in recording.cameras:
            place = facts["cameras"][f"observation.images.{camera.name}"]
            assert isinstance(camera.pictures, VideoSegment)
            assert camera.pictures.first_frame == place["first_frame_in_file"]
            assert f"file-{place['file_index']:03d}.mp4" in camera.pictures.path


def test_the_one_nan_stays_where_it_was_recorded(samples: Path, truth: Facts) -> None:
    for recording, facts in zip(
        read_all(samples / "aloha_insert"), truth["aloha_insert"]["episodes"], strict=True
    ):
        got = np.argwhere(np.isnan(signal(recording, "observation_state").values)).tolist()
        defect = facts["defect"]
        assert got == ([[defect["row"], defect["dimension"]]] if defect else [])


@pytest.mark.parametrize("upload", UPLOADS)
def test_inspect_refuses_the_cut_video_and_nothing_else(
    samples: Path, truth: Facts, upload: str
) -> None:
    report = inspect_source(LocalSource(samples / upload))
    cut = [
        facts["name"]
        for facts in truth[upload]["episodes"]
        if facts["defect"] and facts["defect"]["kind"] == "truncated_video"
    ]
    assert [episode.source_key for episode in report.refused] == cut
    assert [finding.rule for finding in report.findings] == []
