"""What hashing and decoding one camera stream gives: the costly part of checking an episode."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

import numpy as np

from robot_data_platform.core.gop import StreamFormat
from robot_data_platform.core.recording import AnyPicture
from robot_data_platform.errors import DataFaultError
from robot_data_platform.quality.depth_meter import DepthMeter
from robot_data_platform.quality.look import LookMeter, StreamLook, sampled_gops
from robot_data_platform.quality.picture_meter import (
    FULL_RANGE,
    PictureMeter,
    StreamPictures,
    window_frames,
)
from robot_data_platform.quality.rules.integrity import GopCheck
from robot_data_platform.quality.stored_episode import StoredGop, StoredStream, read_blobs
from robot_data_platform.storage.table import LakeTable
from robot_data_platform.video.decode import GopDecoder
from robot_data_platform.video.depth import decode_depth


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamMeasurements:
    """What one camera stream gave; small beside its pictures, and picklable."""

    gops: tuple[GopCheck, ...]
    pictures: StreamPictures
    look: StreamLook

    @property
    def pictures_digest(self) -> str:
        """Digest of all blobs: equal pictures, coded alike, have it in common."""
        return hashlib.sha256("".join(g.sha256_found for g in self.gops).encode()).hexdigest()


@dataclass(slots=True)
class _Meters:
    """Everything that measures the pictures of one stream."""

    plain: PictureMeter
    depth: DepthMeter
    look: LookMeter = field(default_factory=LookMeter)


def measure_stream(
    gops_table: LakeTable, stream: StoredStream, decoder: GopDecoder
) -> StreamMeasurements:
    """Hash and decode every GOP of a stream once; memory holds a few blobs and one decoded GOP."""
    num_frames, window = len(stream.pts_ns), window_frames(stream.pts_ns)
    meters = _Meters(PictureMeter(num_frames, window), DepthMeter(num_frames, window))
    sampled = sampled_gops(len(stream.gops))
    gops = []
    for place, (gop, blob) in enumerate(read_blobs(gops_table, stream)):
        check = _check_gop(stream, gop, blob, decoder, meters)
        if place in sampled and check.num_frames_decoded and not stream.format.is_depth:
            _look(stream.format, gop, blob, decoder, meters.look)
        gops.append(check)
    pictures = _pictures(stream, window, meters)
    return StreamMeasurements(gops=tuple(gops), pictures=pictures, look=meters.look.look())


def _pictures(stream: StoredStream, window: int, meters: _Meters) -> StreamPictures:
    is_full_range = stream.format.color_range == FULL_RANGE
    changes = meters.depth if stream.format.is_depth else meters.plain
    return StreamPictures(
        camera=stream.camera,
        pts_ns=stream.pts_ns,
        black=0 if is_full_range else 16,
        white=255 if is_full_range else 235,
        window_frames=window,
        percentiles=meters.plain.percentiles,
        change=changes.change,
        window_change=changes.window_change,
        motion=meters.plain.motion,
        measured_share=meters.depth.measured_share,
        is_depth=stream.format.is_depth,
    )


def _look(
    fmt: StreamFormat, gop: StoredGop, blob: bytes, decoder: GopDecoder, look: LookMeter
) -> None:
    """Look at a GOP's key frame in colour, which takes one packet."""
    key = gop.packets.display_index[:1].astype(np.int64)
    look.add(decoder.decode_rgb(gop.packets, blob, key, fmt)[0])


def _check_gop(
    stream: StoredStream, gop: StoredGop, blob: bytes, decoder: GopDecoder, meters: _Meters
) -> GopCheck:
    """Hash a blob, decode it if it is what was stored, and measure its pictures."""
    sha256 = hashlib.sha256(blob).hexdigest()
    num_decoded, error = None, None
    decoded: list[AnyPicture] = []
    if sha256 == gop.sha256:
        decoded, error = _decode(stream, gop, blob, decoder)
        num_decoded = len(decoded)
    _measure(decoded[: len(gop.pts_ns)], len(gop.pts_ns), stream.format, meters)
    return GopCheck(
        camera=stream.camera,
        gop_index=gop.gop_index,
        first_frame=gop.first_frame,
        num_frames=gop.num_frames,
        sha256=gop.sha256,
        sha256_found=sha256,
        num_frames_decoded=num_decoded,
        decode_error=error,
    )


def _measure(
    decoded: list[AnyPicture], num_frames: int, fmt: StreamFormat, meters: _Meters
) -> None:
    for picture in decoded:
        if fmt.is_depth:
            meters.depth.add(picture.astype(np.uint16, copy=False))
        else:
            meters.plain.add(picture.astype(np.uint8, copy=False))
    meter = meters.depth if fmt.is_depth else meters.plain
    meter.skip(num_frames - len(decoded))


def _decode(
    stream: StoredStream, gop: StoredGop, blob: bytes, decoder: GopDecoder
) -> tuple[list[AnyPicture], str | None]:
    """Return the luma or the depth of every picture of a GOP, or why it does not decode."""
    everything = np.arange(len(gop.packets.display_index), dtype=np.int64)
    try:
        if stream.format.is_depth:
            return list(decode_depth(decoder, gop.packets, blob, everything, stream.format)), None
        return list(decoder.decode_luma(gop.packets, blob, everything, stream.format)), None
    except DataFaultError as err:
        return [], str(err)
