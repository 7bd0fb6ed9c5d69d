"""Depth maps to GOPs that give back every sample: ``lossless``.

FFV1 where every picture stands alone: to read one, a decoder gets one packet. The same pictures
give the same bytes in every process.

References
----------
RFC 9043, "FFV1 Video Coding Format Versions 0, 1, and 3".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

import av
import numpy as np
from av.video.codeccontext import VideoCodecContext

from robot_data_platform.core.gop import Gop, PacketIndex, StreamFormat
from robot_data_platform.core.recording import DepthPicture
from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform.video.colour import RANGE_FULL, TAG_UNSPECIFIED
from robot_data_platform.video.decode import GopDecoder
from robot_data_platform.video.depth import DEPTH_PIX_FMT, decode_depth, depth_frame
from robot_data_platform.video.encode import CLOCK

CODEC = "ffv1"
OPTIONS = {"level": "3", "slices": "4", "slicecrc": "1"}
"""Version 3, with the checksum of each slice; four are the fewest that FFmpeg writes of any size,
and each costs a few bytes."""


def lossless_format(width_px: int, height_px: int) -> StreamFormat:
    """Return the format of depth maps of a size, its codec configuration included."""
    coded_width_px, coded_height_px = width_px + width_px % 2, height_px + height_px % 2
    encoder = _open_encoder(coded_width_px, coded_height_px)
    return StreamFormat(
        codec=CODEC,
        profile="lossless",
        width_px=width_px,
        height_px=height_px,
        coded_width_px=coded_width_px,
        coded_height_px=coded_height_px,
        pix_fmt=DEPTH_PIX_FMT,
        color_range=RANGE_FULL,
        color_space=TAG_UNSPECIFIED,
        color_primaries=TAG_UNSPECIFIED,
        color_trc=TAG_UNSPECIFIED,
        extradata=encoder.extradata or b"",
    )


def encode_depth(
    pictures: Iterable[DepthPicture], fmt: StreamFormat, gop_size: int
) -> Iterator[Gop]:
    """Encode a stream's depth maps and yield its GOPs, each proven to give back every sample.

    Holds the pictures of one GOP at a time.

    Parameters
    ----------
    pictures : iterable of ndarray of uint16, shape (H, W)
        In presentation order, all of the format's size.
    fmt : StreamFormat
        From ``lossless_format``.
    gop_size : int
        Pictures of a GOP; the last one may be short.

    Raises
    ------
    DataFaultError
        ``gop-damaged``: a picture did not come back as it was, which would be the codec's fault.
    """
    encoder, decoder = _open_encoder(fmt.coded_width_px, fmt.coded_height_px), GopDecoder()
    remaining, first_frame, gop_index = iter(pictures), 0, 0
    while part := list(islice(remaining, gop_size)):
        gop = _gop(_packets(part, encoder, first_frame), gop_index, first_frame)
        _check_exact(gop, part, decoder, fmt)
        yield gop
        first_frame, gop_index = first_frame + len(part), gop_index + 1


def _open_encoder(width_px: int, height_px: int) -> VideoCodecContext:
    encoder = av.CodecContext.create(CODEC, "w")
    assert isinstance(encoder, VideoCodecContext)
    encoder.width, encoder.height, encoder.pix_fmt = width_px, height_px, DEPTH_PIX_FMT
    encoder.time_base, encoder.framerate = CLOCK, 1 / CLOCK
    encoder.gop_size, encoder.thread_count = 1, 1
    encoder.options = OPTIONS
    encoder.open()
    return encoder


def _packets(
    pictures: Sequence[DepthPicture], encoder: VideoCodecContext, first_frame: int
) -> list[bytes]:
    packets = []
    for number, picture in enumerate(pictures, first_frame):
        frame = depth_frame(picture)
        frame.pts, frame.time_base = number, CLOCK
        packets += [bytes(packet) for packet in encoder.encode(frame)]
    return packets


def _gop(packets: Sequence[bytes], gop_index: int, first_frame: int) -> Gop:
    return Gop(
        gop_index=gop_index,
        first_frame=first_frame,
        num_frames=len(packets),
        packets=PacketIndex(
            size_bytes=np.array([len(packet) for packet in packets], np.int32),
            display_index=np.arange(len(packets), dtype=np.int32),
            is_reference=np.zeros(len(packets), np.bool_),
            is_key=np.ones(len(packets), np.bool_),
        ),
        data=b"".join(packets),
    )


def _check_exact(
    gop: Gop, pictures: Sequence[DepthPicture], decoder: GopDecoder, fmt: StreamFormat
) -> None:
    everything = np.arange(gop.num_frames, dtype=np.int64)
    decoded = decode_depth(decoder, gop.packets, gop.data, everything, fmt)
    if len(decoded) != len(pictures) or not all(map(np.array_equal, decoded, pictures)):
        raise DataFaultError(
            f"Depth maps {gop.first_frame} to {gop.first_frame + len(pictures) - 1} are not "
            f"stored exactly: got {gop.num_frames} decoded of which some differ, expected the "
            f"{len(pictures)} of the source. Report it, with the versions of FFmpeg and PyAV.",
            kind=ErrorKind.GOP_DAMAGED,
            first_frame=gop.first_frame,
            num_frames=gop.num_frames,
        )
