"""Small uploads with depth cameras, and what each row of them must show."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from robot_data_platform.compute.ingestion import Workplace
from robot_data_platform.core.recording import DepthPicture
from robot_data_platform_tests.compute.uploads import ingest, workplace
from robot_data_platform_tests.depth_maps import depth_maps, write_depth_video
from robot_data_platform_tests.formats.rawlog_files import (
    ROWS,
    folder_of,
    times,
    write_depth,
    write_episode,
    write_json,
)

DATASET, UPLOAD = "depth", "20260101t000000z-depth-0000"
FRAMES = 9
PERIOD_NS = 33_333_333
STILLS, VIDEO = "tof", "stereo"
"""A camera of 16-bit PNG files, and one of a 12-bit HEVC video."""
FIRST_NUMBER = {STILLS: 0, VIDEO: 1000}
HIGHEST = {STILLS: 65535, VIDEO: 4095}
HEVC = {"x265-params": "lossless=1:keyint=4:min-keyint=4:scenecut=0:open-gop=0:log-level=none"}
PROFILE = f"cameras: {{{STILLS}: {{depth_unit_m: 0.001}}}}"


def recorded(camera: str, episode: int = 0) -> list[DepthPicture]:
    """Return what a depth camera took in an episode, picture by picture."""
    first = FIRST_NUMBER[camera] + 100 * episode
    return [np.minimum(depth, HIGHEST[camera]) for depth in depth_maps(FRAMES, first=first)]


def rows_of(camera: str, episode: int = 0) -> npt.NDArray[np.uint16]:
    """Return the depth map nearest to each row, (N, H, W); 0 in the last, which is too late."""
    clock, taken = times(ROWS), times(FRAMES, PERIOD_NS)
    nearest = [int(np.argmin(np.abs(taken - row))) for row in clock]
    maps = np.stack([recorded(camera, episode)[number] for number in nearest])
    maps[-1] = 0
    return maps


def write_source(folder: Path, num_episodes: int = 1) -> Path:
    """Write a raw log with a colour camera ``env`` and both kinds of depth camera."""
    for episode in range(num_episodes):
        write_episode(folder, f"ep_{episode}", episode)
        cameras = folder_of(folder, f"ep_{episode}") / "cameras"
        clock = times(FRAMES, PERIOD_NS).tolist()
        write_depth(cameras / STILLS, dict(zip(clock, recorded(STILLS, episode), strict=True)))
        write_depth_video(
            cameras / f"{VIDEO}.mp4", recorded(VIDEO, episode), "libx265", "gray12le", HEVC
        )
        write_json(
            cameras / f"{VIDEO}.timestamps.json",
            {"clock": "host_monotonic_epoch", "timestamp_ns": clock},
        )
    return folder


def ingested(
    folder: Path, *, profile: str | None = PROFILE, num_episodes: int = 1
) -> tuple[Workplace, dict[str, object]]:
    """Return a lake below a folder with such an upload, and what each step came to."""
    place = workplace(folder)
    source = write_source(folder / "source", num_episodes)
    place.landing.put(source, DATASET, UPLOAD, profile=profile)
    return place, ingest(place, UPLOAD)
