"""Cut a video file into GOPs without decoding it: the source's own packets, bit for bit.

Allowed where every stretch between two entry points is closed and short. An entry point is proven
by its bytes (H.264 IDR, HEVC IRAP, AV1 shown key frame) and by time: no packet after it in decode
order is shown before it, and none before it is shown after it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice, pairwise
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from av.bitstream import BitStreamFilterContext

from robot_data_platform.core.gop import Gop, PacketIndex, StreamFormat
from robot_data_platform.core.recording import VideoSegment
from robot_data_platform.video.bitstream import (
    COPYABLE_CODECS,
    is_h264_reference,
    nal_length_size,
)
from robot_data_platform.video.container import open_video
from robot_data_platform.video.packet_table import PacketTable, index_packets, packets_from
from robot_data_platform.video.probe import VideoFacts, probe_video
from robot_data_platform.video.settings import GopSettings

if TYPE_CHECKING:
    import av
    from av.video.stream import VideoStream

TO_ANNEX_B = {"h264": "h264_mp4toannexb", "hevc": "hevc_mp4toannexb"}
"""Bitstream filters that put start codes and, before each entry, the parameter sets."""

FIRST_X264_WITH_RIGHT_444 = 151
"""Before this build x264 coded 4:4:4 wrongly; decoders only make up for it after having seen the
encoder's name, which is in the stream's first packet and nowhere else."""

_X264_BUILD = re.compile(rb"x264 - core (\d+)")


def can_copy(segment: VideoSegment, settings: GopSettings) -> str | None:
    """Return why a segment can't be copied, or None where it can.

    Raises
    ------
    DataFaultError
        ``video-unreadable``.
    """
    facts, table = probe_video(segment.path), index_packets(segment.path)
    return (
        _codec_reason(segment.path, facts)
        or _order_reason(table)
        or _cut_reason(segment, table, settings)
    )


def copied_format(facts: VideoFacts) -> StreamFormat:
    """Return the format of a copied stream."""
    return StreamFormat(
        codec=facts.codec,
        profile="copy",
        width_px=facts.width_px,
        height_px=facts.height_px,
        coded_width_px=facts.width_px,
        coded_height_px=facts.height_px,
        pix_fmt=facts.pix_fmt,
        color_range=facts.tags.color_range,
        color_space=facts.tags.color_space,
        color_primaries=facts.tags.color_primaries,
        color_trc=facts.tags.color_trc,
        extradata=b"" if facts.codec in TO_ANNEX_B else facts.extradata,
    )


def copy_gops(segment: VideoSegment, settings: GopSettings) -> Iterator[Gop]:
    """Yield a segment's packets, whole closed GOPs together up to the budget of frames.

    Only for a segment that ``can_copy`` has no reason against.
    """
    table = index_packets(segment.path)
    run = _packets_of(segment, table)
    starts = _blob_starts(table, run, settings.copy_budget_frames)
    with open_video(segment.path) as (container, stream):
        codec = stream.codec.canonical_name
        packets = packets_from(container, stream, table, int(run[0]))
        units = _annex_b(packets, BitStreamFilterContext(TO_ANNEX_B.get(codec, "null"), stream))
        for gop_index, (start, stop) in enumerate(pairwise([*starts, len(run)])):
            blob = list(islice(units, stop - start))
            yield _gop(blob, gop_index, start, table, run[start:stop], codec)


def _codec_reason(path: str, facts: VideoFacts) -> str | None:
    if facts.codec not in COPYABLE_CODECS:
        return f"codec {facts.codec} is none of {', '.join(COPYABLE_CODECS)}"
    if not facts.orientation.is_upright:
        return "pictures must be turned for display"
    if facts.codec in TO_ANNEX_B and not nal_length_size(facts.codec, facts.extradata):
        return "the container has no parameter sets of its own"
    if facts.codec == "h264" and facts.pix_fmt.startswith("yuv444"):
        return _old_x264_reason(path)
    return None


def _old_x264_reason(path: str) -> str | None:
    with open_video(path) as (container, stream):
        found = _X264_BUILD.search(bytes(next(container.demux(stream))))
    if found and int(found[1]) < FIRST_X264_WITH_RIGHT_444:
        return f"x264 build {int(found[1])} codes 4:4:4 in its own way"
    return None


def _order_reason(table: PacketTable) -> str | None:
    return None if table.is_timed else "packets have no trustworthy presentation times"


def _cut_reason(segment: VideoSegment, table: PacketTable, settings: GopSettings) -> str | None:
    run = _packets_of(segment, table)
    if not np.array_equal(run, np.arange(run[0], run[0] + len(run))):
        return "packets of other episodes or discarded ones lie between the segment's"
    if table.is_cut_off[run].any():
        return "the file ends within a packet"
    if not table.is_entry[run[0]]:
        return f"frame {segment.first_frame} is no proven entry point"
    entries = np.flatnonzero(table.is_entry[run])
    gops = [*pairwise([*entries.tolist(), len(run)])]
    longest = max(stop - start for start, stop in gops)
    if longest > settings.copy_budget_frames:
        return f"a GOP has {longest} frames, more than {settings.copy_budget_frames}"
    return None if _are_closed(table.pts_ticks[run], gops) else "GOPs are not closed"


def _are_closed(pts_ticks: npt.NDArray[np.int64], gops: list[tuple[int, int]]) -> bool:
    shown = [pts_ticks[start:stop] for start, stop in gops]
    starts_first = all(times.min() == times[0] for times in shown)
    return starts_first and all(a.max() < b.min() for a, b in pairwise(shown))


def _packets_of(segment: VideoSegment, table: PacketTable) -> npt.NDArray[np.int64]:
    """Return the decode positions of the segment's frames, in decode order."""
    shown = table.shown_packets()[segment.first_frame :][: segment.num_frames]
    return np.sort(shown)


def _blob_starts(table: PacketTable, run: npt.NDArray[np.int64], budget_frames: int) -> list[int]:
    """Return where blobs start in the run: each takes as many whole GOPs as fit."""
    entries = np.flatnonzero(table.is_entry[run]).tolist()
    starts = [0]
    for entry, stop in pairwise([*entries, len(run)]):
        if stop - starts[-1] > budget_frames:
            starts.append(entry)
    return starts


def _annex_b(
    packets: Iterator[av.Packet[VideoStream]], to_annex_b: BitStreamFilterContext
) -> Iterator[bytes]:
    for packet in packets:
        if packet.size:
            yield from map(bytes, to_annex_b.filter(packet))


def _gop(
    units: list[bytes],
    gop_index: int,
    first_frame: int,
    table: PacketTable,
    positions: npt.NDArray[np.int64],
    codec: str,
) -> Gop:
    is_reference = [codec != "h264" or is_h264_reference(unit) for unit in units]
    display_index = np.empty(len(units), np.int32)
    display_index[np.argsort(table.pts_ticks[positions])] = np.arange(len(units))
    return Gop(
        gop_index=gop_index,
        first_frame=first_frame,
        num_frames=len(units),
        packets=PacketIndex(
            size_bytes=np.array([len(unit) for unit in units], np.int32),
            display_index=display_index,
            is_reference=np.array(is_reference),
            is_key=table.is_entry[positions],
        ),
        data=b"".join(units),
    )
