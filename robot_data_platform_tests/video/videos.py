"""Small video files for tests, written with PyAV, of pictures that carry their own number."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
from av.video.reformatter import ColorRange, Colorspace
from av.video.stream import VideoStream

from robot_data_platform.core.gop import Gop, StreamFormat
from robot_data_platform.core.recording import (
    CameraStream,
    Picture,
    PictureSequence,
    VideoSegment,
)
from robot_data_platform.testing.pictures import numbered_picture, read_number
from robot_data_platform.video.decode import GopDecoder

HEIGHT, WIDTH = 48, 64

SHORT_GOPS: Mapping[str, Mapping[str, str]] = {
    "libx264": {"g": "4", "keyint_min": "4", "sc_threshold": "0", "bf": "0"},
    "libx265": {
        "x265-params": "keyint=4:min-keyint=4:scenecut=0:open-gop=0:bframes=2:log-level=none"
    },
    "libsvtav1": {"g": "2", "preset": "12", "crf": "20"},
}
"""Options by encoder that give closed GOPs of at most four frames."""


def write_video(
    path: Path,
    num_frames: int = 30,
    codec: str = "libx264",
    options: Mapping[str, str] | None = None,
    pix_fmt: str = "yuv420p",
    size: tuple[int, int] = (HEIGHT, WIDTH),
    first_pts: int = 0,
    rotation: int | None = None,
    is_mirrored: bool = False,
    is_faststart: bool = False,
    matrix: Colorspace = Colorspace.ITU601,
    color_range: int = 0,
    color_space: int = 2,
    picture: Callable[[int], Picture] | None = None,
) -> Path:
    """Write pictures 0, 1, ... as a video, with tags as given and samples that agree with them."""
    height, width = size
    draw = picture or (lambda number: numbered_picture(number, height, width))
    container_options = {"movflags": "faststart"} if is_faststart else {}
    is_full = color_range == 2 or pix_fmt.startswith("yuvj")
    with av.open(str(path), "w", options=container_options) as container:
        stream = container.add_stream(codec, rate=30, options=dict(options or {}))
        assert isinstance(stream, VideoStream)
        stream.height, stream.width, stream.pix_fmt = height, width, pix_fmt
        stream.codec_context.color_range = color_range
        stream.codec_context.colorspace = color_space
        if rotation is not None:
            stream.set_display_rotation(rotation, hflip=is_mirrored)
        for number in range(num_frames):
            frame = av.VideoFrame.from_ndarray(draw(number), format="rgb24").reformat(
                format=pix_fmt,
                dst_colorspace=matrix,
                src_color_range=ColorRange.JPEG,
                dst_color_range=ColorRange.JPEG if is_full else ColorRange.MPEG,
            )
            frame.pts, frame.time_base = first_pts + number, Fraction(1, 30)
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return path


def rewrite_packets(
    source: Path,
    target: Path,
    change: Callable[[av.Packet[VideoStream], int], None] = lambda packet, index: None,
    skip: int = 0,
) -> Path:
    """Copy a video's packets but the first ``skip`` to another file, each changed on its way."""
    with av.open(str(source)) as reader, av.open(str(target), "w") as writer:
        stream = reader.streams.video[0]
        copy = writer.add_stream_from_template(stream)
        packets = (packet for packet in reader.demux(stream) if packet.size)
        for index, packet in enumerate(packets):
            if index < skip:
                continue
            change(packet, index)
            packet.stream = copy
            writer.mux(packet)
    return target


def shift_by(seconds: Fraction) -> Callable[[av.Packet[VideoStream], int], None]:
    """Return a change that moves every packet's times to earlier."""

    def shift(packet: av.Packet[VideoStream], index: int) -> None:
        ticks = int(seconds / packet.time_base)
        assert packet.pts is not None
        assert packet.dts is not None
        packet.pts, packet.dts = packet.pts - ticks, packet.dts - ticks

    return shift


def packet_bytes(path: Path) -> list[bytes]:
    """Return the packets of a video, as they are in the file."""
    with av.open(str(path)) as container:
        return [bytes(p) for p in container.demux(container.streams.video[0]) if p.size]


def decoded_rgb(path: Path) -> list[Picture]:
    """Return all pictures of a video as PyAV gives them."""
    with av.open(str(path)) as container:
        return [rgb_of(frame) for frame in container.decode(video=0)]


def rgb_of(frame: av.VideoFrame) -> Picture:
    """Return a frame as PyAV converts it."""
    return np.asarray(frame.to_ndarray(format="rgb24"), np.uint8)


def segment_stream(path: Path | str, first_frame: int, num_frames: int) -> CameraStream:
    """Return a camera stream that refers to frames of a file."""
    segment = VideoSegment(path=str(path), first_frame=first_frame, num_frames=num_frames)
    return CameraStream(name="top", timestamp_ns=_times(num_frames), pictures=segment)


def picture_stream(
    pictures: Iterable[Picture] | int, size: tuple[int, int] = (HEIGHT, WIDTH)
) -> CameraStream:
    """Return a camera stream of pictures, or of so many numbered ones."""
    if isinstance(pictures, int):
        pictures = [numbered_picture(number, *size) for number in range(pictures)]
    drawn = list(pictures)
    sequence = PictureSequence(num_frames=len(drawn), read=lambda: iter(drawn))
    return CameraStream(name="top", timestamp_ns=_times(len(drawn)), pictures=sequence)


def decode_all(gops: Iterable[Gop], fmt: StreamFormat) -> Iterator[Picture]:
    """Yield every frame of GOPs as RGB; each GOP is decoded by an empty decoder."""
    for gop in gops:
        frames = np.arange(gop.num_frames, dtype=np.int64)
        yield from GopDecoder().decode_rgb(gop.packets, gop.data, frames, fmt)


def numbers_of(gops: Iterable[Gop], fmt: StreamFormat) -> list[int]:
    """Return the numbers that the frames of GOPs show."""
    return [read_number(picture) for picture in decode_all(gops, fmt)]


def psnr_db(a: Picture, b: Picture) -> float:
    """Return the peak signal-to-noise ratio of two pictures, in dB."""
    mean_square = float(np.square(a.astype(np.float64) - b).mean())
    return 10 * float(np.log10(255**2 / max(mean_square, 1e-9)))


def _times(num_frames: int) -> np.ndarray:
    return np.arange(num_frames, dtype=np.int64) * 33_333_333
