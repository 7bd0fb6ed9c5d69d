"""Writes a LeRobot v3.0 dataset: parquet tables, metadata, and mp4 files shared by episodes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from robot_data_platform_tests.samples.generate import lerobot_stats
from robot_data_platform_tests.samples.generate.lerobot_stats import FeatureStats

Float32s = npt.NDArray[np.float32]
DATA_PATH = "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet"
VIDEO_PATH = "videos/{video_key}/chunk-{chunk_index:03d}/file-{file_index:03d}.mp4"
EPISODES_PATH = "meta/episodes/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet"
COUNTERS = ("frame_index", "episode_index", "index", "task_index")


@dataclass(frozen=True, slots=True, kw_only=True)
class VideoPlace:
    """Where the pictures of one camera and episode lie."""

    file_index: int
    from_timestamp: float
    to_timestamp: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """One episode's rows and the places of its pictures."""

    task: str
    state: Float32s
    action: Float32s
    videos: Mapping[str, VideoPlace]
    """By video key."""
    picture_stats: Mapping[str, FeatureStats]
    """By video key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """What all episodes share."""

    robot_type: str
    fps: int
    joint_names: tuple[str, ...]
    video_keys: tuple[str, ...]
    width_px: int
    height_px: int
    crf: int

    def features(self) -> dict[str, dict[str, object]]:
        """Return ``info.json``'s features, in the order of the recorder."""
        vector: dict[str, object] = {
            "dtype": "float32",
            "shape": [len(self.joint_names)],
            "names": [*self.joint_names],
        }
        video: dict[str, object] = {
            "dtype": "video",
            "shape": [self.height_px, self.width_px, 3],
            "names": ["height", "width", "channels"],
            "info": self._video_info(),
        }
        counters = {name: _scalar("int64") for name in COUNTERS}
        return {
            "action": vector,
            "observation.state": vector,
            **dict.fromkeys(self.video_keys, video),
            "timestamp": _scalar("float32"),
            **counters,
        }

    def _video_info(self) -> dict[str, object]:
        return {
            "video.height": self.height_px,
            "video.width": self.width_px,
            "video.codec": "av1",
            "video.pix_fmt": "yuv420p",
            "video.fps": self.fps,
            "video.channels": 3,
            "has_audio": False,
            "video.g": 2,
            "video.crf": self.crf,
            "video.preset": 10,
            "video.fast_decode": 0,
            "video.video_backend": "pyav",
            "video.extra_options": {},
            "is_depth_map": False,
        }


def write_dataset(root: Path, layout: Layout, episodes: Sequence[Episode]) -> None:
    """Write everything but the mp4 files."""
    tasks = list(dict.fromkeys(episode.task for episode in episodes))
    tables = _frame_tables(layout, episodes, tasks)
    _write_frames(root, layout, tables)
    _write_tasks(root, tasks)
    stats = [
        _episode_stats(layout, table, episode)
        for table, episode in zip(tables, episodes, strict=True)
    ]
    _write_episodes(root, layout, episodes, stats)
    _write_json(root / "meta/stats.json", lerobot_stats.merged(stats))
    _write_json(root / "meta/info.json", _info(layout, episodes, tasks))


def _frame_tables(layout: Layout, episodes: Sequence[Episode], tasks: list[str]) -> list[pa.Table]:
    tables, start = [], 0
    for number, episode in enumerate(episodes):
        tables.append(_frame_table(layout, episode, number, start, tasks.index(episode.task)))
        start += len(episode.state)
    return tables


def _frame_table(layout: Layout, episode: Episode, number: int, start: int, task: int) -> pa.Table:
    frame = np.arange(len(episode.state))
    return pa.table(
        {
            "action": _vectors(episode.action),
            "observation.state": _vectors(episode.state),
            "timestamp": pa.array((frame / layout.fps).astype(np.float32)),
            "frame_index": pa.array(frame),
            "episode_index": pa.array(np.full_like(frame, number)),
            "index": pa.array(frame + start),
            "task_index": pa.array(np.full_like(frame, task)),
        }
    )


def _vectors(values: Float32s) -> pa.Array:
    element = pa.field("element", pa.float32())
    flat = pa.array(values.reshape(-1))
    return pa.FixedSizeListArray.from_arrays(flat, type=pa.list_(element, values.shape[1]))


