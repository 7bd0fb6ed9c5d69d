"""The floor: libavcodec on exactly the packets that a batch needs, and the colour conversion.

No storage, no checks, no batch: what no reader of these bytes can go below on this machine. It
calls PyAV itself, on as many threads as the reader, and knows of the platform only what is stored.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

import av
import numpy as np
from av.video.codeccontext import VideoCodecContext
from av.video.reformatter import Interpolation, VideoReformatter

from robot_data_platform.core.gop import PacketIndex, needed_packets
from robot_data_platform.core.gop_rows import PACKET_COLUMNS, packet_index
from robot_data_platform.core.identity import gop_key
from robot_data_platform.core.schema import CAMERA_PREFIX
from robot_data_platform.storage.lake import Lake
from robot_data_platform_tests.benchmarks.scale import CAMERAS

if TYPE_CHECKING:
    from av.stream import Stream


@dataclass(frozen=True, slots=True)
class _Work:
    """The packets of one GOP that some pictures need, ready for the decoder."""

    packets: list[av.Packet[Stream]]
    wanted: frozenset[int]


class Floor:
    """Every packet of a lake in memory, and a decoder a thread."""

    def __init__(self, lake: str, dataset: str) -> None:
        gops = Lake(lake).open(dataset, "gops")
        table = gops.read(["gop_key", *PACKET_COLUMNS], with_row_id=True)
        blobs = gops.read_blobs(table["_rowid"].to_numpy())
        self._gops: dict[int, tuple[PacketIndex, bytes]] = {
            row["gop_key"]: (packet_index(row), blob)
            for row, blob in zip(table.to_pylist(), blobs, strict=True)
        }
        self._pictures = _pictures(lake, dataset)
        self._own = threading.local()
        self._pool = ThreadPoolExecutor(len(os.sched_getaffinity(0)))

    def prepare(self, batches: Iterable[Sequence[int]]) -> list[list[_Work]]:
        """Return the packets that each batch needs, each GOP once a batch."""
        return [self._prepare(batch) for batch in batches]

    def run(self, work: list[list[_Work]]) -> int:
        """Decode and convert; return the number of pictures."""
        return sum(sum(self._pool.map(self._decode, batch)) for batch in work)

    def _prepare(self, batch: Sequence[int]) -> list[_Work]:
        frames_by_key: dict[int, set[int]] = {}
        for row in batch:
            for key, frame in self._pictures[row]:
                frames_by_key.setdefault(key, set()).add(frame)
        return [self._work(key, frames) for key, frames in frames_by_key.items()]

    def _work(self, key: int, frames: set[int]) -> _Work:
        index, data = self._gops[key]
        needed = needed_packets(index, np.array(sorted(frames), np.int64))
        end = np.cumsum(index.size_bytes)
        packets = []
        for at in np.flatnonzero(needed).tolist():
            packet: av.Packet[Stream] = av.Packet(int(index.size_bytes[at]))
            packet.update(data[end[at] - index.size_bytes[at] : end[at]])
            packet.pts = int(index.display_index[at])
            packets.append(packet)
        return _Work(packets, frozenset(frames))

    def _decode(self, work: _Work) -> int:
        context, converter = self._codec()
        context.flush_buffers()
        count = 0
        for packet in [*work.packets, None]:
            for frame in context.decode(packet):
                if frame.pts in work.wanted:
                    converter.reformat(frame, format="rgb24", interpolation=Interpolation.BILINEAR)
                    count += 1
        return count

    def _codec(self) -> tuple[VideoCodecContext, VideoReformatter]:
        if not hasattr(self._own, "codec"):
            context = av.CodecContext.create("h264", "r")
            assert isinstance(context, VideoCodecContext)
            context.thread_count = 1
            self._own.codec = context, VideoReformatter()
        codec: tuple[VideoCodecContext, VideoReformatter] = self._own.codec
        return codec


def _pictures(lake: str, dataset: str) -> list[list[tuple[int, int]]]:
    """Return, for every row in order, the GOP and the frame in it of each camera's picture."""
    parts = ("ref_id", "gop_index", "frame_index_in_gop")
    columns = [f"{CAMERA_PREFIX}{camera}_{part}" for camera in CAMERAS for part in parts]
    table = Lake(lake).open(dataset, "frames").read(["episode_index", "frame_index", *columns])
    table = table.sort_by([("episode_index", "ascending"), ("frame_index", "ascending")])
    return [
        [
            (
                gop_key(row[f"{name}_ref_id"], row[f"{name}_gop_index"]),
                row[f"{name}_frame_index_in_gop"],
            )
            for name in (f"{CAMERA_PREFIX}{camera}" for camera in CAMERAS)
        ]
        for row in table.to_pylist()
    ]
