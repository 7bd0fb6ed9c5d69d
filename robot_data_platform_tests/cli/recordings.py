"""Small uploads in rawlog layout, some broken by hand."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from robot_data_platform.testing.rawlog import Draw, RawlogEpisode, RawlogShape, write_rawlog
from robot_data_platform_tests.video.videos import write_video

OPTIONS: Mapping[str, str] = {"preset": "ultrafast", "crf": "8"}
"""Of the encoder: quick to make, and every picture's number readable."""


def record(
    folder: Path, shape: RawlogShape, options: Mapping[str, str] = OPTIONS
) -> tuple[RawlogEpisode, ...]:
    """Write an upload that a robot might bring, and return what it holds."""

    def write(path: Path, num_frames: int, draw: Draw) -> Path:
        size = (shape.height_px, shape.width_px)
        return write_video(path, num_frames, options=options, size=size, picture=draw)

    return write_rawlog(folder, shape, write)


def copy_episode(source: Path, target: Path, name: str) -> Path:
    """Copy the first episode of an upload into another as ``name``; return its folder."""
    folder = target / "episodes" / name
    shutil.copytree(source / "episodes" / "episode_000", folder)
    return folder


def cut_off(file: Path) -> None:
    """Leave the first half of a file."""
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2])
