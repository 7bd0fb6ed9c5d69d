"""A faultless episode as arrays, to break in one place and judge."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from robot_data_platform.core.finding import Finding
from robot_data_platform.core.gop import PacketIndex, StreamFormat
from robot_data_platform.core.schema import (
    CAMERA_PREFIX,
    camera_fields,
    frames_base_fields,
    table_schema,
    vector_field,
)
from robot_data_platform.quality.judgement import judge
from robot_data_platform.quality.lag import Lag
from robot_data_platform.quality.look import THUMBNAIL_PX, StreamLook
from robot_data_platform.quality.measurements import EpisodeMeasurements
from robot_data_platform.quality.picture_meter import StreamPictures
from robot_data_platform.quality.row_measurements import RowMeasurements
from robot_data_platform.quality.rules.integrity import GopCheck
from robot_data_platform.quality.stored_episode import (
    LIMITS_KEY,
    StoredEpisode,
    StoredGop,
    StoredStream,
)
from robot_data_platform.quality.stream_measurements import StreamMeasurements
from robot_data_platform.quality.thresholds import THRESHOLDS, Thresholds

NUM_ROWS = 400
CONTROL_HZ = 100
NUM_FRAMES = 120
FPS = 30
GOP_SIZE = 8
WINDOW = 15
JOINTS = ("waist", "shoulder", "elbow", "gripper")

FORMAT = StreamFormat(
    codec="h264",
    profile="anchored",
    width_px=64,
    height_px=48,
    coded_width_px=64,
    coded_height_px=48,
    pix_fmt="yuv420p",
    color_range=1,
    color_space=2,
    color_primaries=2,
    color_trc=2,
)
NO_PACKETS = PacketIndex(
    size_bytes=np.zeros(0, np.int32),
    display_index=np.zeros(0, np.int32),
    is_reference=np.zeros(0, np.bool_),
    is_key=np.zeros(0, np.bool_),
)


@dataclass(slots=True)
class CameraArrays:
    """One camera of the episode."""

    name: str
    ref_id: int
    pts_ns: npt.NDArray[np.int64]
    references: npt.NDArray[np.int64]
    """(N, 3) stream, GOP and frame in GOP of every row; -1 = null."""
    gops: list[GopCheck]
    percentiles: npt.NDArray[np.float32]
    change: npt.NDArray[np.float32]
    window_change: npt.NDArray[np.float32]
    nominal_fps: float = FPS
    measured_share: npt.NDArray[np.float32] | None = None
    """(F,) of depth maps; None = pictures."""
    sharpness: float = 0.1
    lag: Lag = field(default_factory=lambda: Lag(lag_ms=20.0, confidence=0.99))


@dataclass(slots=True)
class EpisodeArrays:
    """The episode; every field may be overwritten before it is judged."""

    frame_index: npt.NDArray[np.int64]
    timestamp_ns: npt.NDArray[np.int64]
    signals: dict[str, npt.NDArray[np.float32]]
    """(N, D) by name."""
    absent: dict[str, Sequence[int]]
    """Rows without a value, by signal."""
    cameras: dict[str, CameraArrays]
    declared_num_rows: int = NUM_ROWS
    nominal_hz: float = CONTROL_HZ
    limits: list[list[float | None]] | None = None
    units: dict[str, str] = field(default_factory=dict)
    units_of_state: list[str] | None = None
    """Unit of each dimension of the state, where they differ."""
    task: str | None = "Fold the towel in half"
    instruction: str | None = "fold the blue towel"
    command: Lag = field(default_factory=lambda: Lag(lag_ms=80.0, confidence=0.99))

    def drop_camera(self, name: str) -> None:
        """Leave a camera's columns, with nulls, and nothing else of it."""
        self.cameras[name].references[:] = -1
        self.cameras[name].gops.clear()


