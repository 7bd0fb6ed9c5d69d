"""MCAP files, record by record: what is whole is read, wherever a file is cut or damaged.

The readers of the ``mcap`` library trust lengths and the index at the end of a file: one that is
cut off yields no message, or a message that is too short. Its record classes are used here.

References
----------
MCAP Format Specification, "Records".
"""

from __future__ import annotations

import struct
import zlib
from bisect import bisect_right
from collections.abc import Iterator
from io import BytesIO
from typing import BinaryIO, NamedTuple

from mcap.data_stream import ReadDataStream
from mcap.exceptions import McapError
from mcap.opcode import Opcode
from mcap.records import Channel as ChannelRecord
from mcap.records import Chunk, Metadata, Schema

from robot_data_platform.formats.ros.chunks import (
    MAX_RECORD_BYTES,
    NO_CHUNK,
    ChunkedFile,
    ChunkError,
    decompress,
)
from robot_data_platform.formats.ros.mcap_summary import MAGIC, read_summary
from robot_data_platform.formats.ros.messages import (
    Channel,
    IsWanted,
    Message,
    ReadLog,
    is_transient_local,
)

_HEAD = struct.Struct("<BQ")
_MESSAGE = struct.Struct("<HIQQ")
"""Channel, sequence, log time, publish time."""
RECORD_ERRORS = (McapError, struct.error, ValueError, OverflowError)
"""What the library's record classes and ``chunks`` raise on damaged bytes."""
_COPY = "serialized_metadata"
"""Key under which rosbag2 copies its ``metadata.yaml`` into the file."""


class _Record(NamedTuple):
    opcode: int
    start: int
    """First byte of the content."""
    end: int


