"""The rows of one episode, from its signals and the time stamps of its pictures."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from robot_data_platform.core.alignment import Match, hold, label_at, match_nearest, row_clock
from robot_data_platform.core.recording import Int64Array, Recording, Signal
from robot_data_platform.core.schema import CAMERA_PREFIX, camera_fields, vector_field
from robot_data_platform.errors import DataFaultError, ErrorKind

INTERVENTION = "intervention"
"""Source label of steps in which a person took over from the policy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamIndex:
    """Where the pictures of one camera stream of an episode lie."""

    ref_id: int
    first_frame: Int64Array
    """(G,) stream frame number at which each GOP starts, increasing."""
    pts_ns: Int64Array
    """(F,) capture time of every picture of the stream."""
    is_depth: bool = False
    """Whether its pictures are depth maps."""


def signal_fields(signals: Sequence[Signal]) -> list[pa.Field]:
    """Return the columns that these signals become: a vector each, and an age where held."""
    clock = row_clock(signals)
    fields = []
    for signal in signals:
        width = int(signal.values.shape[1])
        fields.append(
            vector_field(
                signal.name,
                width,
                signal.names,
                signal.unit,
                units=signal.units,
                limits=signal.limits,
            )
        )
        if signal is not clock:
            fields.append(pa.field(f"{signal.name}_age_ns", pa.int64()))
    return fields


def episode_fields(
    recording: Recording, cameras: Iterable[str], depth_cameras: Collection[str] = ()
) -> list[pa.Field]:
    """Return every column of ``frames`` that an episode needs beyond the base ones.

    Parameters
    ----------
    recording : Recording
        Signals, and what is stated of cameras.
    cameras : iterable of str
        The cameras to have columns for.
    depth_cameras : collection of str
        Those of them whose pictures are depth maps.
    """
    unit_m = {camera.name: camera.depth_unit_m for camera in recording.cameras}
    fields = signal_fields(recording.signals)
    for camera in cameras:
        is_depth = camera in depth_cameras
        fields += camera_fields(camera, is_depth=is_depth, depth_unit_m=unit_m.get(camera))
    return fields


def episode_rows(
    recording: Recording,
    episode_index: int,
    streams: Mapping[str, StreamIndex],
    schema: pa.Schema,
) -> pa.Table:
    """Return one episode's rows in ``schema``; what the episode lacks is null.

    Parameters
    ----------
    recording : Recording
        Signals, labels and task.
    episode_index : int
        Index of this ingestion of the episode.
    streams : mapping of str to StreamIndex
        By camera name; the pictures that rows may point at.
    schema : pyarrow.Schema
        The ``frames`` table's schema.

    Raises
    ------
    DataFaultError
        ``no-rows``: no signal has a sample. ``shape-mismatch``: a signal's width is not the
        table's. ``time-not-increasing``: a clock stands still or runs backwards.
    """
    clock = _checked_clock(recording)
    row_ns = clock.timestamp_ns
    columns = _base_columns(recording, episode_index, row_ns)
    for signal in recording.signals:
        columns |= _signal_columns(signal, clock, schema, recording.ref.source_key)
    for camera, stream in streams.items():
        columns |= _camera_columns(camera, stream, row_ns)
    arrays = [columns.get(f.name, pa.nulls(len(row_ns), f.type)) for f in schema]
    cast = [_cast(array, field) for array, field in zip(arrays, schema, strict=True)]
    return pa.Table.from_arrays(cast, schema=schema)


def _cast(array: pa.Array, field: pa.Field) -> pa.Array:
    return array if array.type == field.type else array.cast(field.type)


def _checked_clock(recording: Recording) -> Signal:
    if not recording.signals or not any(len(s.timestamp_ns) for s in recording.signals):
        raise DataFaultError(
            f"Episode {recording.ref.source_key!r} has no row: got no sample of any signal, "
            "expected at least one. Leave it out of the upload.",
            kind=ErrorKind.NO_ROWS,
            episode=recording.ref.source_key,
        )
    for signal in recording.signals:
        _check_increasing(signal.name, signal.timestamp_ns, recording.ref.source_key)
    for camera in recording.cameras:
        _check_increasing(f"camera {camera.name}", camera.timestamp_ns, recording.ref.source_key)
    return row_clock([s for s in recording.signals if len(s.timestamp_ns)])


