"""LeRobot v1 datasets that others made, as pyarrow and PyAV see their files."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import av
import numpy as np
import pyarrow as pa
import pytest

from robot_data_platform.core.finding import STATUS_OK
from robot_data_platform.formats.inspect import inspect_source
from robot_data_platform.storage.source import LocalSource
from robot_data_platform.video.settings import GopSettings
from robot_data_platform_tests.formats.ingested import Ingested, ingest_folder
from robot_data_platform_tests.formats.lerobot_v1_files import STREAM, read_stream
from robot_data_platform_tests.formats.reading import list_folder, read_episode, signal

EPISODE = "episode_000000"
STEP = 7
"""Every so many pictures are compared: all of one video would take a gigabyte."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """What the folder holds, as its description says."""

    num_rows: int
    fps: int
    camera: str
    size_px: tuple[int, int]
    width: int
    """Of state and action."""
    others: tuple[str, ...]
    """Signals besides the state, in the order of the columns."""


SETS = {
    "aloha_sim_insertion_human": Recorded(
        num_rows=500,
        fps=50,
        camera="top",
        size_px=(640, 480),
        width=14,
        others=("action", "next_done"),
    ),
    "aloha_sim_transfer_cube_human": Recorded(
        num_rows=400,
        fps=50,
        camera="top",
        size_px=(640, 480),
        width=14,
        others=("action", "next_done"),
    ),
    "pusht": Recorded(
        num_rows=161,
        fps=10,
        camera="image",
        size_px=(96, 96),
        width=2,
        others=("action", "next_reward", "next_done", "next_success"),
    ),
    "umi_cup_in_the_wild": Recorded(
        num_rows=400,
        fps=10,
        camera="image",
        size_px=(224, 224),
        width=7,
        others=("end_pose", "start_pos", "gripper_width"),
    ),
    "xarm_lift_medium": Recorded(
        num_rows=25,
        fps=15,
        camera="image",
        size_px=(84, 84),
        width=4,
        others=("action", "next_reward", "next_done"),
    ),
}


@pytest.fixture(params=list(SETS))
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def root(shared_data: Path, name: str) -> Path:
    return shared_data / "lerobot_v1_arrow" / name


def column(table: pa.Table, key: str) -> np.ndarray:
    return np.array(table[key].to_pylist(), dtype=np.float32).reshape(table.num_rows, -1)


def decoded(root: Path, table: pa.Table, step: int) -> list[np.ndarray]:
    """Return frames of the one video that the rows name."""
    key = next(field.name for field in table.schema if pa.types.is_struct(field.type))
    (path,) = {row["path"] for row in table[key].to_pylist()}
    with av.open(str(root / path)) as container:
        frames = islice(container.decode(video=0), 0, None, step)
        return [frame.to_ndarray(format="rgb24") for frame in frames]


def test_its_one_episode_has_the_signals_and_times_of_its_table(root: Path, name: str) -> None:
    recorded, table = SETS[name], read_stream(root / STREAM)
    recording = read_episode(root, EPISODE)
    assert [s.name for s in recording.signals] == ["observation_state", *recorded.others]
    state = signal(recording, "observation_state")
    np.testing.assert_array_equal(state.values, column(table, "observation.state"))
    assert state.values.shape == (recorded.num_rows, recorded.width)
    exact = [(2 * k * 10**9 + recorded.fps) // (2 * recorded.fps) for k in range(recorded.num_rows)]
    assert state.timestamp_ns.tolist() == exact
    assert (recording.findings, list_folder(root).findings) == ((), ())


def test_its_video_is_described_as_it_is(root: Path, name: str) -> None:
    report = inspect_source(LocalSource(root))
    (episode,) = report.episodes
    (shown,) = episode.cameras
    assert (shown.name, shown.codec, shown.pix_fmt) == (SETS[name].camera, "h264", "yuv444p")
    assert (shown.width_px, shown.height_px) == SETS[name].size_px
    assert shown.num_frames_in_file == SETS[name].num_rows
    assert (report.findings, report.refused) == ((), ())


@pytest.fixture(scope="module", params=list(SETS))
def ingested(
    request: pytest.FixtureRequest, shared_data: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, Ingested]:
    root = shared_data / "lerobot_v1_arrow" / request.param
    return root, ingest_folder(root, tmp_path_factory.mktemp(request.param), GopSettings())


def test_a_reader_gives_the_values_of_the_table(ingested: tuple[Path, Ingested]) -> None:
    root, lake = ingested
    table = read_stream(root / STREAM)
    assert lake.shown[EPISODE].status == STATUS_OK
    np.testing.assert_array_equal(lake.values(EPISODE), column(table, "observation.state"))
    if "action" in table.column_names:
        np.testing.assert_array_equal(lake.values(EPISODE, "action"), column(table, "action"))


def test_a_reader_gives_the_frames_of_the_video_pixel_for_pixel(
    ingested: tuple[Path, Ingested],
) -> None:
    root, lake = ingested
    pictures = lake.pictures(EPISODE, SETS[root.name].camera, STEP)
    frames = decoded(root, read_stream(root / STREAM), STEP)
    assert len(pictures) == len(frames) > 1
    for picture, frame in zip(pictures, frames, strict=True):
        np.testing.assert_array_equal(picture, frame)
