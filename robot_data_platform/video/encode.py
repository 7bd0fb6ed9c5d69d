"""Encode pictures to GOPs with libx264: ``anchored`` and ``chain``.

Both give closed GOPs that start with an IDR picture and carry their own parameter sets, as Annex B,
and the same bytes from the same pictures in every process. In ``anchored`` no picture refers to a
B-frame, so that a frame needs the IDR picture, the few P-frames up to the next anchor, and itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

import av
import numpy as np
from av.video.codeccontext import VideoCodecContext
from av.video.reformatter import VideoReformatter

from robot_data_platform.core.gop import Gop, PacketIndex, StreamFormat
from robot_data_platform.video.bitstream import is_h264_reference
from robot_data_platform.video.colour import EXACT, tags_of, to_rgb24
from robot_data_platform.video.decode import GopDecoder
from robot_data_platform.video.fidelity import Fidelity
from robot_data_platform.video.planes import rgb_view, without_tags
from robot_data_platform.video.settings import GopSettings
from robot_data_platform.video.source_pictures import SourcePicture

if TYPE_CHECKING:
    from av.video.stream import VideoStream

CLOCK = Fraction(1, 25)
"""Seconds per picture as the encoder counts them, whatever the camera's rate: true times are kept
beside the video, and rate control is the same for every camera."""

SAMPLE_STRIDE = 11
"""One frame in so many is compared with its source; it shares no factor with usual GOP sizes, so
that every place in a GOP has its turn."""


def encode_gops(
    pictures: Iterable[SourcePicture], fmt: StreamFormat, settings: GopSettings, fidelity: Fidelity
) -> Iterator[Gop]:
    """Encode a stream's pictures with a fresh encoder and yield its GOPs, each proven to decode.

    Holds the packets of one GOP and a few source pictures at a time, never the stream.

    Parameters
    ----------
    pictures : iterable of SourcePicture
        In presentation order.
    fmt : StreamFormat
        Format of the stream; its profile is ``anchored`` or ``chain``.
    settings : GopSettings
        GOP size, quality and speed.
    fidelity : Fidelity
        Takes in one frame in ``SAMPLE_STRIDE`` beside its source.

    Yields
    ------
    Gop
        In order; the last one may be short.

    Raises
    ------
    DataFaultError
        ``gop-damaged``: a GOP did not decode to its own frames, which would be the encoder's fault.
    """
    decoder = GopDecoder()
    samples: dict[int, SourcePicture] = {}
    first_frame = 0
    frames = _sampled_frames(pictures, samples)
    for gop_index, packets in enumerate(_closed_gops(frames, fmt, settings)):
        gop = _gop(packets, gop_index, first_frame)
        decoder.verify_gop(gop.packets, gop.data, fmt)
        _compare(gop, samples, decoder, fmt, fidelity)
        first_frame += gop.num_frames
        yield gop


def encoder_options(profile: str, settings: GopSettings) -> dict[str, str]:
    """Return the libx264 options of a profile.

    Macroblock-tree rate control is off: with B-frames it gives other bytes from process to process.
    ``anchored`` goes without adaptive quantisation: bits go where the error is, and not where an
    eye would notice it, since a policy looks at the pictures.
    """
    shared = (
        f"keyint={settings.gop_size}:min-keyint={settings.gop_size}:scenecut=0:open-gop=0:"
        "repeat-headers=1:mbtree=0:threads=1"
    )
    options = {"preset": settings.preset, "crf": str(settings.crf)}
    if profile == "chain":
        return options | {"tune": "zerolatency", "x264-params": f"{shared}:bframes=0"}
    anchors = f"bframes={settings.num_b_frames}:b-adapt=0:b-pyramid=none:ref=2:aq-mode=0"
    tune = {"tune": "fastdecode"} if settings.tune_fastdecode else {}
    return options | tune | {"x264-params": f"{shared}:{anchors}"}


def _sampled_frames(
    pictures: Iterable[SourcePicture], samples: dict[int, SourcePicture]
) -> Iterator[av.VideoFrame]:
    for number, picture in enumerate(pictures):
        if number % SAMPLE_STRIDE == 0:
            samples[number] = picture
        yield picture.frame


def _closed_gops(
    frames: Iterable[av.VideoFrame], fmt: StreamFormat, settings: GopSettings
) -> Iterator[list[av.Packet[VideoStream]]]:
    """Yield the packets of one closed GOP after the other, in decode order."""
    gop: list[av.Packet[VideoStream]] = []
    for packet in _packets(frames, _open_encoder(fmt, settings)):
        if packet.is_keyframe and gop:
            yield gop
            gop = []
        gop.append(packet)
    if gop:
        yield gop


def _packets(
    frames: Iterable[av.VideoFrame], encoder: VideoCodecContext
) -> Iterator[av.Packet[VideoStream]]:
    for number, frame in enumerate(frames):
        frame.pts, frame.time_base = number, CLOCK
        yield from encoder.encode(frame)
    yield from encoder.encode(None)


def _open_encoder(fmt: StreamFormat, settings: GopSettings) -> VideoCodecContext:
    encoder = av.CodecContext.create("libx264", "w")
    assert isinstance(encoder, VideoCodecContext)
    encoder.width, encoder.height = fmt.coded_width_px, fmt.coded_height_px
    encoder.pix_fmt, encoder.time_base, encoder.framerate = fmt.pix_fmt, CLOCK, 1 / CLOCK
    encoder.color_range, encoder.colorspace = fmt.color_range, fmt.color_space
    encoder.color_primaries, encoder.color_trc = fmt.color_primaries, fmt.color_trc
    encoder.thread_count = 1
    encoder.options = encoder_options(fmt.profile, settings)
    return encoder


def _gop(packets: list[av.Packet[VideoStream]], gop_index: int, first_frame: int) -> Gop:
    units = [bytes(packet) for packet in packets]
    numbers = [packet.pts for packet in packets if packet.pts is not None]
    return Gop(
        gop_index=gop_index,
        first_frame=first_frame,
        num_frames=len(units),
        packets=PacketIndex(
            size_bytes=np.array([len(unit) for unit in units], np.int32),
            display_index=np.array(numbers, np.int32) - np.int32(first_frame),
            is_reference=np.array([is_h264_reference(unit) for unit in units]),
            is_key=np.array([packet.is_keyframe for packet in packets]),
        ),
        data=b"".join(units),
    )


def _compare(
    gop: Gop,
    samples: dict[int, SourcePicture],
    decoder: GopDecoder,
    fmt: StreamFormat,
    fidelity: Fidelity,
) -> None:
    """Compare a GOP's sampled frames with their source, and let go of the source."""
    stop = gop.first_frame + gop.num_frames
    numbers = [number for number in samples if gop.first_frame <= number < stop]
    places = np.array(numbers, np.int64) - gop.first_frame
    decoded = decoder.decode(gop.packets, gop.data, places, fmt)
    for number in numbers:
        frame = without_tags(decoded[number - gop.first_frame])
        shown = rgb_view(to_rgb24(frame, tags_of(fmt), VideoReformatter(), EXACT))
        fidelity.compare(samples.pop(number).rgb(), shown[: fmt.height_px, : fmt.width_px])
