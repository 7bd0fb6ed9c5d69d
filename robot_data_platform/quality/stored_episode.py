"""One episode as the lake's tables hold it: rows, streams and GOPs, without the blobs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypedDict

import numpy as np

from robot_data_platform.core.gop import PacketIndex, StreamFormat
from robot_data_platform.core.gop_rows import packet_index, stream_format
from robot_data_platform.core.schema import CAMERA_PREFIX, camera_names, signal_names
from robot_data_platform.errors import ErrorKind, NotFoundError
from robot_data_platform.quality.rules.values import Floats, SignalRows, Units
from robot_data_platform.quality.runs import Ints
from robot_data_platform.storage.predicate import all_of, equals, in_slot
from robot_data_platform.storage.snapshot import Snapshot
from robot_data_platform.storage.table import LakeTable

if TYPE_CHECKING:
    import pyarrow as pa

LIMITS_KEY = b"rdp.limits"
"""Field metadata of a signal: JSON list of D ``[lowest, highest]``; null = not declared."""
BLOBS_AT_ONCE = 8
"""GOP blobs fetched by one request: enough to hide a store's delay, a few hundred kB."""


class CameraFacts(TypedDict):
    """What ``episodes`` declares of one camera stream, as far as it is checked."""

    name: str
    num_frames: int
    num_gops: int


class EpisodeRow(TypedDict):
    """What ``episodes`` declares of an episode, as far as it is checked."""

    num_rows: int
    control_hz: float | None
    cameras: list[CameraFacts] | None
    task: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredGop:
    """One row of ``gops``, without its blob."""

    row_id: int
    gop_index: int
    first_frame: int
    num_frames: int
    pts_ns: Ints
    """(num_frames,) capture time of each picture."""
    packets: PacketIndex
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredStream:
    """One camera's GOPs, in order."""

    camera: str
    ref_id: int
    format: StreamFormat
    gops: tuple[StoredGop, ...]

    @property
    def pts_ns(self) -> Ints:
        """(F,) capture time of every frame."""
        return np.concatenate([gop.pts_ns for gop in self.gops])


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredEpisode:
    """What the tables say of one episode."""

    episode_index: int
    declared: EpisodeRow
    rows: pa.Table
    """Rows of ``frames``, in stored order, with the table's metadata."""
    streams: tuple[StoredStream, ...]

    @property
    def timestamp_ns(self) -> Ints:
        """(N,) time of the rows."""
        return np.asarray(self.rows["timestamp_ns"].to_numpy(), dtype=np.int64)

    @property
    def frame_index(self) -> Ints:
        """(N,) number of the rows, as stored."""
        return np.asarray(self.rows["frame_index"].to_numpy(), dtype=np.int64)

    @property
    def cameras(self) -> tuple[str, ...]:
        """Cameras that the rows have columns for."""
        return camera_names(self.rows.schema)

    def stream(self, camera: str) -> StoredStream | None:
        """Return a camera's stream, or None where the episode has none."""
        return next((stream for stream in self.streams if stream.camera == camera), None)

    def held_period_ns(self, signal: str) -> float:
        """Return about the period of a signal that rows hold; 0 of one that is not held.

        Its age runs from 0 to its period, over and over.
        """
        name = f"{signal}_age_ns"
        if name not in self.rows.schema.names:
            return 0
        ages = self.rows[name].drop_null().to_numpy()
        return 2 * float(np.median(ages)) if len(ages) else 0

    def references(self, camera: str, name: str) -> Ints:
        """Return one of a camera's reference columns, (N,); -1 where it is null."""
        column = self.rows[f"{CAMERA_PREFIX}{camera}_{name}"]
        return np.asarray(column.fill_null(-1).to_numpy(), dtype=np.int64)

    def signals(self) -> list[SignalRows]:
        """Return every vector signal of the rows."""
        names = signal_names(self.rows.schema)
        return [_signal(self.rows, name, self.declared["control_hz"]) for name in names]

    def instructions(self) -> list[str]:
        """Return the distinct language instructions of the rows, in no order."""
        column = self.rows["language_instruction"].combine_chunks()
        return [text for text in column.unique().to_pylist() if text is not None]

    def nominal_control_hz(self) -> float | None:
        """Return the dataset's rate of rows, or None where it states none."""
        rate = self._stated("rdp.control_hz")
        return float(rate) if isinstance(rate, int | float) else None

    def nominal_fps(self, camera: str) -> float | None:
        """Return the dataset's rate of a camera, or None where it states none."""
        rates = self._stated("rdp.camera_fps")
        rate = rates.get(camera) if isinstance(rates, Mapping) else None
        return float(rate) if isinstance(rate, int | float) else None

    def _stated(self, key: str) -> object:
        text = (self.rows.schema.metadata or {}).get(key.encode())
        return json.loads(text) if text else None


