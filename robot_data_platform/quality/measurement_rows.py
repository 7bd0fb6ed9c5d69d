"""Measurements as rows of ``measurements``, and read back from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypedDict

import numpy as np
import pyarrow as pa

from robot_data_platform.core.measurement_schema import PER_FRAME, measurements_schema
from robot_data_platform.quality.lag import Lag
from robot_data_platform.quality.look import THUMBNAIL_PX, StreamLook, Thumbnail
from robot_data_platform.quality.measurements import MEASUREMENTS_VERSION, EpisodeMeasurements
from robot_data_platform.quality.picture_meter import PERCENTILES, StreamPictures
from robot_data_platform.quality.row_measurements import RowMeasurements
from robot_data_platform.quality.rules.integrity import GopCheck
from robot_data_platform.quality.stream_measurements import StreamMeasurements

_GOP_FACTS = tuple(name for name in GopCheck.__slots__ if name != "camera")


class MeasurementRow(TypedDict):
    """One row of ``measurements``, as far as Python types go."""

    camera: str | None
    lag_ms: float | None
    lag_confidence: float
    lag_reason: str
    digest: str
    sketch: list[int]
    num_distinct_rows: int
    num_moving: int
    is_depth: bool
    black: float
    white: float
    window_frames: int
    pts_ns: list[int]
    percentiles: list[float]
    change: list[float]
    window_change: list[float]
    motion: list[float]
    measured_share: list[float]
    thumbnail: bytes | None
    sharpness: float
    num_sampled: int
    gops: list[dict[str, object]]


def measurement_rows(
    content_digest: str, episode_index: int, measured: EpisodeMeasurements
) -> pa.Table:
    """Return an episode's measurements as rows: one of its own, and one for each stream."""
    rows = [_episode_row(measured.rows)]
    for stream, lag in zip(measured.streams, measured.lags, strict=True):
        rows.append(_stream_row(stream, lag))
    keys = {
        "content_digest": content_digest,
        "measurements_version": MEASUREMENTS_VERSION,
        "episode_index": episode_index,
    }
    return pa.Table.from_pylist([keys | row for row in rows], schema=measurements_schema())


def _lag_columns(lag: Lag) -> dict[str, object]:
    return {"lag_ms": lag.lag_ms, "lag_confidence": lag.confidence, "lag_reason": lag.reason}


def _episode_row(rows: RowMeasurements) -> dict[str, object]:
    return {
        "camera": None,
        **_lag_columns(rows.command),
        "digest": rows.digest,
        "sketch": rows.sketch,
        "num_distinct_rows": rows.num_distinct,
        "num_moving": rows.num_moving,
    }


def _stream_row(stream: StreamMeasurements, lag: Lag) -> dict[str, object]:
    shown, look = stream.pictures, stream.look
    return {
        "camera": shown.camera,
        **_lag_columns(lag),
        "digest": stream.pictures_digest,
        "is_depth": shown.is_depth,
        "black": shown.black,
        "white": shown.white,
        "window_frames": shown.window_frames,
        "pts_ns": shown.pts_ns,
        **{name: getattr(shown, name).reshape(-1) for name in PER_FRAME},
        "thumbnail": None if look.thumbnail is None else look.thumbnail.tobytes(),
        "sharpness": look.sharpness,
        "num_sampled": look.num_sampled,
        "gops": [{name: getattr(gop, name) for name in _GOP_FACTS} for gop in stream.gops],
    }


def episode_measurements(
    rows: Sequence[MeasurementRow], cameras: Sequence[str]
) -> EpisodeMeasurements | None:
    """Return an episode's measurements from its rows.

    Parameters
    ----------
    rows : sequence of MeasurementRow
        Rows of one content and of `MEASUREMENTS_VERSION`; those of a second ingestion of the same
        content say the same.
    cameras : sequence of str
        Cameras of the episode's streams, in the order wanted.

    Returns
    -------
    EpisodeMeasurements or None
        None where a row is missing.
    """
    by_camera = {row["camera"]: row for row in rows}
    if None not in by_camera or any(camera not in by_camera for camera in cameras):
        return None
    streams = [by_camera[camera] for camera in cameras]
    return EpisodeMeasurements(
        rows=_rows_of(by_camera[None]),
        streams=tuple(_stream_of(row) for row in streams),
        lags=tuple(_lag_of(row) for row in streams),
    )


def _lag_of(row: MeasurementRow) -> Lag:
    confidence = float(row["lag_confidence"])
    return Lag(lag_ms=row["lag_ms"], confidence=confidence, reason=row["lag_reason"])


def _rows_of(row: MeasurementRow) -> RowMeasurements:
    return RowMeasurements(
        digest=row["digest"],
        sketch=np.asarray(row["sketch"], dtype=np.int64),
        num_distinct=row["num_distinct_rows"],
        num_moving=row["num_moving"],
        command=_lag_of(row),
    )


def _stream_of(row: MeasurementRow) -> StreamMeasurements:
    camera = str(row["camera"])
    levels: Mapping[str, object] = {**row}
    each = {name: np.asarray(levels[name], dtype=np.float32) for name in PER_FRAME}
    each["percentiles"] = each["percentiles"].reshape(-1, len(PERCENTILES))
    return StreamMeasurements(
        gops=tuple(GopCheck(camera=camera, **gop) for gop in row["gops"]),  # type: ignore[arg-type]
        pictures=StreamPictures(
            camera=camera,
            pts_ns=np.asarray(row["pts_ns"], dtype=np.int64),
            black=row["black"],
            white=row["white"],
            window_frames=row["window_frames"],
            is_depth=row["is_depth"],
            **each,
        ),
        look=StreamLook(
            thumbnail=thumbnail_of(row["thumbnail"]),
            sharpness=row["sharpness"],
            num_sampled=row["num_sampled"],
        ),
    )


def thumbnail_of(data: bytes | None) -> Thumbnail | None:
    """Return a stored small picture, (12, 16, 3)."""
    if data is None:
        return None
    return np.frombuffer(data, dtype=np.uint8).reshape(*THUMBNAIL_PX, 3)
