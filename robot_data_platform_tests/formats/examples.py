"""One small source of every registered format, for what has to hold for all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from robot_data_platform_tests.formats import (
    droid_files,
    hdf5_files,
    pickle_files,
    rawlog_files,
    rlds_files,
    robomimic_files,
    ros_files,
)
from robot_data_platform_tests.formats.lerobot_files import Take, write_v2


def _aloha(root: Path) -> None:
    path = hdf5_files.write_episode(root / "episode_0.hdf5")
    hdf5_files.add_padded(path, "high", [hdf5_files.jpeg(code) for code in range(hdf5_files.ROWS)])


def _robomimic(root: Path) -> None:
    path = robomimic_files.write_file(root / "demos.hdf5", demos=(0, 3))
    for demo in (0, 3):
        robomimic_files.add_pictures(path, demo, "view", range(robomimic_files.ROWS))


def _npz(root: Path) -> None:
    values = {"state": pickle_files.state(), "action": pickle_files.state()}
    pictures = {"cam": pickle_files.pictures(range(pickle_files.ROWS))}
    pickle_files.write_npz(root / "episode_0.npz", {**values, **pictures})


def _sent() -> list[ros_files.Sent]:
    messages = [*ros_files.joint_states(), *ros_files.images()]
    return sorted(messages, key=lambda sent: sent.log_ns)


WRITERS: Mapping[str, Callable[[Path], object]] = {
    "lerobot": lambda root: write_v2(root, [Take(index=0, num_rows=6)]),
    "aloha_hdf5": _aloha,
    "robomimic_hdf5": _robomimic,
    "droid": lambda root: droid_files.write_episode(root / "success" / "a"),
    "rawlog": rawlog_files.write_episode,
    "rlds": lambda root: rlds_files.write_dataset(root, [rlds_files.record()]),
    "npz": _npz,
    "pickle": pickle_files.write_demos,
    "mcap": lambda root: ros_files.write_mcap(root / "take.mcap", _sent()),
    "rosbag2": lambda root: ros_files.write_rosbag2(root / "take", _sent()),
    "rosbag1": lambda root: ros_files.write_rosbag1(root / "take.bag", _sent()),
}
"""Writes a source below an empty folder, by the format's name."""


def write_example(root: Path, format_name: str) -> Path:
    """Write a source of a format; a format without a writer here fails its tests."""
    WRITERS[format_name](root)
    return root
