"""Reads the sample uploads with h5py, pyarrow, av and Pillow alone: no code of the platform."""

from __future__ import annotations

import io
import json
from functools import cache
from pathlib import Path
from typing import Any

import av
import h5py
import numpy as np
import numpy.typing as npt
import pyarrow.parquet as pq
from PIL import Image

DATA = Path(__file__).parent / "data"
TRUTH: dict[str, Any] = json.loads((DATA / "TRUTH.json").read_text(encoding="utf-8"))["datasets"]
Facts = dict[str, Any]
"""What TRUTH.json says of one episode."""
Floats = npt.NDArray[np.float64]
Int64s = npt.NDArray[np.int64]
Pictures = npt.NDArray[np.uint8]
"""(F, H, W) grey levels."""


def fold_folder(facts: Facts) -> Path:
    return DATA / "aloha_fold" / "episodes" / str(facts["name"])


def fold_signal(facts: Facts, name: str) -> tuple[Int64s, Floats]:
    table = pq.read_table(fold_folder(facts) / "signals" / f"{name}.parquet")
    assert table.column_names == ["timestamp_ns", *TRUTH["aloha_fold"]["joint_names"]]
    values = np.column_stack([column.to_numpy() for column in table.columns[1:]])
    return table["timestamp_ns"].to_numpy(), values.astype(np.float64)


def fold_timestamps(facts: Facts, camera: str) -> Int64s:
    path = fold_folder(facts) / "cameras" / f"{camera}.timestamps.json"
    return np.array(json.loads(path.read_text(encoding="utf-8"))["timestamp_ns"])


@cache
def pick_rows() -> dict[str, Floats]:
    table = pq.read_table(DATA / "so101_pick/data/chunk-000/file-000.parquet")
    vectors = {name: np.stack(table[name].to_pylist()) for name in ("action", "observation.state")}
    counters = ("timestamp", "frame_index", "episode_index", "index", "task_index")
    return vectors | {name: table[name].to_numpy() for name in counters}


@cache
def pick_meta() -> list[dict[str, Any]]:
    path = DATA / "so101_pick/meta/episodes/chunk-000/file-000.parquet"
    rows: list[dict[str, Any]] = pq.read_table(path).to_pylist()
    return rows


def pick_video(key: str, file_index: int) -> Path:
    return DATA / f"so101_pick/videos/{key}/chunk-000/file-{file_index:03d}.mp4"


@cache
def packets(path: Path) -> tuple[tuple[int, bool], ...]:
    """Return frame number, as shown, and key flag of every packet of a 30 fps video, as stored."""
    with av.open(str(path)) as container:
        base = container.streams.video[0].time_base
        assert base is not None
        return tuple(
            (round(packet.pts * base * 30), packet.is_keyframe)
            for packet in container.demux(video=0)
            if packet.pts is not None
        )


def key_frames(path: Path) -> set[int]:
    """Return the frame numbers at which decoding of a 30 fps video can start."""
    return {frame for frame, is_key in packets(path) if is_key}


def state_and_action(dataset: str, facts: Facts) -> tuple[Floats, Floats]:
    if dataset == "aloha_fold":
        state, action = (fold_signal(facts, n)[1] for n in ("observation_state", "action"))
    elif dataset == "so101_pick":
        rows = pick_rows()
        own = rows["episode_index"] == facts["source_episode_index"]
        state, action = np.deg2rad(rows["observation.state"][own]), np.deg2rad(rows["action"][own])
    else:
        with h5py.File(DATA / dataset / f"{facts['name']}.hdf5") as file:
            state, action = file["observations/qpos"][:], file["action"][:]
    return state.astype(np.float64), action.astype(np.float64)


def episode_pictures(dataset: str, facts: Facts, camera: str) -> Pictures:
    if dataset == "aloha_fold":
        return fold_pictures(facts["name"], camera)
    if dataset == "so101_pick":
        stream = facts["cameras"][camera]
        first = stream["first_frame_in_file"]
        whole = pictures(pick_video(camera, stream["file_index"]))
        return whole[first : first + stream["frames"]]
    return insert_pictures(facts["name"], camera)


def fold_pictures(name: str, camera: str) -> Pictures:
    return pictures(DATA / "aloha_fold" / "episodes" / name / "cameras" / f"{camera}.mp4")


@cache
def pictures(path: Path) -> Pictures:
    """Return every frame of a video, half as large in both directions."""
    with av.open(str(path)) as container:
        frames = (frame.to_ndarray(format="gray") for frame in container.decode(video=0))
        return np.stack([frame[::2, ::2] for frame in frames])


@cache
def insert_pictures(name: str, camera: str) -> Pictures:
    with h5py.File(DATA / "aloha_insert" / f"{name}.hdf5") as file:
        rows = file["observations/images"][camera][:]
    files = (Image.open(io.BytesIO(row.tobytes())) for row in rows)
    return np.stack([np.asarray(file.convert("L")) for file in files])


def is_cut_video(facts: Facts, camera: str) -> bool:
    return (
        bool(facts["defect"])
        and facts["defect"]["kind"] == "truncated_video"
        and (facts["defect"]["camera"] == camera)
    )
