"""What an ingestion makes of a source, small enough to be held against that of another one."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa

from robot_data_platform.compute.unreferenced_frames import frames_after_the_last_row
from robot_data_platform.core.finding import Finding
from robot_data_platform.core.gop import Gop, StreamFormat
from robot_data_platform.core.recording import AnyPicture, CameraStream, EpisodeRef, Recording
from robot_data_platform.core.rows import StreamIndex, episode_fields, episode_rows
from robot_data_platform.core.schema import CAMERA_PREFIX, frames_base_fields, table_schema
from robot_data_platform.errors import DataFaultError, InvalidInputError
from robot_data_platform.formats.profile import Profile, find_profile, load_profile
from robot_data_platform.formats.protocol import EpisodeListing, Format
from robot_data_platform.formats.registry import detect_format
from robot_data_platform.storage.source import LocalSource
from robot_data_platform.video.cut import cut_stream
from robot_data_platform.video.decode import GopDecoder
from robot_data_platform.video.depth import decode_depth
from robot_data_platform.video.settings import GopSettings
from robot_data_platform_tests.formats.coded_video import HEIGHT_PX, WIDTH_PX, code_of

LABEL = "source"
"""What messages call the folder, wherever it lies."""
SETTINGS = GopSettings(gop_size=4, anchor_distance=2, crf=12, preset="ultrafast")
REFUSALS = (DataFaultError, InvalidInputError)
"""What may end an episode without ending its upload."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """The rows that an episode becomes."""

    num_rows: int
    columns: Mapping[str, bytes]
    """By column of ``frames`` without those of cameras: the digest of its rows."""
    pictures: Mapping[str, tuple[int | None, ...]]
    """By camera: the number in the picture of each row."""
    told: frozenset[str]
    """Findings of the episode."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What became of a source: every episode is read, or refused with a reason."""

    episodes: Mapping[str, Episode] = field(default_factory=dict)
    refused: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By episode: the files that it is read from."""
    told: frozenset[str] = frozenset()
    """Findings of the source as a whole."""
    refusal: str | None = None
    """Why nothing of the source can be read."""


def read_source(root: Path, stated: str | None) -> Reading:
    """Return what an ingestion would make of a folder; nothing but a refusal is caught.

    ``stated`` is a profile that wins over the folder's own.
    """
    source = LocalSource(root, LABEL)
    try:
        profile = find_profile(source, None if stated is None else load_profile(stated))
        reader = detect_format(source, profile.described_format)
        listing = reader.list_episodes(source, profile)
    except REFUSALS as error:
        return Reading(refusal=_text(str(error), root))
    return _read_all(reader, source, profile, listing)


def _read_all(
    reader: Format, source: LocalSource, profile: Profile, listing: EpisodeListing
) -> Reading:
    episodes: dict[str, Episode] = {}
    refused: dict[str, str] = {}
    decoder = GopDecoder()
    for ref in listing.episodes:
        try:
            recording = reader.read(source, ref, profile)
            episodes[ref.source_key] = _episode(recording, decoder, source.local_folder)
        except REFUSALS as error:
            refused[ref.source_key] = _text(str(error), source.local_folder)
    _check_keys(listing.episodes, [*episodes, *refused])
    return Reading(
        episodes=episodes,
        refused=refused,
        files={ref.source_key: ref.files for ref in listing.episodes},
        told=_told(listing.findings, source.local_folder),
    )


def _check_keys(refs: Sequence[EpisodeRef], keys: Sequence[str]) -> None:
    assert len(refs) == len(keys), f"{len(refs)} episodes were listed under {len(keys)} keys"
    for key in keys:
        key.encode()


def _episode(recording: Recording, decoder: GopDecoder, root: Path) -> Episode:
    findings = list(recording.findings)
    streams: dict[str, StreamIndex] = {}
    numbers: dict[str, list[int]] = {}
    for number, camera in enumerate(recording.cameras):
        streams[camera.name], numbers[camera.name] = _cut(camera, number, decoder, findings)
    rows = _rows(recording, streams)
    return Episode(
        num_rows=rows.num_rows,
        columns={
            name: _digest(rows[name])
            for name in rows.column_names
            if not name.startswith(CAMERA_PREFIX)
        },
        pictures={
            name: tuple(_shown(rows, name, stream, numbers[name]))
            for name, stream in streams.items()
        },
        told=_told(findings, root),
    )


def _cut(
    camera: CameraStream, number: int, decoder: GopDecoder, findings: list[Finding]
) -> tuple[StreamIndex, list[int]]:
    """Return where a camera's pictures would lie, and what each of them shows when decoded."""
    cut = cut_stream(camera, SETTINGS)
    first_frame: list[int] = []
    numbers: list[int] = []
    for gop in cut.gops():
        first_frame.append(gop.first_frame)
        numbers += [number_of(picture) for picture in _pictures(gop, cut.format, decoder)]
    findings += frames_after_the_last_row(camera, cut.report)
    assert len(numbers) == len(camera.timestamp_ns), f"{camera.name}: {len(numbers)} pictures"
    index = StreamIndex(
        ref_id=number,
        first_frame=np.array(first_frame, np.int64),
        pts_ns=camera.timestamp_ns,
        is_depth=cut.format.is_depth,
    )
    return index, numbers


def _pictures(gop: Gop, form: StreamFormat, decoder: GopDecoder) -> Iterable[AnyPicture]:
    frames = np.arange(gop.num_frames, dtype=np.int64)
    if form.is_depth:
        return iter(decode_depth(decoder, gop.packets, gop.data, frames, form))
    return iter(decoder.decode_rgb(gop.packets, gop.data, frames, form))


def number_of(picture: AnyPicture) -> int:
    """Return the number that a picture carries; of others, one that stands for their content."""
    if picture.dtype == np.uint8 and picture.shape == (HEIGHT_PX, WIDTH_PX, 3):
        return code_of(np.asarray(picture, np.uint8))
    return -zlib.crc32(picture.tobytes())


def _rows(recording: Recording, streams: Mapping[str, StreamIndex]) -> pa.Table:
    depth = [name for name, stream in streams.items() if stream.is_depth]
    fields = episode_fields(recording, sorted(streams), depth) if recording.signals else []
    schema = table_schema([*frames_base_fields(), *fields], {})
    return episode_rows(recording, 0, streams, schema)


def _digest(column: pa.ChunkedArray) -> bytes:
    table = pa.table([column], ["rows"]).combine_chunks()
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return hashlib.sha256(sink.getvalue()).digest()


def _shown(
    rows: pa.Table, camera: str, stream: StreamIndex, numbers: Sequence[int]
) -> Iterable[int | None]:
    prefix = CAMERA_PREFIX + camera
    places = (rows[f"{prefix}_{name}"].to_pylist() for name in ("gop_index", "frame_index_in_gop"))
    for gop, frame in zip(*places, strict=True):
        yield None if gop is None else numbers[int(stream.first_frame[gop]) + frame]


def _told(findings: Iterable[Finding], root: Path) -> frozenset[str]:
    return frozenset(_text(f"{f.rule} at {f.where}: {f.message}", root) for f in findings)


def _text(message: str, root: Path) -> str:
    """Return a message as it can be printed and stored, the same wherever the folder lies."""
    message.encode()
    return message.replace(str(root), LABEL)