def faultless_episode(pause_s: tuple[float, float] = (0, 0)) -> EpisodeArrays:
    """Return an episode in which all joints move but for a pause, seen by two cameras."""
    time_s = np.arange(NUM_ROWS) / CONTROL_HZ
    start_s, end_s = pause_s
    time_s = np.where(time_s < start_s, time_s, np.maximum(start_s, time_s - (end_s - start_s)))
    joints = [np.sin(2 * np.pi * hz * time_s + hz) for hz in (0.3, 0.5, 0.7, 0.4)]
    state = np.stack(joints, axis=1).astype(np.float32)
    timestamp_ns = np.arange(NUM_ROWS, dtype=np.int64) * (1_000_000_000 // CONTROL_HZ)
    return EpisodeArrays(
        frame_index=np.arange(NUM_ROWS, dtype=np.int64),
        timestamp_ns=timestamp_ns,
        signals={"observation_state": state, "action": state + 0.01, "observation_effort": -state},
        absent={},
        cameras={
            name: camera_arrays(name, ref_id, timestamp_ns) for ref_id, name in enumerate("ab")
        },
    )


def camera_arrays(
    name: str,
    ref_id: int,
    row_ns: npt.NDArray[np.int64],
    first_frame: int = 0,
    num_frames: int = NUM_FRAMES,
) -> CameraArrays:
    """Return a camera that misses some frames at its ends; rows keep the nearest of the others."""
    frame = np.arange(first_frame, first_frame + num_frames)
    pts_ns = frame * 1_000_000_000 // FPS
    nearest = np.abs(row_ns[:, None] - pts_ns[None, :]).argmin(axis=1)
    columns = [np.full(len(row_ns), ref_id), nearest // GOP_SIZE, nearest % GOP_SIZE]
    changes = np.full(num_frames, 20, np.float32), np.full(num_frames, 60, np.float32)
    return CameraArrays(
        name=name,
        ref_id=ref_id,
        pts_ns=pts_ns,
        references=np.stack(columns, axis=1).astype(np.int64),
        gops=[_gop(name, start, num_frames) for start in range(0, num_frames, GOP_SIZE)],
        percentiles=np.tile(np.array([60, 110, 190], np.float32), (num_frames, 1)),
        change=changes[0],
        window_change=changes[1],
    )


def _gop(camera: str, start: int, num_frames: int) -> GopCheck:
    held = min(GOP_SIZE, num_frames - start)
    return GopCheck(
        camera=camera,
        gop_index=start // GOP_SIZE,
        first_frame=start,
        num_frames=held,
        sha256="aa",
        sha256_found="aa",
        num_frames_decoded=held,
    )


def findings_of(episode: EpisodeArrays, limits: Thresholds = THRESHOLDS) -> list[Finding]:
    """Return what the rules find in the episode."""
    seen = [camera for camera in episode.cameras.values() if camera.gops]
    stored = StoredEpisode(
        episode_index=0,
        declared={
            "num_rows": episode.declared_num_rows,
            "control_hz": CONTROL_HZ,
            "cameras": [
                {"name": c.name, "num_frames": len(c.pts_ns), "num_gops": len(c.gops)} for c in seen
            ],
            "task": episode.task,
        },
        rows=_rows(episode),
        streams=tuple(_stream(camera) for camera in seen),
    )
    return judge(stored, measurements_of(episode), limits)


def measurements_of(episode: EpisodeArrays) -> EpisodeMeasurements:
    """Return what is measured of the episode."""
    seen = [camera for camera in episode.cameras.values() if camera.gops]
    return EpisodeMeasurements(
        rows=_row_measurements(episode),
        streams=tuple(_measured(camera) for camera in seen),
        lags=tuple(camera.lag for camera in seen),
    )


def _row_measurements(episode: EpisodeArrays) -> RowMeasurements:
    return RowMeasurements(
        digest="00",
        sketch=np.zeros(0, np.int64),
        num_distinct=0,
        num_moving=0,
        command=episode.command,
    )


def _stream(camera: CameraArrays) -> StoredStream:
    ends = np.cumsum([gop.num_frames for gop in camera.gops])
    times = np.split(camera.pts_ns, ends[:-1])
    gops = [
        StoredGop(
            row_id=place,
            gop_index=place,
            first_frame=gop.first_frame,
            num_frames=gop.num_frames,
            pts_ns=pts_ns,
            packets=NO_PACKETS,
            sha256=gop.sha256,
        )
        for place, (gop, pts_ns) in enumerate(zip(camera.gops, times, strict=True))
    ]
    return StoredStream(camera=camera.name, ref_id=camera.ref_id, format=FORMAT, gops=tuple(gops))


def _measured(camera: CameraArrays) -> StreamMeasurements:
    pictures = StreamPictures(
        camera=camera.name,
        pts_ns=camera.pts_ns,
        black=16,
        white=235,
        window_frames=WINDOW,
        percentiles=camera.percentiles,
        change=camera.change,
        window_change=camera.window_change,
        motion=camera.change,
        measured_share=(
            np.full(len(camera.pts_ns), np.nan, np.float32)
            if camera.measured_share is None
            else camera.measured_share
        ),
        is_depth=camera.measured_share is not None,
    )
    look = StreamLook(
        thumbnail=np.full((*THUMBNAIL_PX, 3), 110, np.uint8),
        sharpness=camera.sharpness,
        num_sampled=15,
    )
    return StreamMeasurements(gops=tuple(camera.gops), pictures=pictures, look=look)


def _rows(episode: EpisodeArrays) -> pa.Table:
    num_rows = len(episode.timestamp_ns)
    columns: dict[str, object] = {
        "episode_index": np.zeros(num_rows, np.int64),
        "frame_index": episode.frame_index.astype(np.int32),
        "timestamp_ns": episode.timestamp_ns,
        "language_instruction": [episode.instruction] * num_rows,
    }
    for name, values in episode.signals.items():
        missing = set(episode.absent.get(name, ()))
        columns[name] = [None if row in missing else v for row, v in enumerate(values)]
    for camera in episode.cameras.values():
        columns |= _reference_columns(camera)
    schema = _schema(episode)
    arrays = [pa.array(columns.get(f.name, [None] * num_rows), f.type) for f in schema]
    return pa.Table.from_arrays(arrays, schema=schema)


def _reference_columns(camera: CameraArrays) -> dict[str, object]:
    names = ("ref_id", "gop_index", "frame_index_in_gop")
    return {
        f"{CAMERA_PREFIX}{camera.name}_{name}": pa.array(values, mask=values < 0)
        for name, values in zip(names, camera.references.T, strict=True)
    }


def _schema(episode: EpisodeArrays) -> pa.Schema:
    signals = [
        vector_field(name, values.shape[1], JOINTS, episode.units.get(name))
        for name, values in episode.signals.items()
    ]
    if episode.units_of_state is not None:
        units = {**signals[0].metadata, b"rdp.units": json.dumps(episode.units_of_state)}
        signals[0] = signals[0].with_metadata(units)
    if episode.limits is not None:
        limits = {**signals[0].metadata, LIMITS_KEY: json.dumps(episode.limits)}
        signals[0] = signals[0].with_metadata(limits)
    cameras = [f for name in episode.cameras for f in camera_fields(name)]
    rates = {camera.name: camera.nominal_fps for camera in episode.cameras.values()}
    metadata = {
        "rdp.control_hz": json.dumps(episode.nominal_hz),
        "rdp.camera_fps": json.dumps(rates),
    }
    return table_schema([*frames_base_fields(), *signals, *cameras], metadata)
