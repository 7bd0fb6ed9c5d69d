"""Small uploads in rawlog layout with a model of what they hold, to compare a lake with.

Every picture carries its own number; no two streams of a shape, nor of two seeds, share one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from robot_data_platform.core.recording import FloatArray, Int64Array, Picture
from robot_data_platform.core.time_base import NS_PER_S
from robot_data_platform.testing.pictures import numbered_picture

Draw = Callable[[int], Picture]
"""Returns the picture of a frame number."""
VideoWriter = Callable[[Path, int, Draw], object]
"""Writes a video file of so many frames; the caller's, since only ``video`` has an encoder."""
Fault = Literal["truncated_video", "time_backwards", "nan_state"]
"""``truncated_video``: the last camera's file is cut off. ``time_backwards``: a sample of the state
is earlier than the one before it. ``nan_state``: one value of the state is NaN."""

START_NS = 1_700_000_000 * NS_PER_S
CAMERA_DELAY_NS = 1_000_000
"""How much later than its row a picture is taken, so that no row is as near to two pictures."""
ROWS_PER_ACTION = 2
NUMBERS_PER_STREAM = 100
STREAMS_PER_EPISODE = 8
EPISODES_PER_SEED = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class RawlogShape:
    """What an upload looks like; equal shapes give equal files, another seed other content."""

    num_episodes: int = 3
    """1 to 8."""
    num_rows: int = 24
    """Rows of the first episode; each further one has two more."""
    control_hz: int = 50
    cameras: tuple[str, ...] = ("env", "wrist")
    """At most 8, in an order that decides their pictures' numbers."""
    rows_per_picture: int = 2
    width_px: int = 64
    height_px: int = 48
    state_width: int = 4
    action_width: int = 3
    seed: int = 0
    """0 to 9."""
    faults: Mapping[int, Fault] = field(default_factory=dict)
    """By position of the episode."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RawlogEpisode:
    """What one episode of an upload holds; arrays of N rows."""

    source_key: str
    task: str
    timestamp_ns: Int64Array
    """(N,) the clock of the state, which is the row clock."""
    state: npt.NDArray[np.float32]
    """(N, D)."""
    action: npt.NDArray[np.float32]
    """(N, A), as held at each row; the file has every second one."""
    picture_number: Mapping[str, Int64Array]
    """(N,) by camera: the number in the picture nearest to the row."""
    fault: Fault | None


def write_rawlog(
    folder: Path, shape: RawlogShape, write_video: VideoWriter
) -> tuple[RawlogEpisode, ...]:
    """Write an upload's files below ``folder`` and return what they hold, in episode order."""
    episodes = tuple(_episode(number, shape) for number in range(shape.num_episodes))
    for episode in episodes:
        _write(folder / "episodes" / episode.source_key, episode, shape, write_video)
    return episodes


def _episode(number: int, shape: RawlogShape) -> RawlogEpisode:
    row = np.arange(shape.num_rows + 2 * number)
    start_ns = START_NS + 60 * NS_PER_S * number
    fault = shape.faults.get(number)
    timestamp_ns = start_ns + row * (NS_PER_S // shape.control_hz)
    if fault == "time_backwards":
        timestamp_ns[3] = timestamp_ns[1]
    state = _waves(row, shape.state_width, phase=shape.seed + number)
    if fault == "nan_state":
        state[5, 0] = np.nan
    held_row = row - row % ROWS_PER_ACTION
    return RawlogEpisode(
        source_key=f"episode_{number:03d}",
        task=f"task {number % 2}",
        timestamp_ns=timestamp_ns,
        state=state,
        action=_waves(held_row, shape.action_width, phase=shape.seed + number + 0.5),
        picture_number={
            camera: _first_number(number, camera, shape) + row // shape.rows_per_picture
            for camera in shape.cameras
        },
        fault=fault,
    )


def _waves(row: Int64Array, width: int, phase: float) -> npt.NDArray[np.float32]:
    return np.sin(row[:, None] / 20 + np.arange(width) + phase).astype(np.float32)


def _first_number(episode: int, camera: str, shape: RawlogShape) -> int:
    stream = shape.cameras.index(camera)
    place = (shape.seed * EPISODES_PER_SEED + episode) * STREAMS_PER_EPISODE + stream
    return place * NUMBERS_PER_STREAM


def _write(
    folder: Path, episode: RawlogEpisode, shape: RawlogShape, write_video: VideoWriter
) -> None:
    _write_json(folder / "episode.json", {"task": episode.task, "robot": "test_arm"})
    _write_signal(folder / "signals" / "state.parquet", episode.timestamp_ns, episode.state)
    sent = slice(None, None, ROWS_PER_ACTION)
    action_path = folder / "signals" / "action.parquet"
    _write_signal(action_path, np.sort(episode.timestamp_ns)[sent], episode.action[sent])
    for camera in shape.cameras:
        _write_camera(folder / "cameras", camera, episode, shape, write_video)
    if episode.fault == "truncated_video":
        video = folder / "cameras" / f"{shape.cameras[-1]}.mp4"
        whole = video.read_bytes()
        video.write_bytes(whole[: len(whole) // 2])


def _write_camera(
    folder: Path,
    camera: str,
    episode: RawlogEpisode,
    shape: RawlogShape,
    write_video: VideoWriter,
) -> None:
    numbers = episode.picture_number[camera][:: shape.rows_per_picture].tolist()
    times = np.sort(episode.timestamp_ns)[:: shape.rows_per_picture] + CAMERA_DELAY_NS
    _write_json(
        folder / f"{camera}.timestamps.json", {"clock": "robot", "timestamp_ns": times.tolist()}
    )
    write_video(
        folder / f"{camera}.mp4",
        len(numbers),
        lambda frame: numbered_picture(numbers[frame], shape.height_px, shape.width_px),
    )


def _write_signal(path: Path, timestamp_ns: Int64Array, values: FloatArray) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    joints = {f"joint_{number}": column for number, column in enumerate(values.T)}
    pq.write_table(pa.table({"timestamp_ns": timestamp_ns, **joints}), path)


def _write_json(path: Path, content: Mapping[str, object]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content))
