"""Small rawlog episodes: every value and picture names its own row."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from robot_data_platform.core.recording import DepthPicture
from robot_data_platform_tests.formats.coded_video import write_video
from robot_data_platform_tests.formats.hdf5_files import jpeg
from robot_data_platform_tests.formats.png import depth_png

START_NS = 1_772_010_251_663_250_683
"""A time after 1970 that neither float holds."""
STEP_NS = 10_000_000
ROWS = 30
FRAMES = 9


def times(num: int = ROWS, step_ns: int = STEP_NS) -> npt.NDArray[np.int64]:
    """(num,) int64 ns."""
    return START_NS + np.arange(num, dtype=np.int64) * step_ns


def folder_of(root: Path, name: str = "ep_0") -> Path:
    """Return an episode's folder."""
    return root / "episodes" / name


def write_episode(root: Path, name: str = "ep_0", index: int = 0) -> Path:
    """Write an episode of two signals and a camera; return the source's root."""
    folder = folder_of(root, name)
    facts = {"task": "fold the towel", "robot": "aloha", "episode_index": index}
    write_json(folder / "episode.json", facts)
    for number, signal in enumerate(("observation_state", "action")):
        write_signal(folder, signal, times(), number)
    write_camera(folder, "env", times(FRAMES, 33_333_333).tolist())
    return root


def write_signal(folder: Path, name: str, clock: object, number: float = 0.0) -> None:
    """Write a signal of two dimensions whose values are its row numbers plus ``number``."""
    rows = len(clock) if isinstance(clock, Sequence | np.ndarray | pa.Array) else 0
    values = np.arange(rows, dtype=np.float32) + np.float32(number)
    path = folder / "signals" / f"{name}.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table({"timestamp_ns": clock, "left": values, "right": -values}), path)


def write_camera(folder: Path, name: str, clock: Sequence[int]) -> None:
    """Write a video of coded pictures and their times."""
    write_video(folder / "cameras" / f"{name}.mp4", range(len(clock)))
    write_json(
        folder / "cameras" / f"{name}.timestamps.json",
        {"clock": "host_monotonic_epoch", "timestamp_ns": list(clock)},
    )


def write_pictures(folder: Path, code_by_time: Mapping[int, int]) -> None:
    """Write coded pictures that are named by their times."""
    folder.mkdir(parents=True, exist_ok=True)
    for time, code in code_by_time.items():
        (folder / f"{time}.jpg").write_bytes(jpeg(code))


def write_json(path: Path, content: object) -> None:
    """Write a JSON file and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content))


def write_depth(folder: Path, depth_by_time: Mapping[int, DepthPicture]) -> None:
    """Write 16-bit PNGs of depth maps that are named by their times."""
    folder.mkdir(parents=True, exist_ok=True)
    for time, depth in depth_by_time.items():
        (folder / f"{time}.png").write_bytes(depth_png(depth))
