"""Frames at the end of a video that no row refers to, counted once the video was cut."""

from __future__ import annotations

from collections.abc import Iterator

from robot_data_platform.core.finding import Finding, Severity
from robot_data_platform.core.recording import CameraStream, VideoSegment
from robot_data_platform.video.cut import StreamReport


def frames_after_the_last_row(stream: CameraStream, report: StreamReport) -> Iterator[Finding]:
    """Yield a finding where a video goes on after the last row that any episode has in it."""
    segment = stream.pictures
    if not isinstance(segment, VideoSegment) or not segment.is_last:
        return
    end = segment.first_frame + segment.num_frames
    extra = report.num_source_frames - end
    if extra > 0:
        yield Finding(
            rule="video_frames_are_referenced",
            severity=Severity.WARN,
            message=(
                f"{extra} frames at the end of the video of camera {stream.name!r} belong to no "
                f"row: got {report.num_source_frames} frames, expected {end}. They were left out."
            ),
            where=f"camera={stream.name}",
            value=extra,
            threshold=0,
            unit="frames",
        )
