"""Cameras of a rawlog episode: a video and the time of every shown frame."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robot_data_platform.core.recording import CameraStream, Int64Array, VideoSegment
from robot_data_platform.core.source import Source
from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform.formats.data_files import data_path, unreadable
from robot_data_platform.formats.json_files import read_json
from robot_data_platform.formats.timing import check_increasing

_INT64 = range(-(1 << 63), 1 << 63)


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedCamera:
    """One camera and the clock that its times are on."""

    stream: CameraStream
    clock: str
    """As the times name it."""


def read_camera(
    source: Source, name: str, video: str | None, timestamps: str | None, subject: str
) -> TimedCamera:
    """Return one camera; the video is not opened.

    Raises
    ------
    DataFaultError
        ``missing-file``: the video or its times are absent; ``unreadable-file``: the times are no
        list of int64; ``time-not-increasing``.
    """
    if video is None or timestamps is None:
        missing = f"{name}.mp4" if video is None else f"{name}.timestamps.json"
        raise DataFaultError(
            f"{subject} camera {name!r} lacks a file: got no 'cameras/{missing}', expected a video "
            "and its times. Upload both.",
            kind=ErrorKind.MISSING_FILE,
            camera=name,
        )
    clock, times = _times(source, timestamps)
    check_increasing(times, f"{subject} camera {name!r}")
    pictures = VideoSegment(
        path=str(data_path(source, video)), first_frame=0, num_frames=len(times), is_last=True
    )
    stream = CameraStream(name=name, timestamp_ns=times, pictures=pictures)
    return TimedCamera(stream=stream, clock=clock)


def _times(source: Source, relative: str) -> tuple[str, Int64Array]:
    content = read_json(source, relative)
    clock, times = content.get("clock"), content.get("timestamp_ns")
    if not isinstance(clock, str) or not isinstance(times, list):
        got = f"got keys {sorted(content)}, expected a text `clock` and a list `timestamp_ns`"
        raise unreadable(source, relative, got)
    for frame, time in enumerate(times):
        if type(time) is not int or time not in _INT64:
            got = f"got {time!r:.40} for frame {frame}, expected int64 nanoseconds"
            raise unreadable(source, relative, got)
    return clock, np.array(times, dtype=np.int64)
