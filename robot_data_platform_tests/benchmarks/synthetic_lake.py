"""Lakes of any number of rows whose pictures cost almost nothing: one coded GOP, used again.

Written straight through storage, a table in one fragment, as maintenance leaves it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from robot_data_platform.core.gop import Gop, StreamFormat
from robot_data_platform.core.identity import CAMERA_BITS, GOP_INDEX_BITS, episode_id
from robot_data_platform.core.recording import CameraStream, Picture, PictureSequence
from robot_data_platform.core.schema import (
    CAMERA_PREFIX,
    camera_fields,
    frames_base_fields,
    table_schema,
    vector_field,
)
from robot_data_platform.core.time_base import NS_PER_S
from robot_data_platform.storage.commit import append_rows, commit_fragments, write_rows
from robot_data_platform.storage.lake import Lake
from robot_data_platform.storage.table import BLOB_COLUMN, LakeTable, blob_array
from robot_data_platform.video.cut import cut_stream
from robot_data_platform.video.settings import GopSettings
from robot_data_platform_tests.benchmarks.scale import CAMERAS, FPS, STATE_WIDTH

DATASET = "synthetic"
GOP_SIZE = 16
EPISODES_PER_BATCH = 50
"""Episodes whose rows are in memory at a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """How large a synthetic lake is."""

    num_episodes: int
    rows_per_episode: int
    width_px: int
    height_px: int

    @property
    def gops_per_stream(self) -> int:
        """GOPs of one camera of one episode; the last one may be referred to in part only."""
        return -(-self.rows_per_episode // GOP_SIZE)


def build(root: Path, shape: Shape) -> None:
    """Write ``gops``, ``frames`` and ``episodes`` of a lake of identical episodes."""
    lake = Lake(root)
    gop, form = _coded_gop(shape)
    gops = lake.ensure_gops(DATASET)
    _append(gops, shape, lambda first, count: _gop_rows(first, count, shape, gop, form, gops))
    frames = lake.ensure_frames(DATASET, _frames_schema())
    _append(frames, shape, lambda first, count: _frame_rows(first, count, shape, frames))
    episodes = lake.ensure(DATASET, "episodes")
    rows = [_episode_row(number, shape) for number in range(shape.num_episodes)]
    append_rows(episodes.uri, pa.Table.from_pylist(rows, episodes.schema), properties={})


def _append(table: LakeTable, shape: Shape, rows: Callable[[int, int], pa.Table]) -> None:
    def batches() -> Iterator[pa.RecordBatch]:
        for first in range(0, shape.num_episodes, EPISODES_PER_BATCH):
            count = min(EPISODES_PER_BATCH, shape.num_episodes - first)
            yield from rows(first, count).to_batches()

    fragments = write_rows(table.uri, table.schema, batches())
    commit_fragments(table.uri, fragments, properties={})


def _coded_gop(shape: Shape) -> tuple[Gop, StreamFormat]:
    def read() -> Iterator[Picture]:
        for number in range(GOP_SIZE):
            picture = np.full((shape.height_px, shape.width_px, 3), 90, np.uint8)
            picture[8:24, number : number + 16] = 200
            yield picture

    stream = CameraStream(
        name="any",
        timestamp_ns=np.arange(GOP_SIZE),
        pictures=PictureSequence(num_frames=GOP_SIZE, read=read),
    )
    cut = cut_stream(stream, GopSettings(profile="anchored", gop_size=GOP_SIZE))
    (gop,) = cut.gops()
    return gop, cut.format


def _gop_rows(
    first: int, count: int, shape: Shape, gop: Gop, form: StreamFormat, table: LakeTable
) -> pa.Table:
    per_stream, num_cameras = shape.gops_per_stream, len(CAMERAS)
    number = np.arange(count * num_cameras * per_stream)
    gop_index = number % per_stream
    stream = number // per_stream
    episode = first + stream // num_cameras
    ref_id = episode << CAMERA_BITS | stream % num_cameras
    row = {
        "num_frames": GOP_SIZE,
        **{
            f"packet_{name}": getattr(gop.packets, name).tolist()
            for name in ("size_bytes", "display_index", "is_reference", "is_key")
        },
        **{name: getattr(form, name) for name in StreamFormat.__slots__},
        "sha256": hashlib.sha256(gop.data).hexdigest(),
        "pts_ns": list(range(GOP_SIZE)),
    }
    columns = {
        "gop_key": ref_id << GOP_INDEX_BITS | gop_index,
        "ref_id": ref_id,
        "gop_index": gop_index.astype(np.int32),
        "episode_index": episode,
        "camera": np.array(CAMERAS)[stream % num_cameras],
        "first_frame": gop_index * GOP_SIZE,
        BLOB_COLUMN: blob_array([gop.data] * len(number)),
    }
    return _table(table.schema, columns, row, len(number))


def _frames_schema() -> pa.Schema:
    return table_schema(
        [
            *frames_base_fields(),
            vector_field("observation_state", STATE_WIDTH),
            vector_field("action", STATE_WIDTH),
            *(field for camera in CAMERAS for field in camera_fields(camera)),
        ]
    )


def _frame_rows(first: int, count: int, shape: Shape, table: LakeTable) -> pa.Table:
    step = np.tile(np.arange(shape.rows_per_episode), count)
    episode = first + np.repeat(np.arange(count), shape.rows_per_episode)
    vectors = np.random.default_rng(first).random((len(step), STATE_WIDTH), np.float32)
    vector = pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), STATE_WIDTH)
    columns: dict[str, object] = {
        "episode_index": episode,
        "frame_index": step.astype(np.int32),
        "timestamp_ns": step * (NS_PER_S // FPS),
        "observation_state": vector,
        "action": vector,
    }
    for number, camera in enumerate(CAMERAS):
        prefix = CAMERA_PREFIX + camera
        columns |= {
            f"{prefix}_ref_id": episode << CAMERA_BITS | number,
            f"{prefix}_gop_index": (step // GOP_SIZE).astype(np.int32),
            f"{prefix}_frame_index_in_gop": (step % GOP_SIZE).astype(np.int32),
            f"{prefix}_offset_ns": np.zeros(len(step), np.int64),
        }
    return _table(table.schema, columns, {"task": "benchmark"}, len(step))


def _table(
    schema: pa.Schema, columns: dict[str, object], row: dict[str, object], num_rows: int
) -> pa.Table:
    """Return a table of columns, of values that are the same in every row, and of nulls."""
    return pa.Table.from_arrays(
        [
            columns[field.name]
            if isinstance(columns.get(field.name), pa.Array)
            else pa.array(columns[field.name], field.type)
            if field.name in columns
            else pa.repeat(pa.scalar(row.get(field.name), field.type), num_rows)
            for field in schema
        ],
        schema=schema,
    )


def _episode_row(number: int, shape: Shape) -> dict[str, object]:
    name = f"episode_{number}"
    size = {"width_px": shape.width_px, "height_px": shape.height_px}
    return {
        "episode_id": episode_id(DATASET, "upload", name),
        "episode_index": number,
        "source_key": name,
        "upload": "upload",
        "ingestion_id": "in_synthetic",
        "task": "benchmark",
        "num_rows": shape.rows_per_episode,
        "start_ns": 0,
        "end_ns": (shape.rows_per_episode - 1) * (NS_PER_S // FPS),
        "control_hz": float(FPS),
        "cameras": [{"name": camera, **size} for camera in CAMERAS],
        "content_digest": name,
        "status": "ok",
        "run_id": "bench",
        "code_version": "0",
    }