class McapPart(ChunkedFile):
    """One open MCAP file."""

    def __init__(self, file: BinaryIO, name: str, size_bytes: int) -> None:
        super().__init__(file, name, size_bytes)
        self._summary = read_summary(file, size_bytes)
        self._schemas = dict(self._summary.schemas)
        self._declared: dict[int, ChannelRecord] = {}
        self._channels: dict[int, Channel] = {}
        for record in self._summary.channels.values():
            self._keep(record)

    def messages(self, is_wanted: IsWanted, log: ReadLog) -> Iterator[Message]:
        """Yield the messages of wanted channels in the order of the file; note what is lost."""
        log.num_declared += self._summary.num_messages
        for record in self._records(log):
            where = f"{self._name!r} byte {record.start}"
            if record.end - record.start > MAX_RECORD_BYTES and record.opcode in _READ:
                log.lose(where, "a record of absurd size", record.end - record.start)
            elif record.opcode == Opcode.CHUNK:
                yield from self._chunk(record, is_wanted, log)
            elif record.opcode in _READ:
                content, inner = self._content(record), _Record(record.opcode, 0, 0)
                inner = inner._replace(end=len(content))
                yield from self._inner(content, [inner], record, is_wanted, log)

    def _records(self, log: ReadLog) -> Iterator[_Record]:
        """Yield the records of the data section; go on at the next known chunk after damage."""
        at = len(MAGIC)
        while True:
            record = self._record_at(at)
            if record is None:
                following = bisect_right(self._summary.chunk_starts, at)
                starts = self._summary.chunk_starts[following : following + 1]
                resume = starts[0] if starts else self._size_bytes
                where, what = f"{self._name!r} byte {at}", "the file is cut off or damaged there"
                log.lose(where, what, resume - at)
                if not starts:
                    return
                at = resume
                continue
            if record.opcode in _LAST:
                return
            yield record
            at = record.end

    def _record_at(self, at: int) -> _Record | None:
        """Return the record that starts at a byte; None where there can't be one."""
        self._file.seek(at)
        head = self._file.read(_HEAD.size)
        if len(head) < _HEAD.size:
            return None
        opcode, length = _HEAD.unpack(head)
        start, end = at + _HEAD.size, at + _HEAD.size + length
        starts = self._summary.chunk_starts
        following = bisect_right(starts, at)
        is_before_chunk = following < len(starts)
        hides_chunk = is_before_chunk and (starts[following] < end or opcode in _LAST)
        if opcode == 0 or end > self._size_bytes or hides_chunk:
            return None
        return _Record(opcode, start, end)

    def _content(self, record: _Record) -> bytes:
        return self._read_at(record.start, record.end - record.start)

    def _load_chunk(self, start: int) -> bytes:
        record = self._record_at(start - _HEAD.size)
        try:
            return b"" if record is None else _unpacked(self._content(record))
        except RECORD_ERRORS:
            return b""  # the file changed: what is read from it decodes to nothing

    def _chunk(self, record: _Record, is_wanted: IsWanted, log: ReadLog) -> Iterator[Message]:
        where = f"{self._name!r} byte {record.start}"
        try:
            content = _unpacked(self._content(record))
        except RECORD_ERRORS as err:
            log.lose(where, f"a chunk is damaged: {err}", record.end - record.start)
            return
        inner = _inner_records(content)
        yield from self._inner(content, inner, record, is_wanted, log)
        num_whole = inner[-1].end if inner else 0
        if num_whole < len(content):
            log.lose(where, "a chunk's records do not fit it", len(content) - num_whole)

    def _inner(
        self,
        content: bytes,
        records: list[_Record],
        outer: _Record,
        is_wanted: IsWanted,
        log: ReadLog,
    ) -> Iterator[Message]:
        """Yield the messages among some records of ``content``, and keep what describes them."""
        is_chunk = outer.opcode == Opcode.CHUNK
        for opcode, start, end in records:
            if opcode != Opcode.MESSAGE:
                self._describe(opcode, content[start:end], outer, log)
                continue
            if end - start < _MESSAGE.size:
                log.lose(f"{self._name!r} byte {outer.start}", "a message is cut off", end - start)
                continue
            channel_id, _, log_ns, publish_ns = _MESSAGE.unpack_from(content, start)
            channel = self._channels.get(channel_id)
            if channel is None:
                what = "a message's channel is not known"
                log.lose(f"{self._name!r} byte {outer.start}", what, end - start)
                continue
            log.count(channel.topic, log_ns)
            if is_wanted(channel):
                first = start + _MESSAGE.size
                place = (outer.start, first) if is_chunk else (NO_CHUNK, outer.start + first)
                data = content[first:end]
                yield Message(channel, log_ns, publish_ns, data, (*place, end - first))

    def _keep(self, record: ChannelRecord) -> None:
        """Keep a channel; writers may repeat it in every chunk."""
        if self._declared.get(record.id) != record:
            self._declared[record.id] = record
            self._channels[record.id] = _channel(record, self._schemas.get(record.schema_id))

    def _describe(self, opcode: int, content: bytes, outer: _Record, log: ReadLog) -> None:
        stream = ReadDataStream(BytesIO(content))
        try:
            if opcode == Opcode.SCHEMA:
                schema = Schema.read(stream)
                self._schemas[schema.id] = schema
            elif opcode == Opcode.CHANNEL:
                self._keep(ChannelRecord.read(stream))
            elif opcode == Opcode.METADATA:
                record_of_file = Metadata.read(stream)
                named = record_of_file.metadata.items()
                log.metadata |= {f"{record_of_file.name}.{k}": v for k, v in named if k != _COPY}
        except RECORD_ERRORS as err:
            where = f"{self._name!r} byte {outer.start}"
            log.lose(where, f"a description is damaged: {err}", len(content))


_READ = frozenset({Opcode.CHUNK, Opcode.MESSAGE, Opcode.SCHEMA, Opcode.CHANNEL, Opcode.METADATA})
"""Records that are read; all others are passed over unread."""
_LAST = frozenset({Opcode.DATA_END, Opcode.FOOTER})
"""Records after which there are no messages."""


def _channel(record: ChannelRecord, schema: Schema | None) -> Channel:
    qos = record.metadata.get("offered_qos_profiles", "")
    is_latched = record.metadata.get("latching") == "1" or is_transient_local(qos)
    return Channel(
        topic=record.topic,
        type_name=schema.name if schema else "",
        encoding=record.message_encoding,
        definition_encoding=schema.encoding if schema else "",
        definition=schema.data if schema else b"",
        is_latched=is_latched,
    )


def _unpacked(content: bytes) -> bytes:
    chunk = Chunk.read(ReadDataStream(BytesIO(content)))
    data = decompress(chunk.data, chunk.compression, chunk.uncompressed_size)
    if chunk.uncompressed_crc and zlib.crc32(data) != chunk.uncompressed_crc:
        raise ChunkError("its checksum is wrong")
    return data


def _inner_records(content: bytes) -> list[_Record]:
    """Return the records of a chunk up to the first that does not fit it."""
    records: list[_Record] = []
    at = 0
    while at + _HEAD.size <= len(content):
        opcode, length = _HEAD.unpack_from(content, at)
        start, at = at + _HEAD.size, at + _HEAD.size + length
        if at > len(content):
            break
        records.append(_Record(opcode, start, at))
    return records
