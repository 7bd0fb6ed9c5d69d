"""The summary at the end of an MCAP file: where chunks start and how many messages there are."""

from __future__ import annotations

import struct
from collections import Counter
from dataclasses import dataclass, field
from io import BytesIO
from typing import BinaryIO

from mcap.exceptions import McapError
from mcap.opcode import Opcode
from mcap.records import Channel, ChunkIndex, Schema, Statistics
from mcap.stream_reader import StreamReader

from robot_data_platform.formats.ros.chunks import MAX_RECORD_BYTES

MAGIC = b"\x89MCAP0\r\n"
_FOOTER = struct.Struct("<BQQQI")
_FOOTER_BYTES = 20
"""Bytes of a footer's content (MCAP specification, "Footer")."""


@dataclass(frozen=True, slots=True, kw_only=True)
class McapSummary:
    """What a whole file says of itself; empty where it has no readable summary."""

    chunk_starts: tuple[int, ...] = ()
    """Byte at which each chunk's record starts, increasing."""
    num_messages: Counter[str] = field(default_factory=Counter)
    """By topic."""
    schemas: dict[int, Schema] = field(default_factory=dict)
    channels: dict[int, Channel] = field(default_factory=dict)


def read_summary(file: BinaryIO, size_bytes: int) -> McapSummary:
    """Return the summary of an MCAP file; an empty one where the file is cut off or has none."""
    tail_bytes = _FOOTER.size + len(MAGIC)
    if size_bytes < tail_bytes + len(MAGIC):
        return McapSummary()
    file.seek(size_bytes - tail_bytes)
    tail = file.read(tail_bytes)
    opcode, length, start, _, _ = _FOOTER.unpack_from(tail)
    is_footer = opcode == Opcode.FOOTER and length == _FOOTER_BYTES and tail.endswith(MAGIC)
    if not is_footer or not len(MAGIC) <= start < size_bytes - tail_bytes:
        return McapSummary()
    if size_bytes - start > MAX_RECORD_BYTES:
        return McapSummary()
    file.seek(start)
    return _parsed(file.read(size_bytes - start), size_bytes)


def _parsed(section: bytes, size_bytes: int) -> McapSummary:
    schemas: dict[int, Schema] = {}
    channels: dict[int, Channel] = {}
    starts: list[int] = []
    counts: dict[int, int] = {}
    try:
        reader = StreamReader(BytesIO(section), skip_magic=True, record_size_limit=len(section))
        for record in reader.records:
            if isinstance(record, Schema):
                schemas[record.id] = record
            elif isinstance(record, Channel):
                channels[record.id] = record
            elif isinstance(record, ChunkIndex) and record.chunk_start_offset < size_bytes:
                starts.append(record.chunk_start_offset)
            elif isinstance(record, Statistics):
                counts = dict(record.channel_message_counts)
    except (McapError, struct.error, ValueError, OverflowError):
        return McapSummary()
    num_messages: Counter[str] = Counter()
    for channel_id, count in counts.items():
        if channel_id in channels:
            num_messages[channels[channel_id].topic] += count
    return McapSummary(
        chunk_starts=tuple(sorted(starts)),
        num_messages=num_messages,
        schemas=schemas,
        channels=channels,
    )
