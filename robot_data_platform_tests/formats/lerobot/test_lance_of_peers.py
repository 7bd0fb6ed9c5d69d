"""A dataset that LeRobot wrote and lerobot-lancedb converted, held against LeRobot's own files."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import av
import numpy as np
import pyarrow.parquet as pq
import pytest

from robot_data_platform.core.recording import VideoSegment
from robot_data_platform_tests.formats.reading import camera, list_folder, read_episode, signal

STARTS, LENGTHS = (0, 8, 17), (8, 9, 10)
COLUMNS = {
    "observation.state": "observation_state",
    "action": "action",
    "next.done": "next_done",
    "observation.pose": "observation_pose",
}


@pytest.fixture(scope="module")
def folder(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    python = repository / ".bench" / "peers" / "bin" / "python"
    if not python.is_file():
        pytest.skip("the peers' Python, which `make bench` makes, is absent")
    folder = tmp_path_factory.mktemp("peers")
    done = subprocess.run(
        [str(python), str(Path(__file__).with_name("peer_dataset.py")), str(folder)],
        env={**os.environ, "HF_HOME": str(folder / "hf"), "HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return folder


def test_every_value_is_that_of_lerobot_s_own_files(folder: Path) -> None:
    table = pq.read_table(folder / "files/data/chunk-000/file-000.parquet")
    for index, (start, length) in enumerate(zip(STARTS, LENGTHS, strict=True)):
        recording = read_episode(folder / "set", f"episode_{index:06d}")
        for key, name in COLUMNS.items():
            stored = np.array(table[key].slice(start, length).to_pylist(), dtype=np.float32)
            values = signal(recording, name).values
            np.testing.assert_array_equal(values, stored.reshape(length, -1))
        assert (recording.task, recording.robot) == (f"task {index % 2}", "so101")
    assert list_folder(folder / "set").findings == ()


def test_every_frame_is_that_of_lerobot_s_own_files(folder: Path) -> None:
    for key in ("top", "wrist"):
        path = folder / f"files/videos/observation.images.{key}/chunk-000/file-000.mp4"
        with av.open(str(path)) as container:
            frames = [frame.to_ndarray(format="gray") for frame in container.decode(video=0)]
        for index, (start, length) in enumerate(zip(STARTS, LENGTHS, strict=True)):
            recording = read_episode(folder / "set", f"episode_{index:06d}")
            pictures = camera(recording, key).pictures
            assert isinstance(pictures, VideoSegment)
            assert (pictures.first_frame, pictures.num_frames) == (start, length)
            assert Path(pictures.path).read_bytes() == path.read_bytes()
            shown = frames[start : start + length]
            # The brightness that each frame was drawn with: 20 per episode, 5 per row.
            drawn = [20 * index + 5 * row for row in range(length)]
            expected = drawn if key == "top" else [255 - value for value in drawn]
            np.testing.assert_allclose([frame.mean() for frame in shown], expected, atol=4)
