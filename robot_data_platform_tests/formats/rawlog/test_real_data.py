"""Raw logs that others made are read as pyarrow, Pillow and NumPy see them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from PIL import Image

from robot_data_platform.core.recording import PictureSequence
from robot_data_platform.formats.profile import load_profile
from robot_data_platform.formats.rawlog import RawlogFormat
from robot_data_platform.storage.source import LocalSource
from robot_data_platform_tests.formats.reading import by_rule, camera, signal

OPENARM = """\
robot: openarm
task: Run test.
rawlog:
  episodes: episodes/*
  signals:
    observation_left_qpos: {path: obs/arms/left/qpos.parquet, time: timestamp, values: [value]}
    observation_right_qpos: {path: obs/arms/right/qpos.parquet, time: timestamp, values: [value]}
    action_left: {path: action/arms/left/qpos.parquet, time: timestamp, values: [value]}
    action_right: {path: action/arms/right/qpos.parquet, time: timestamp, values: [value]}
  cameras:
    ceiling: cameras/ceiling/*.jpeg
    wrist_left: cameras/wrist_left/*.jpeg
"""
TABLES = {
    "observation_left_qpos": "obs/arms/left/qpos.parquet",
    "observation_right_qpos": "obs/arms/right/qpos.parquet",
    "action_left": "action/arms/left/qpos.parquet",
    "action_right": "action/arms/right/qpos.parquet",
}
GO2 = """\
robot: go2
rawlog:
  episodes: .
  signals:
    action: {path: policy_command_history.csv, columns: [t, vx, vy, wz], time: t}
    observation_base_pose: {path: vicon_history.csv, columns: [t, x, y, z, w, i, j, k], time: t}
"""


@pytest.mark.parametrize(
    ("name", "num_rows"), [("0", [745, 746, 90, 90]), ("3", [203, 203, 24, 24])]
)
def test_openarm_keeps_every_rate_and_its_pictures_times(
    shared_data: Path, name: str, num_rows: list[int]
) -> None:
    source, profile = LocalSource(shared_data / "openarm_raw_multirate"), load_profile(OPENARM)
    refs = {r.source_key: r for r in RawlogFormat().list_episodes(source, profile).episodes}
    ref = refs[f"episodes/{name}"]
    recording = RawlogFormat().read(source, ref, profile)
    assert (ref.source_episode_index, recording.task) == (int(name), "Run test.")
    folder = shared_data / "openarm_raw_multirate" / "episodes" / name
    assert [len(signal(recording, key).values) for key in TABLES] == num_rows
    for key, path in TABLES.items():
        table = pq.read_table(folder / path)
        got = signal(recording, key)
        np.testing.assert_array_equal(got.values, np.array(table["value"].to_pylist(), np.float32))
        expected = [time.value for time in table["timestamp"].to_pandas()]
        assert got.timestamp_ns.tolist() == expected
    stream = camera(recording, "ceiling")
    paths = sorted((folder / "cameras" / "ceiling").iterdir(), key=lambda path: int(path.stem))
    assert stream.timestamp_ns.tolist() == [int(path.stem) for path in paths]
    assert isinstance(stream.pictures, PictureSequence)
    for picture, file in zip(stream.pictures.read(), paths, strict=True):
        np.testing.assert_array_equal(picture, np.asarray(Image.open(file).convert("RGB")))
    assert by_rule(recording.findings)["camera_is_recorded"].where == "camera=wrist_left"


def test_csv_files_without_header_of_go2(shared_data: Path) -> None:
    source, profile = LocalSource(shared_data / "rosbag2_go2_vicon"), load_profile(GO2)
    (ref,) = RawlogFormat().list_episodes(source, profile).episodes
    recording = RawlogFormat().read(source, ref, profile)
    for name, path in (
        ("action", "policy_command_history.csv"),
        ("observation_base_pose", "vicon_history.csv"),
    ):
        lines = (shared_data / "rosbag2_go2_vicon" / path).read_text().splitlines()
        got = signal(recording, name)
        assert got.timestamp_ns.tolist() == [int(line.split(",")[0]) for line in lines]
        expected = [[float(value) for value in line.split(",")[1:]] for line in lines]
        np.testing.assert_array_equal(got.values, expected)
    assert len(signal(recording, "observation_base_pose").values) == 11_162
