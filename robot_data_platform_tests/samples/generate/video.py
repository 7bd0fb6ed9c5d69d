"""MP4 files as recorders write them: H.264 with long GOPs, AV1 with GOPs of two frames."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import av
import numpy as np
from av.video import VideoStream

from robot_data_platform_tests.samples.generate.camera import Picture

if TYPE_CHECKING:
    from av.container import OutputContainer

# One thread and no macroblock tree: otherwise x264 gives other bytes in another process.
H264 = {"preset": "slow", "bf": "3", "x264-params": "mbtree=0:threads=1"}
AV1 = {"g": "2", "preset": "10", "svtav1-params": "lp=1"}


def write_h264(path: Path, pictures: Iterable[Picture], *, fps: int, crf: int) -> int:
    """Write pictures one after the other and return how many; B-frames, key frames far apart."""
    return _encode(path, pictures, fps=fps, codec="libx264", options={**H264, "crf": str(crf)})


def write_av1(path: Path, pictures: Iterable[Picture], *, fps: int, crf: int) -> int:
    """Write pictures one after the other and return how many; every second one is a key frame."""
    return _encode(path, pictures, fps=fps, codec="libsvtav1", options={**AV1, "crf": str(crf)})


def _encode(
    path: Path, pictures: Iterable[Picture], *, fps: int, codec: str, options: dict[str, str]
) -> int:
    count = 0
    with av.open(str(path), "w") as container:
        stream = container.add_stream(codec, rate=fps, options=options)
        assert isinstance(stream, VideoStream)
        stream.pix_fmt = "yuv420p"
        stream.codec_context.thread_count = 1
        for picture in pictures:
            if count == 0:
                stream.height, stream.width = picture.shape[:2]
            frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(picture), format="rgb24")
            frame.pts, frame.time_base = count, Fraction(1, fps)
            container.mux(stream.encode(frame))
            count += 1
        container.mux(stream.encode(None))
    return count


def concatenate(parts: Sequence[Path], whole: Path) -> list[float]:
    """Copy the packets of all parts into one file; return where each starts, and the end, in s.

    The starts are a running sum of container durations, as LeRobot computes them.
    """
    edges_s = [0.0]
    with av.open(str(parts[0])) as first, av.open(str(whole), "w") as output:
        stream = output.add_stream_from_template(first.streams.video[0], opaque=True)
        for part in parts:
            edges_s.append(edges_s[-1] + _copy_packets(part, output, stream, edges_s[-1]))
    return edges_s


def _copy_packets(
    part: Path, output: OutputContainer, stream: VideoStream, start_s: float
) -> float:
    """Append a file's packets, moved to ``start_s``; return the file's duration in seconds."""
    with av.open(str(part)) as source:
        origin = source.streams.video[0]
        assert origin.time_base is not None
        assert origin.duration is not None
        shift = round(start_s / origin.time_base)
        for packet in source.demux(origin):
            if packet.pts is None or packet.dts is None:
                continue  # the demuxer ends with an empty packet
            packet.pts, packet.dts = packet.pts + shift, packet.dts + shift
            packet.stream = stream
            output.mux(packet)
        return float(origin.duration * origin.time_base)
