"""Every packet of a video file, in decode order, and which of their frames are shown."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from robot_data_platform.video.bitstream import COPYABLE_CODECS, is_entry
from robot_data_platform.video.container import open_video, unreadable

if TYPE_CHECKING:
    import av
    from av.container import InputContainer
    from av.video.stream import VideoStream

NO_PTS = np.iinfo(np.int64).min
"""Stands for a time stamp that the container doesn't give."""

CACHED_FILES = 8
"""Files whose table is kept: episodes that share a file are cut one after the other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PacketTable:
    """Packets of one stream in decode order; arrays of length P."""

    pts_ticks: npt.NDArray[np.int64]
    """(P,) presentation time in ticks of ``time_base``; ``NO_PTS`` = not given."""
    dts_ticks: npt.NDArray[np.int64]
    """(P,) decoding time, the same way."""
    size_bytes: npt.NDArray[np.int32]
    is_key: npt.NDArray[np.bool_]
    """(P,) the container's key flag, whatever it is worth."""
    is_discard: npt.NDArray[np.bool_]
    """(P,) whether an edit list keeps the frame from being shown."""
    is_entry: npt.NDArray[np.bool_]
    """(P,) key packets whose bytes say that an empty decoder may start there; False where the
    codec is not one that is parsed."""
    is_cut_off: npt.NDArray[np.bool_]
    """(P,) whether the file ends before the packet does."""
    time_base: Fraction
    """Seconds per tick."""
    has_reordering: bool
    """Whether the codec's header announces frames that are shown in another order."""

    @property
    def is_timed(self) -> bool:
        """Whether presentation times can be believed to tell the order of the frames.

        They can't where some are missing or equal, or where frames are reordered and yet each is
        said to be shown when it is decoded.
        """
        is_copied = self.has_reordering and np.array_equal(self.pts_ticks, self.dts_ticks)
        is_complete = len(self.pts_ticks) > 0 and self.pts_ticks.min() > NO_PTS
        is_unique = len(np.unique(self.pts_ticks)) == len(self.pts_ticks)
        return is_complete and is_unique and not is_copied

    def shown_packets(self) -> npt.NDArray[np.int64]:
        """Return the packets (decode positions) of the shown frames, in presentation order.

        Not shown: what an edit list discards, and what precedes the first key packet in decode or
        presentation order, since a decoder has nothing to build it on.
        """
        if not self.is_key.any():
            return np.empty(0, np.int64)
        first_key = int(self.is_key.argmax())
        is_shown = ~self.is_discard & (self.pts_ticks >= self.pts_ticks[first_key])
        is_shown[:first_key] = False
        shown = np.flatnonzero(is_shown)
        return shown[np.argsort(self.pts_ticks[shown], kind="stable")]


def index_packets(path: str) -> PacketTable:
    """Return the packet table of a file's first video stream; reads it through, decodes nothing.

    Raises
    ------
    DataFaultError
        ``video-unreadable``.
    """
    try:
        stat = Path(path).stat()
    except OSError as err:
        raise unreadable(path, f"{err.strerror!r}") from err
    return _index_packets(path, stat.st_size, stat.st_mtime_ns)


@lru_cache(maxsize=CACHED_FILES)
def _index_packets(path: str, size_bytes: int, mtime_ns: int) -> PacketTable:
    """Return the table; size and time are in the key so that a changed file is read again."""
    with open_video(path) as (container, stream):
        codec = stream.codec.canonical_name
        extradata = stream.codec_context.extradata or b""
        rows = [_row(packet, codec, extradata) for packet in container.demux(stream) if packet.size]
        has_reordering = stream.codec_context.has_b_frames
        time_base = stream.time_base or Fraction(1, 1)
    columns = np.array(rows, dtype=np.int64).reshape(-1, 7).T
    return PacketTable(
        pts_ticks=columns[0],
        dts_ticks=columns[1],
        size_bytes=columns[2].astype(np.int32),
        is_key=columns[3].astype(np.bool_),
        is_discard=columns[4].astype(np.bool_),
        is_entry=columns[5].astype(np.bool_),
        is_cut_off=columns[6].astype(np.bool_),
        time_base=time_base,
        has_reordering=has_reordering,
    )


def _row(packet: av.Packet[VideoStream], codec: str, extradata: bytes) -> tuple[int, ...]:
    may_be_entry = packet.is_keyframe and codec in COPYABLE_CODECS
    return (
        NO_PTS if packet.pts is None else packet.pts,
        NO_PTS if packet.dts is None else packet.dts,
        packet.size,
        packet.is_keyframe,
        packet.is_discard,
        may_be_entry and is_entry(codec, bytes(packet), extradata),
        packet.is_corrupt,
    )


def packets_from(
    container: InputContainer, stream: VideoStream, table: PacketTable, start: int
) -> Iterator[av.Packet[VideoStream]]:
    """Yield the stream's packets from decode position ``start`` on, then the empty last one."""
    # Only MP4's index is exact; elsewhere the file is read up to the packet, and not decoded.
    if start and container.format.name.startswith("mov"):
        container.seek(int(table.dts_ticks[start]), stream=stream)
    packets = container.demux(stream)
    for packet in packets:
        if not packet.size or packet.pts == table.pts_ticks[start]:
            yield packet
            break
    yield from packets
