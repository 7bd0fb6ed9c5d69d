"""Open a video file: plain local containers only, FFmpeg's words in our errors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import av

from robot_data_platform.errors import DataFaultError, ErrorKind

if TYPE_CHECKING:
    from av.container import InputContainer
    from av.video.stream import VideoStream

CONTAINERS = "mov,matroska,avi,mpegts,mpeg,h264,hevc,obu,ivf,mjpeg,m4v,flv,asf"
"""FFmpeg's names of the containers that are read. Playlists and the like are not: they make
FFmpeg open other files."""


@contextmanager
def open_video(path: str) -> Iterator[tuple[InputContainer, VideoStream]]:
    """Open a file and its first video stream, set to decode in one thread.

    Raises
    ------
    DataFaultError
        ``video-unreadable``: no readable container or video stream, here or later in the block.
    """
    options = {"format_whitelist": CONTAINERS, "protocol_whitelist": "file"}
    try:
        # An absolute path can't be taken for a protocol such as "concat:".
        with av.open(
            str(Path(path).absolute()), options=options, metadata_errors="replace"
        ) as container:
            yield container, _video_stream(container, path)
    except av.FFmpegError as err:
        raise unreadable(path, f"FFmpeg said {err.strerror!r}") from err


def unreadable(path: str, got: str) -> DataFaultError:
    """Return the error for a file whose video can't be read."""
    return DataFaultError(
        f"Video {path!r} can't be read: got {got}, expected a whole video file. "
        "Copy it again from the recorder, or drop the episode.",
        kind=ErrorKind.VIDEO_UNREADABLE,
        path=path,
    )


def _video_stream(container: InputContainer, path: str) -> VideoStream:
    pictures = av.stream.Disposition.attached_pic
    streams = [s for s in container.streams.video if not s.disposition & pictures]
    if not streams:
        raise unreadable(path, "no video stream")
    # PyAV leaves the context out where it has no decoder, whatever its types say.
    if getattr(streams[0], "codec_context", None) is None:
        raise unreadable(path, "a video codec without a decoder")
    streams[0].codec_context.thread_count = 1
    return streams[0]
