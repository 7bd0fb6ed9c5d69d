"""Contents that uploads may have: tiny, written once per process, and landed by copying."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from robot_data_platform.compute.ingestion import Workplace
from robot_data_platform.storage.landing import Manifest
from robot_data_platform.testing.rawlog import Fault, RawlogEpisode, RawlogShape, write_rawlog
from robot_data_platform_tests.video.videos import write_video

HEIGHT_PX, WIDTH_PX = 24, 32
ROWS_PER_GRIPPER = 3
"""The gripper is sampled at every third row, and held."""
LOSING_FAULTS = frozenset({"truncated_video", "time_backwards"})
"""Faults that put an episode in quarantine; the others only flag it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """What an upload holds; equal contents are equal byte for byte."""

    seed: int
    num_episodes: int = 2
    cameras: tuple[str, ...] = ("env",)
    has_gripper: bool = False
    """Whether there is a signal more, which is slower than the others."""
    fault: Fault | None = None
    """Of the last episode."""

    @property
    def num_good(self) -> int:
        """Episodes that can be ingested; they are the first ones."""
        return self.num_episodes - (self.fault in LOSING_FAULTS)


@dataclass(frozen=True, slots=True)
class Written:
    """A content on disk."""

    folder: Path
    episodes: tuple[RawlogEpisode, ...]


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="rdp-contents-")


@cache
def written(content: Content) -> Written:
    """Return a content's files, and what they hold."""
    folder = Path(tempfile.mkdtemp(dir=_folder().name))
    faults = {content.num_episodes - 1: content.fault} if content.fault else {}
    shape = RawlogShape(
        num_episodes=content.num_episodes,
        num_rows=6,
        cameras=content.cameras,
        width_px=WIDTH_PX,
        height_px=HEIGHT_PX,
        state_width=2,
        action_width=1,
        seed=content.seed,
        faults=faults,
    )
    episodes = write_rawlog(folder, shape, _write_video)
    for episode in episodes if content.has_gripper else ():
        _write_gripper(folder / "episodes" / episode.source_key, episode, content.seed)
    return Written(folder, episodes)


def _write_video(path: Path, num_frames: int, draw: Callable[[int], np.ndarray]) -> Path:
    size = (HEIGHT_PX, WIDTH_PX)
    options = {"preset": "ultrafast", "crf": "8", "threads": "1"}
    return write_video(path, num_frames, options=options, size=size, picture=draw)


def _write_gripper(folder: Path, episode: RawlogEpisode, seed: int) -> None:
    sampled = slice(None, None, ROWS_PER_GRIPPER)
    times, values = episode.timestamp_ns[sampled], gripper(episode, seed)[sampled]
    table = pa.table({"timestamp_ns": np.sort(times), "finger": values})
    pq.write_table(table, folder / "signals" / "gripper.parquet")


def gripper(episode: RawlogEpisode, seed: int) -> np.ndarray:
    """Return the gripper as held at each row, float32 of shape (N,)."""
    row = np.arange(len(episode.timestamp_ns))
    return (row - row % ROWS_PER_GRIPPER + seed / 16).astype(np.float32)


def land(place: Workplace, dataset: str, upload: str, content: Content) -> Manifest:
    """Land a content as an upload; one of the same id is replaced, and its marker comes last."""
    landing = Path(place.landing_root)
    (landing / "_uploads" / f"{upload}.json").unlink(missing_ok=True)
    shutil.rmtree(landing / dataset / upload, ignore_errors=True)
    return place.landing.put(written(content).folder, dataset, upload)
