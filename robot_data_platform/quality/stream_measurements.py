"""What hashing and decoding one camera stream gives: the costly part of checking an episode."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np

from robot_data_platform.core.recording import AnyPicture
from robot_data_platform.errors import DataFaultError
from robot_data_platform.quality.picture_meter import (
    FULL_RANGE,
    PictureMeter,
    StreamPictures,
    window_frames,
)
from robot_data_platform.quality.rules.integrity import GopCheck
from robot_data_platform.quality.stored_episode import StoredGop, StoredStream, read_blobs
from robot_data_platform.quality.thresholds import Thresholds
from robot_data_platform.storage.table import LakeTable
from robot_data_platform.video.decode import GopDecoder
from robot_data_platform.video.depth import decode_depth


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamMeasurements:
    """What one camera stream gave; small beside its pictures, and picklable."""

    gops: tuple[GopCheck, ...]
    pictures: StreamPictures


def measure_stream(
    gops_table: LakeTable, stream: StoredStream, decoder: GopDecoder, limits: Thresholds
) -> StreamMeasurements:
    """Hash and decode every GOP of a stream once; memory holds a few blobs and one decoded GOP."""
    window = window_frames(stream.pts_ns, limits)
    meter = PictureMeter(len(stream.pts_ns), window)
    gops = [
        _check_gop(stream, gop, blob, decoder, meter)
        for gop, blob in read_blobs(gops_table, stream)
    ]
    is_full_range = stream.format.color_range == FULL_RANGE
    measured = StreamPictures(
        camera=stream.camera,
        pts_ns=stream.pts_ns,
        black=0 if is_full_range else 16,
        white=255 if is_full_range else 235,
        window_frames=window,
        percentiles=meter.percentiles,
        change=meter.change,
        window_change=meter.window_change,
    )
    return StreamMeasurements(gops=tuple(gops), pictures=measured)


def _check_gop(
    stream: StoredStream, gop: StoredGop, blob: bytes, decoder: GopDecoder, meter: PictureMeter
) -> GopCheck:
    """Hash a blob, decode it if it is what was stored, and measure its pictures."""
    sha256 = hashlib.sha256(blob).hexdigest()
    num_decoded, error = None, None
    decoded: list[AnyPicture] = []
    if sha256 == gop.sha256:
        decoded, error = _decode(stream, gop, blob, decoder)
        num_decoded = len(decoded)
    shown = [] if stream.format.is_depth else decoded[: len(gop.pts_ns)]
    for luma in shown:
        meter.add(luma.astype(np.uint8, copy=False))
    meter.skip(max(0, len(gop.pts_ns) - len(shown)))
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
