"""Recordings that others made are read as pyarrow and PyAV see them."""

from __future__ import annotations

from pathlib import Path

import av
import numpy as np
import pyarrow.parquet as pq
import pytest

from robot_data_platform.core.finding import STATUS_OK
from robot_data_platform.core.recording import VideoSegment
from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform.video.settings import GopSettings
from robot_data_platform_tests.formats.ingested import ingest_folder
from robot_data_platform_tests.formats.reading import (
    by_rule,
    camera,
    list_folder,
    read_episode,
    signal,
)

G1_TASK = "Pick up the yellow bottle on the table."
GR1_TASKS = [
    f"pick the {thing} from the counter and place it in the plate"
    for thing in ("squash", "ketchup", "candle", "bar", "spray")
]


def column(path: Path, name: str) -> np.ndarray:
    return np.array(pq.read_table(path, columns=[name])[name].to_pylist())


def assert_same_values(root: Path, key: str, data: str) -> None:
    """State and action are those that pyarrow reads."""
    recording = read_episode(root, key)
    for source_name, name in (("observation.state", "observation_state"), ("action", "action")):
        np.testing.assert_array_equal(
            signal(recording, name).values, column(root / data, source_name)
        )


def assert_whole_video(root: Path, key: str, name: str, num_frames: int) -> None:
    """The episode's frames are all that a decoder finds in the file."""
    pictures = camera(read_episode(root, key), name).pictures
    assert isinstance(pictures, VideoSegment)
    assert (pictures.first_frame, pictures.num_frames) == (0, num_frames)
    with av.open(pictures.path) as container:
        assert sum(1 for _ in container.decode(video=0)) == num_frames


def test_piper_v30(shared_data: Path) -> None:
    root = shared_data / "lerobot_v30_piper_2cam"
    listing = list_folder(root)
    assert [(r.source_key, r.num_rows_claimed) for r in listing.episodes] == [
        ("episode_000000", 300)
    ]
    assert_same_values(root, "episode_000000", "data/chunk-000/file-000.parquet")
    for name in ("top", "wrist"):
        assert_whole_video(root, "episode_000000", name, 300)
    recording = read_episode(root, "episode_000000")
    assert (recording.task, recording.robot) == ("pick up the pen", "piper_follower")
    assert signal(recording, "action").names == (
        *(f"joint{i}.pos" for i in range(1, 7)),
        "gripper.pos",
    )
    times = [(2 * k * 10**9 + 15) // 30 for k in range(300)]
    assert signal(recording, "action").timestamp_ns.tolist() == times
    assert (listing.findings, recording.findings) == ((), ())


def test_g1_v21_of_which_three_of_a_hundred_episodes_are_there(shared_data: Path) -> None:
    root = shared_data / "lerobot_v21_g1_inspire"
    listing = list_folder(root)
    lengths = {29: 221, 30: 277, 31: 267}
    assert {r.source_episode_index: r.num_rows_claimed for r in listing.episodes} == lengths
    missing = by_rule(listing.findings)["declared_episodes_have_files"]
    assert missing.message.startswith("97 of 100 declared episodes have no files")
    assert len(listing.findings) == 1
    for index, num_rows in lengths.items():
        key = f"episode_{index:06d}"
        assert_same_values(root, key, f"data/chunk-000/{key}.parquet")
        recording = read_episode(root, key)
        assert (recording.task, recording.findings) == (G1_TASK, ())
        assert signal(recording, "action").names[:1] == ("kLeftShoulderPitch",)  # type: ignore[index]
        assert camera(recording, "cam_high").pictures.num_frames == num_rows
    assert_whole_video(root, "episode_000029", "cam_high", 221)


def test_gr1_v20_whose_table_is_one_frame_late(shared_data: Path) -> None:
    root = shared_data / "lerobot_v20_gr1_sim"
    listing = list_folder(root)
    assert [r.num_rows_claimed for r in listing.episodes] == [416, 470, 470, 412, 328]
    (absent,) = listing.findings
    assert absent.where == "camera=observation.images.egoview"
    for index, task in enumerate(GR1_TASKS):
        key = f"episode_{index:06d}"
        data = f"data/chunk-000/{key}.parquet"
        assert_same_values(root, key, data)
        recording = read_episode(root, key)
        assert recording.task == task
        (late,) = recording.findings
        assert (late.rule, round(late.value or 0)) == ("time_offset_constant", 50)
        recorded_ns = np.rint(column(root / data, "timestamp") * 1e9)
        np.testing.assert_array_equal(camera(recording, "ego_view").timestamp_ns, recorded_ns)
        assert signal(recording, "observation_state").values.dtype == np.float64
    assert_whole_video(root, "episode_000004", "ego_view", 328)


@pytest.mark.parametrize(
    ("name", "state"),
    [
        ("lerobotv2", [[0.0, 0.1, 0.2], [0.0, 0.1, 0.2]]),
        ("lerobotv2-image", [[0.0, 0.1, 0.2], [0.0, 0.1, 0.2]]),
        ("lerobotv3", [[0.0, 0.1, 0.2], [0.3, 0.4, 0.5]]),
    ],
)
def test_minimal_fixtures(shared_data: Path, name: str, state: list[list[float]]) -> None:
    root = shared_data / "lerobot_minimal_fixtures" / "datasets" / name
    assert len(list_folder(root).episodes) == 2
    for index, expected in enumerate(state):
        recording = read_episode(root, f"episode_{index:06d}")
        assert recording.task == "pick cube"
        np.testing.assert_allclose(signal(recording, "observation_state").values[:, 0], expected)
        assert camera(recording, "cam").pictures.num_frames == 3
        assert recording.findings == ()


@pytest.mark.parametrize("name", ["v2-missing-episodes", "v3-missing-episodes-parquet"])
def test_fixtures_without_episode_metadata_are_refused(shared_data: Path, name: str) -> None:
    with pytest.raises(DataFaultError) as caught:
        list_folder(shared_data / "lerobot_minimal_fixtures" / "invalid" / name)
    assert caught.value.kind is ErrorKind.MISSING_FILE


@pytest.mark.parametrize("name", ["lerobotv2", "lerobotv2-image", "lerobotv3"])
def test_minimal_fixtures_reach_a_reader(shared_data: Path, tmp_path: Path, name: str) -> None:
    root = shared_data / "lerobot_minimal_fixtures" / "datasets" / name
    ingested = ingest_folder(root, tmp_path)
    for index in range(2):
        key = f"episode_{index:06d}"
        expected = signal(read_episode(root, key), "observation_state").values
        np.testing.assert_array_equal(ingested.values(key), expected.astype(np.float32))
        pictures = ingested.pictures(key, "cam")
        assert [picture.shape for picture in pictures] == [pictures[0].shape] * 3


def test_piper_s_repeated_frames_set_no_episode_apart(shared_data: Path, tmp_path: Path) -> None:
    ingested = ingest_folder(shared_data / "lerobot_v30_piper_2cam", tmp_path, GopSettings())
    assert ingested.shown["episode_000000"].status == STATUS_OK
