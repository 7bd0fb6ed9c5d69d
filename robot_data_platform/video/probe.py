"""What a video file holds: claims of its header beside what its packets say."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from robot_data_platform.core.gop import is_depth_pix_fmt
from robot_data_platform.video.colour import MATRICES, ColourTags, split_full_range
from robot_data_platform.video.container import open_video, unreadable
from robot_data_platform.video.frames import decode_tolerantly
from robot_data_platform.video.orientation import Orientation, orientation_of
from robot_data_platform.video.packet_table import PacketTable, index_packets

if TYPE_CHECKING:
    import av
    from av.video.stream import VideoStream


@dataclass(frozen=True, slots=True, kw_only=True)
class VideoFacts:
    """Facts of a file's first video stream; sizes and tags are those of its first frame."""

    container: str
    """FFmpeg's name of the container."""
    codec: str
    """FFmpeg's codec name, read from the stream and not from any metadata beside it."""
    width_px: int
    """Width as coded, before the picture is turned for display."""
    height_px: int
    pix_fmt: str
    """Pixel format without the deprecated ``yuvj`` names: full range is in ``tags``."""
    tags: ColourTags
    """Its colour tags."""
    orientation: Orientation
    """How pictures must be turned before they are shown."""
    time_base: Fraction
    """Seconds per tick."""
    rate_hz_from_header: Fraction | None
    num_frames_from_header: int
    """Frames that the header promises; 0 = it doesn't say."""
    num_packets: int
    num_frames: int
    """Frames that are shown, by the packets; a damaged packet may still hold none."""
    num_key_frames: int
    first_pts_ticks: int | None
    """Time of the first shown frame in ticks; None where times are missing or can't be right."""
    extradata: bytes
    """The codec's configuration record."""

    @property
    def is_depth(self) -> bool:
        """Whether its pictures are depth maps: grey of 9 to 16 bits."""
        return is_depth_pix_fmt(self.pix_fmt)


def probe_video(path: str) -> VideoFacts:
    """Return the facts of a video file; reads it through and decodes its first frame only.

    Raises
    ------
    DataFaultError
        ``video-unreadable``: no video, nothing in it that can be decoded, to be shown at an angle
        that is no quarter turn, or in colours that can't be converted.
    """
    table = index_packets(path)
    with open_video(path) as (container, stream):
        first = next(decode_tolerantly(stream, container.demux(stream)), None)
        if first is None:
            raise unreadable(path, f"no picture (the header promises {stream.frames} frames)")
        return _facts(path, container.format.name, stream, first, table)


def _facts(
    path: str, container: str, stream: VideoStream, first: av.VideoFrame, table: PacketTable
) -> VideoFacts:
    shown = table.shown_packets()
    pix_fmt, color_range = split_full_range(first.format.name, int(first.color_range))
    orientation = orientation_of(first)
    if orientation is None:
        turn = f"some {first.rotation} degrees, which is no quarter turn"
        raise unreadable(path, f"pictures to be turned by {turn}")
    if int(first.colorspace) not in MATRICES:
        raise unreadable(path, f"colours of matrix {int(first.colorspace)}, which isn't known")
    return VideoFacts(
        container=container,
        codec=stream.codec.canonical_name,
        width_px=first.width,
        height_px=first.height,
        pix_fmt=pix_fmt,
        tags=_tags(first, color_range),
        orientation=orientation,
        time_base=table.time_base,
        rate_hz_from_header=stream.average_rate,
        num_frames_from_header=stream.frames,
        num_packets=len(table.pts_ticks),
        num_frames=len(shown) if table.is_timed else len(table.pts_ticks),
        num_key_frames=int(table.is_key.sum()),
        first_pts_ticks=int(table.pts_ticks[shown[0]]) if table.is_timed else None,
        extradata=stream.codec_context.extradata or b"",
    )


def _tags(frame: av.VideoFrame, color_range: int) -> ColourTags:
    return ColourTags(
        color_range=color_range,
        color_space=int(frame.colorspace),
        color_primaries=int(frame.color_primaries),
        color_trc=int(frame.color_trc),
    )