def _write_frames(root: Path, layout: Layout, tables: Sequence[pa.Table]) -> None:
    """Write all rows into one file, a row group an episode."""
    metadata = {"huggingface": json.dumps({"info": {"features": _huggingface_features(layout)}})}
    schema = tables[0].schema.with_metadata(metadata)
    path = _made(root / DATA_PATH.format(chunk_index=0, file_index=0))
    with pq.ParquetWriter(path, schema) as writer:
        for table in tables:
            writer.write_table(table.replace_schema_metadata(metadata))


def _huggingface_features(layout: Layout) -> dict[str, object]:
    vector = {
        "feature": {"dtype": "float32", "_type": "Value"},
        "length": len(layout.joint_names),
        "_type": "List",
    }
    counters = {name: {"dtype": "int64", "_type": "Value"} for name in COUNTERS}
    timestamp = {"dtype": "float32", "_type": "Value"}
    return {"action": vector, "observation.state": vector, "timestamp": timestamp, **counters}


def _write_tasks(root: Path, tasks: Sequence[str]) -> None:
    index = pd.Index(tasks, name="task")
    frame = pd.DataFrame({"task_index": np.arange(len(tasks))}, index=index)
    frame.to_parquet(_made(root / "meta/tasks.parquet"))


def _episode_stats(layout: Layout, table: pa.Table, episode: Episode) -> dict[str, FeatureStats]:
    """Return the statistics of every feature, in feature order."""
    columns = {
        "action": episode.action,
        "observation.state": episode.state,
        "timestamp": table["timestamp"].to_numpy()[:, None],
        **{name: table[name].to_numpy()[:, None] for name in COUNTERS},
    }
    return {
        key: episode.picture_stats[key]
        if key in layout.video_keys
        else lerobot_stats.of_rows(columns[key])
        for key in layout.features()
    }


def _write_episodes(
    root: Path,
    layout: Layout,
    episodes: Sequence[Episode],
    stats: Sequence[Mapping[str, FeatureStats]],
) -> None:
    rows, start = [], 0
    for number, (episode, features) in enumerate(zip(episodes, stats, strict=True)):
        length = len(episode.state)
        row: dict[str, object] = {
            "episode_index": number,
            "tasks": [episode.task],
            "length": length,
            "data/chunk_index": 0,
            "data/file_index": 0,
            "dataset_from_index": start,
            "dataset_to_index": start + length,
        }
        for key in layout.video_keys:
            row |= _place_columns(key, episode.videos[key])
        for key, values in features.items():
            row |= {f"stats/{key}/{name}": value for name, value in values.items()}
        rows.append(row | {"meta/episodes/chunk_index": 0, "meta/episodes/file_index": 0})
        start += length
    path = _made(root / EPISODES_PATH.format(chunk_index=0, file_index=0))
    # A row group an episode would only repeat the column headers.
    pq.write_table(pa.Table.from_pylist(rows), path)


def _place_columns(key: str, place: VideoPlace) -> dict[str, object]:
    return {
        f"videos/{key}/chunk_index": 0,
        f"videos/{key}/file_index": place.file_index,
        f"videos/{key}/from_timestamp": place.from_timestamp,
        f"videos/{key}/to_timestamp": place.to_timestamp,
    }


def _info(layout: Layout, episodes: Sequence[Episode], tasks: Sequence[str]) -> dict[str, object]:
    return {
        "codebase_version": "v3.0",
        "fps": layout.fps,
        "features": layout.features(),
        "total_episodes": len(episodes),
        "total_frames": sum(len(episode.state) for episode in episodes),
        "total_tasks": len(tasks),
        "chunks_size": 1000,
        "data_files_size_in_mb": 100,
        "video_files_size_in_mb": 200,
        "data_path": DATA_PATH,
        "video_path": VIDEO_PATH,
        "robot_type": layout.robot_type,
        "splits": {"train": f"0:{len(episodes)}"},
    }


def _scalar(dtype: str) -> dict[str, object]:
    return {"dtype": dtype, "shape": [1], "names": None}


def _write_json(path: Path, content: Mapping[str, object]) -> None:
    _made(path).write_text(json.dumps(content, indent=4), encoding="utf-8")


def _made(path: Path) -> Path:
    """Return the path, with the folders above it made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return path