def _check_increasing(name: str, timestamp_ns: Int64Array, episode: str) -> None:
    steps = np.diff(timestamp_ns)
    if len(steps) and int(steps.min()) <= 0:
        at = int(np.argmax(steps <= 0)) + 1
        raise DataFaultError(
            f"Episode {episode!r} {name}: sample {at} is at {int(timestamp_ns[at])} ns after "
            f"{int(timestamp_ns[at - 1])} ns; expected increasing time stamps. Correct the clock "
            "in the recording.",
            kind=ErrorKind.TIME_NOT_INCREASING,
            episode=episode,
            sample=at,
        )


def _base_columns(
    recording: Recording, episode_index: int, row_ns: Int64Array
) -> dict[str, pa.Array]:
    num_rows = len(row_ns)
    sources = label_at(row_ns, recording.sources)
    instructions = label_at(row_ns, recording.instructions)
    return {
        "episode_index": pa.array(np.full(num_rows, episode_index, dtype=np.int64)),
        "frame_index": pa.array(np.arange(num_rows, dtype=np.int32)),
        "timestamp_ns": pa.array(row_ns),
        "task": pa.array([recording.task] * num_rows, pa.string()),
        "language_instruction": pa.array(
            [text or recording.task for text in instructions], pa.string()
        ),
        "source": pa.array(sources, pa.string()),
        "is_intervention": pa.array(
            [None if s is None else s == INTERVENTION for s in sources], pa.bool_()
        ),
    }


def _signal_columns(
    signal: Signal, clock: Signal, schema: pa.Schema, episode: str
) -> dict[str, pa.Array]:
    width = int(signal.values.shape[1])
    if schema.field(signal.name).type.list_size != width:
        raise _other_width(signal, schema, episode)
    if signal is clock:
        return {signal.name: _vectors(signal.values, None)}
    match = hold(clock.timestamp_ns, signal.timestamp_ns)
    values = signal.values[np.maximum(match.index, 0)] if len(signal.values) else None
    if values is None:
        return {}
    return {
        signal.name: _vectors(values, match.found),
        f"{signal.name}_age_ns": _where(-match.offset_ns, match),
    }


def _vectors(
    values: npt.NDArray[np.floating], found: npt.NDArray[np.bool_] | None
) -> pa.FixedSizeListArray:
    flat = pa.array(np.ascontiguousarray(values, dtype=np.float32).reshape(-1))
    mask = None if found is None else pa.array(~found)
    return pa.FixedSizeListArray.from_arrays(flat, values.shape[1], mask=mask)


def _where(values: npt.NDArray[np.int64], match: Match) -> pa.Array:
    return pa.array(values, mask=~match.found)


def _camera_columns(camera: str, stream: StreamIndex, row_ns: Int64Array) -> dict[str, pa.Array]:
    match = match_nearest(row_ns, stream.pts_ns)
    gop = np.searchsorted(stream.first_frame, match.index, side="right") - 1
    gop = np.maximum(gop, 0)
    in_gop = match.index - stream.first_frame[gop]
    prefix = CAMERA_PREFIX + camera
    return {
        f"{prefix}_ref_id": _where(np.full(len(row_ns), stream.ref_id), match),
        f"{prefix}_gop_index": _where(gop, match),
        f"{prefix}_frame_index_in_gop": _where(in_gop, match),
        f"{prefix}_offset_ns": _where(match.offset_ns, match),
    }


def _other_width(signal: Signal, schema: pa.Schema, episode: str) -> DataFaultError:
    held = schema.field(signal.name).type.list_size
    width = int(signal.values.shape[1])
    return DataFaultError(
        f"Episode {episode!r} signal {signal.name!r} has width {width}: expected {held}, the width "
        "that the dataset holds. Upload it to another dataset, or correct the recording.",
        kind=ErrorKind.SHAPE_MISMATCH,
        episode=episode,
        expected=int(held),
        got=width,
    )
