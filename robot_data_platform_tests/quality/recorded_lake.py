"""A small real lake: scenes cut into GOPs by the real encoder and aligned as ingestion does."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from robot_data_platform.core.gop import Gop, StreamFormat
from robot_data_platform.core.identity import gop_key, ref_id
from robot_data_platform.core.recording import (
    ACTION,
    STATE,
    CameraStream,
    EpisodeRef,
    Recording,
    Signal,
)
from robot_data_platform.core.rows import StreamIndex, episode_fields, episode_rows
from robot_data_platform.core.schema import frames_base_fields, table_schema
from robot_data_platform.storage.commit import append_rows
from robot_data_platform.storage.lake import Lake
from robot_data_platform.storage.snapshot import Snapshot, open_snapshot
from robot_data_platform.storage.table import BLOB_COLUMN, blob_array
from robot_data_platform.video.cut import cut_stream
from robot_data_platform.video.settings import GopSettings
from robot_data_platform_tests.quality.scenes import CONTROL_HZ, Scene

DATASET = "robot"
Damage = Callable[[str, Gop], bytes]
"""From camera and GOP to the bytes that are stored in place of the hashed ones."""


def _undamaged(camera: str, gop: Gop) -> bytes:
    return gop.data


@dataclass(frozen=True, slots=True, kw_only=True)
class Take:
    """One episode to store."""

    scenes: Mapping[str, Scene]
    """By camera; the state is that of the first."""
    state: npt.NDArray[np.float32] | None = None
    """(N, D) in place of the scene's."""
    damage: Damage = _undamaged
    is_hashed_late: bool = False
    """Whether the damaged bytes are the hashed ones."""
    settings: GopSettings = field(default_factory=GopSettings)


def store(root: Path, takes: Sequence[Take]) -> Snapshot:
    """Write episodes 0, 1, ... of a dataset and return it pinned."""
    lake = Lake(root)
    gops = lake.ensure_gops(DATASET)
    published = lake.ensure(DATASET, "episodes")
    for episode_index, take in enumerate(takes):
        recording = _recording(take)
        cuts = {s.name: _cut(s, take) for s in recording.cameras}
        for number, (camera, (gop_list, fmt)) in enumerate(cuts.items()):
            payloads = [take.damage(camera, gop) for gop in gop_list]
            hashed = payloads if take.is_hashed_late else [gop.data for gop in gop_list]
            rows = _gop_rows(recording, episode_index, number, gop_list, fmt)
            for row, data in zip(rows, hashed, strict=True):
                row["sha256"] = hashlib.sha256(data).hexdigest()
            plain = [f for f in gops.schema if f.name != BLOB_COLUMN]
            table = pa.Table.from_pylist(rows, schema=pa.schema(plain))
            table = table.append_column(gops.schema.field(BLOB_COLUMN), blob_array(payloads))
            append_rows(gops.uri, table.select(gops.schema.names), properties={})
        rows_table = _frames(lake, recording, episode_index, cuts)
        row = _episode_row(recording, episode_index, rows_table, cuts)
        published_rows = pa.Table.from_pylist([row], schema=published.schema)
        append_rows(published.uri, published_rows, properties={})
    return open_snapshot(lake, DATASET)


Cut = tuple[list[Gop], StreamFormat]


def _cut(stream: CameraStream, take: Take) -> Cut:
    cut = cut_stream(stream, take.settings)
    return list(cut.gops()), cut.format


def _recording(take: Take) -> Recording:
    scene = next(iter(take.scenes.values()))
    state = scene.state() if take.state is None else take.state
    signals = [
        Signal(name=name, timestamp_ns=scene.row_ns(), values=values, unit="rad")
        for name, values in ((STATE, state), (ACTION, scene.state()))
    ]
    return Recording(
        ref=EpisodeRef(source_key="take"),
        signals=tuple(signals),
        cameras=tuple(s.stream(name) for name, s in take.scenes.items()),
        task="reach",
        robot=None,
    )


def _gop_rows(
    recording: Recording, episode_index: int, number: int, gops: list[Gop], fmt: StreamFormat
) -> list[dict[str, object]]:
    stream = recording.cameras[number]
    key = ref_id(episode_index, number)
    packets = ("size_bytes", "display_index", "is_reference", "is_key")
    return [
        {
            "gop_key": gop_key(key, gop.gop_index),
            "ref_id": key,
            "gop_index": gop.gop_index,
            "episode_index": episode_index,
            "camera": stream.name,
            "first_frame": gop.first_frame,
            "num_frames": gop.num_frames,
            "pts_ns": stream.timestamp_ns[gop.first_frame : gop.first_frame + gop.num_frames],
            **{f"packet_{name}": getattr(gop.packets, name) for name in packets},
            **{name: getattr(fmt, name) for name in StreamFormat.__slots__},
        }
        for gop in gops
    ]


def _frames(
    lake: Lake, recording: Recording, episode_index: int, cuts: Mapping[str, Cut]
) -> pa.Table:
    columns = [*frames_base_fields(), *episode_fields(recording, list(cuts))]
    frames = lake.ensure_frames(DATASET, table_schema(columns))
    streams = {
        stream.name: StreamIndex(
            ref_id=ref_id(episode_index, number),
            first_frame=np.array([gop.first_frame for gop in cuts[stream.name][0]]),
            pts_ns=stream.timestamp_ns,
        )
        for number, stream in enumerate(recording.cameras)
    }
    rows = episode_rows(recording, episode_index, streams, frames.schema)
    append_rows(frames.uri, rows, properties={})
    return rows


def _episode_row(
    recording: Recording, episode_index: int, rows: pa.Table, cuts: Mapping[str, Cut]
) -> dict[str, object]:
    cameras = [
        {"name": s.name, "num_frames": s.pictures.num_frames, "num_gops": len(cuts[s.name][0])}
        for s in recording.cameras
    ]
    return {
        "episode_id": f"ep_{episode_index}",
        "episode_index": episode_index,
        "source_key": recording.ref.source_key,
        "upload": "upload-1",
        "ingestion_id": "in_1",
        "task": recording.task,
        "num_rows": rows.num_rows,
        "start_ns": rows["timestamp_ns"][0].as_py(),
        "end_ns": rows["timestamp_ns"][-1].as_py(),
        "control_hz": float(CONTROL_HZ),
        "cameras": cameras,
        "content_digest": "c",
        "status": "ok",
        "run_id": "r",
        "code_version": "0",
    }