def read_blobs(gops: LakeTable, stream: StoredStream) -> Iterator[tuple[StoredGop, bytes]]:
    """Yield each GOP of a stream with its blob; a few are in memory at a time."""
    for start in range(0, len(stream.gops), BLOBS_AT_ONCE):
        part = stream.gops[start : start + BLOBS_AT_ONCE]
        row_ids = np.array([gop.row_id for gop in part], dtype=np.uint64)
        yield from zip(part, gops.read_blobs(row_ids), strict=True)


def read_episode(snapshot: Snapshot, episode_index: int) -> StoredEpisode:
    """Return one episode of a pinned dataset.

    Raises
    ------
    NotFoundError
        ``episode-not-found``: ``episodes`` has no such index at the pinned version.
    """
    where = equals("episode_index", episode_index)
    declared = snapshot.episodes.read(list(EpisodeRow.__annotations__), where).to_pylist()
    if not declared:
        raise NotFoundError(
            f"Dataset {snapshot.dataset!r} has no episode_index {episode_index} at version "
            f"{snapshot.episodes.version} of episodes. List them with `rdp episodes`.",
            kind=ErrorKind.EPISODE_NOT_FOUND,
            dataset=snapshot.dataset,
            episode_index=episode_index,
        )
    gops = snapshot.gops.read(where=all_of(where, in_slot(0)), with_row_id=True)
    return StoredEpisode(
        episode_index=episode_index,
        declared=declared[0],
        rows=snapshot.frames.read(where=where).replace_schema_metadata(
            snapshot.frames.schema.metadata
        ),
        streams=_streams(gops),
    )


def _streams(gops: pa.Table) -> tuple[StoredStream, ...]:
    ordered = gops.sort_by([("ref_id", "ascending"), ("gop_index", "ascending")]).to_pylist()
    rows_by_stream: dict[tuple[int, str], list[dict[str, object]]] = {}
    for row in ordered:
        rows_by_stream.setdefault((row["ref_id"], row["camera"]), []).append(row)
    return tuple(
        StoredStream(
            camera=camera,
            ref_id=ref_id,
            format=stream_format(rows[0]),
            gops=tuple(_gop(row) for row in rows),
        )
        for (ref_id, camera), rows in rows_by_stream.items()
    )


def _gop(row: Mapping[str, object]) -> StoredGop:
    number = {name: int(str(row[name])) for name in ("gop_index", "first_frame", "num_frames")}
    return StoredGop(
        row_id=int(str(row["_rowid"])),
        **number,
        pts_ns=np.asarray(row["pts_ns"], dtype=np.int64),
        packets=packet_index(row),
        sha256=str(row["sha256"]),
    )


def _signal(rows: pa.Table, name: str, rate_hz: float | None) -> SignalRows:
    field = rows.schema.field(name)
    metadata = field.metadata or {}
    names = json.loads(metadata.get(b"rdp.names", b"null"))
    limits = json.loads(metadata.get(LIMITS_KEY, b"null"))
    unit = metadata.get(b"rdp.unit", b"").decode() or None
    column = rows[name].combine_chunks()
    is_present = np.asarray(column.is_valid().to_numpy(zero_copy_only=False), dtype=np.bool_)
    values = np.full((len(column), field.type.list_size), np.nan, dtype=np.float32)
    values[is_present] = _flat(column).reshape(-1, field.type.list_size)
    return SignalRows(
        name=name,
        values=values,
        is_present=is_present,
        names=tuple(names) if names else None,
        units=_units(metadata, unit, field.type.list_size),
        limits=np.asarray(limits, dtype=np.float64) if limits else None,
        rate_hz=rate_hz,
    )


def _units(metadata: Mapping[bytes, bytes], unit: str | None, width: int) -> Units:
    """Return the unit of each dimension, which a field states one by one where they differ."""
    each = json.loads(metadata.get(b"rdp.units", b"null"))
    return tuple(each) if each else (unit,) * width


def _flat(column: pa.Array) -> Floats:
    """Return the values of the rows that have one, back to back."""
    return np.asarray(column.flatten().to_numpy(zero_copy_only=False), dtype=np.float32)
