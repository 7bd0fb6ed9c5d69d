"""Exactly the shown frames of a stretch of a video file, decoded, in presentation order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING

import av
import numpy as np

from robot_data_platform.core.recording import VideoSegment
from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform.video.container import open_video, unreadable
from robot_data_platform.video.packet_table import PacketTable, index_packets, packets_from

if TYPE_CHECKING:
    from av.video.stream import VideoStream


def read_frames(segment: VideoSegment) -> Iterator[av.VideoFrame]:
    """Yield the segment's frames as the decoder gives them: neither turned nor converted.

    Frames are told apart by their presentation time, and decoding starts at the last packet from
    which all of them are known to be decodable. Where times can't be believed the whole file is
    decoded and its frames are counted.

    Raises
    ------
    DataFaultError
        ``video-too-short``: the file shows fewer frames than the segment refers to.
        ``video-unreadable``: a frame in the middle is missing, or shown before the one it follows.
    """
    check_length(segment)
    table = index_packets(segment.path)
    yield from _read_timed(segment, table) if table.is_timed else _read_counted(segment, table)


def check_length(segment: VideoSegment) -> None:
    """Refuse a segment that refers to frames for which its file has no packets.

    Raises
    ------
    DataFaultError
        ``video-too-short``, with the number of frames that can be decoded.
    """
    table = index_packets(segment.path)
    num_frames = len(table.shown_packets()) if table.is_timed else len(table.pts_ticks)
    if segment.first_frame < 0 or segment.first_frame + segment.num_frames > num_frames:
        raise _too_short(segment, table)


def decode_tolerantly(
    stream: VideoStream, packets: Iterable[av.Packet[VideoStream]]
) -> Iterator[av.VideoFrame]:
    """Yield what comes out of a decoder; a packet that it refuses yields nothing."""
    for packet in packets:
        try:
            yield from stream.decode(packet)
        except (av.InvalidDataError, av.EOFError):
            continue


def count_shown_frames(path: str) -> int:
    """Return how many frames a decoder shows of a file, by decoding all of it."""
    with open_video(path) as (container, stream):
        return sum(1 for _ in decode_tolerantly(stream, container.demux(stream)))


def _read_timed(segment: VideoSegment, table: PacketTable) -> Iterator[av.VideoFrame]:
    packets = table.shown_packets()[segment.first_frame :][: segment.num_frames]
    expected = iter(table.pts_ticks[packets].tolist())
    first, num_read = int(table.pts_ticks[packets[0]]), 0
    with open_video(segment.path) as (container, stream):
        wanted_packets = packets_from(container, stream, table, _start_packet(table, packets))
        for frame in decode_tolerantly(stream, wanted_packets):
            if frame.pts is None or frame.pts < first:
                continue
            if frame.pts != next(expected):
                raise _frame_missing(segment, num_read)
            num_read += 1
            yield frame
            if num_read == segment.num_frames:
                return
    raise _too_short(segment, table)


def _start_packet(table: PacketTable, wanted: np.ndarray) -> int:
    """Return the last packet from which a decoder gets all wanted frames right.

    Proven entry points where the codec's packets are parsed; else key packets, shown no later
    than the first wanted frame.
    """
    can_start = table.is_entry if table.is_entry.any() else table.is_key
    is_before = table.pts_ticks[: wanted.min() + 1] <= table.pts_ticks[wanted[0]]
    starts = np.flatnonzero(can_start[: wanted.min() + 1] & is_before)
    return int(starts[-1]) if len(starts) else 0


def _read_counted(segment: VideoSegment, table: PacketTable) -> Iterator[av.VideoFrame]:
    stop, num_read = segment.first_frame + segment.num_frames, 0
    with open_video(segment.path) as (container, stream):
        frames = decode_tolerantly(stream, container.demux(stream))
        for frame in islice(frames, segment.first_frame, stop):
            num_read += 1
            yield frame
    if num_read < segment.num_frames:
        raise _too_short(segment, table)


def _too_short(segment: VideoSegment, table: PacketTable) -> DataFaultError:
    stop = segment.first_frame + segment.num_frames
    num_shown, num_packets = count_shown_frames(segment.path), len(table.pts_ticks)
    return DataFaultError(
        f"Video {segment.path!r} is too short: got {num_shown} frames that can be shown (of "
        f"{num_packets} packets), expected {stop} for frames {segment.first_frame} to {stop - 1}. "
        "Copy the whole file again from the recorder, or correct the episode's length.",
        kind=ErrorKind.VIDEO_TOO_SHORT,
        path=segment.path,
        num_frames=num_shown,
        num_frames_expected=stop,
        num_packets=num_packets,
    )


def _frame_missing(segment: VideoSegment, num_read: int) -> DataFaultError:
    frame = segment.first_frame + num_read
    return unreadable(segment.path, f"no frame {frame} from the decoder, but one after it")
