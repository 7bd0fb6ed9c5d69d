"""Small uploads in rawlog layout, some broken by hand."""

from __future__ import annotations

import shutil
from pathlib import Path

from robot_data_platform.testing.rawlog import Draw, RawlogEpisode, RawlogShape, write_rawlog
from robot_data_platform_tests.video.videos import write_video


def record(folder: Path, shape: RawlogShape) -> tuple[RawlogEpisode, ...]:
    """Write an upload that a robot might bring, and return what it holds."""
    return write_rawlog(folder, shape, _write_video)


def _write_video(path: Path, num_frames: int, draw: Draw) -> Path:
    height, width, _ = draw(0).shape
    options = {"preset": "ultrafast", "crf": "8"}
    return write_video(path, num_frames, options=options, size=(height, width), picture=draw)


def copy_episode(source: Path, target: Path, name: str) -> Path:
    """Copy the first episode of an upload into another as ``name``; return its folder."""
    folder = target / "episodes" / name
    shutil.copytree(source / "episodes" / "episode_000", folder)
    return folder


def cut_off(file: Path) -> None:
    """Leave the first half of a file."""
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2])
