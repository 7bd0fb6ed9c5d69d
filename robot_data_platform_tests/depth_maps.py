"""Depth maps for tests: every one carries its own number, and has values that 8 bits would lose."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import av
import numpy as np
from av.video.stream import VideoStream

from robot_data_platform.core.recording import CameraStream, DepthPicture, PictureSequence

HEIGHT, WIDTH = 48, 64
FARTHEST_MM = 10_000


def depth_map(number: int, height: int = HEIGHT, width: int = WIDTH) -> DepthPicture:
    """Return a ramp from 0 to 10,000 mm that turns with the number, and a patch of no measurement.

    The first pixel is the number.
    """
    ramp = np.linspace(0, FARTHEST_MM, height * width).round().astype(np.uint16)
    depth = np.roll(ramp, 131 * number).reshape(height, width)
    depth[height // 4 : height // 2, width // 4 : width // 2] = 0
    depth[0, 0] = number
    return depth


def depth_maps(num_frames: int, first: int = 0) -> list[DepthPicture]:
    """Return some depth maps, in order."""
    return [depth_map(number) for number in range(first, first + num_frames)]


def depth_stream(pictures: list[DepthPicture], name: str = "depth") -> CameraStream:
    """Return depth maps as a camera's stream at 30 Hz."""

    def read() -> Iterator[DepthPicture]:
        return iter(pictures)

    sequence = PictureSequence(num_frames=len(pictures), read=read, is_depth=True)
    times = np.arange(len(pictures), dtype=np.int64) * 33_333_333
    return CameraStream(name=name, timestamp_ns=times, pictures=sequence)


def write_depth_video(
    path: Path,
    pictures: list[DepthPicture],
    codec: str = "ffv1",
    pix_fmt: str = "gray16le",
    options: dict[str, str] | None = None,
) -> Path:
    """Write depth maps as a video whose samples are their values."""
    with av.open(str(path), "w") as container:
        stream = container.add_stream(codec, rate=30, options=options or {})
        assert isinstance(stream, VideoStream)
        stream.height, stream.width = pictures[0].shape
        stream.pix_fmt = pix_fmt
        for number, depth in enumerate(pictures):
            frame = av.VideoFrame(stream.width, stream.height, pix_fmt)
            plane = frame.planes[0]
            rows = np.frombuffer(memoryview(plane), np.uint8).reshape(-1, plane.line_size)
            values = depth.astype(">u2" if pix_fmt.endswith("be") else "<u2")
            rows[: stream.height, : 2 * stream.width] = values.view(np.uint8)
            frame.pts = number
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return path
