"""ROS 1 bags, record by record: also those whose recorder was killed and that have no index.

References
----------
ROS wiki, "Bags/Format/2.0".
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from enum import IntEnum
from typing import BinaryIO, NamedTuple

from robot_data_platform.core.time_base import NS_PER_S
from robot_data_platform.formats.ros.chunks import (
    MAX_RECORD_BYTES,
    NO_CHUNK,
    ChunkedFile,
    ChunkError,
    decompress,
)
from robot_data_platform.formats.ros.messages import Channel, IsWanted, Message, ReadLog

MAGIC = b"#ROSBAG V2.0\n"
MAX_HEADER_BYTES = 1 << 24
"""Most bytes of a record's header; a connection's header holds its message definition."""
_SIZE = struct.Struct("<I")
_PAIR = struct.Struct("<II")


class _Op(IntEnum):
    MESSAGE = 2
    CHUNK = 5
    CHUNK_INFO = 6
    CONNECTION = 7


RECORD_ERRORS = (ChunkError, struct.error, KeyError, UnicodeDecodeError)
"""What reading damaged fields raises."""

Fields = dict[bytes, bytes]


class _Record(NamedTuple):
    fields: Fields
    start: int
    """First byte of the data."""
    end: int

    @property
    def opcode(self) -> int:
        return self.fields.get(b"op", b"\0")[0]


class BagPart(ChunkedFile):
    """One open ROS 1 bag of version 2.0."""

    def __init__(self, file: BinaryIO, name: str, size_bytes: int) -> None:
        super().__init__(file, name, size_bytes)
        self._channels: dict[int, Channel] = {}

    def messages(self, is_wanted: IsWanted, log: ReadLog) -> Iterator[Message]:
        """Yield the messages of wanted channels in the order of the file; note what is lost."""
        index_at = self._index_position()
        if index_at:  # it describes all connections, also those of a damaged chunk
            yield from self._section(index_at, self._size_bytes, is_wanted, log)
        else:
            log.lose(f"{self._name!r}", "its recorder did not close it", 0)
        yield from self._section(len(MAGIC), index_at or self._size_bytes, is_wanted, log)

    def _index_position(self) -> int:
        """Return where the index starts; 0 where the file has none."""
        record = self._record_at(len(MAGIC))
        field = b"" if record is None else record.fields.get(b"index_pos", b"")
        position = int.from_bytes(field, "little")
        return position if len(MAGIC) < position <= self._size_bytes else 0

    def _section(
        self, start: int, end: int, is_wanted: IsWanted, log: ReadLog
    ) -> Iterator[Message]:
        at = start
        while at < end:
            record = self._record_at(at)
            if record is None:
                what = "the file is cut off or damaged there"
                log.lose(f"{self._name!r} byte {at}", what, end - at)
                return
            if record.opcode == _Op.CHUNK:
                yield from self._chunk(record, at, is_wanted, log)
            elif record.opcode in set(_Op):
                data = self._read_at(record.start, record.end - record.start)
                yield from self._inner(data, record, (NO_CHUNK, record.start), is_wanted, log)
            at = record.end

    def _record_at(self, at: int) -> _Record | None:
        """Return the record that starts at a byte; None where there can't be one."""
        header_bytes = self._size_at(at)
        if header_bytes is None or header_bytes > MAX_HEADER_BYTES:
            return None
        fields = _fields(self._read_at(at + _SIZE.size, header_bytes))
        start = at + 2 * _SIZE.size + header_bytes
        data_bytes = self._size_at(start - _SIZE.size)
        is_whole = data_bytes is not None and start + data_bytes <= self._size_bytes
        if not fields or not fields.get(b"op") or not is_whole or data_bytes is None:
            return None
        record = _Record(fields, start, start + data_bytes)
        return None if record.opcode in set(_Op) and data_bytes > MAX_RECORD_BYTES else record

    def _size_at(self, at: int) -> int | None:
        data = self._read_at(at, _SIZE.size)
        return _SIZE.unpack(data)[0] if len(data) == _SIZE.size else None

    def _load_chunk(self, start: int) -> bytes:
        record = self._record_at(start)
        try:
            return b"" if record is None else self._unpacked(record)
        except RECORD_ERRORS:
            return b""  # the file changed: what is read from it decodes to nothing

    def _unpacked(self, record: _Record) -> bytes:
        size = _SIZE.unpack(record.fields[b"size"])[0]
        data = self._read_at(record.start, record.end - record.start)
        return decompress(data, record.fields[b"compression"].decode(), size)

    def _chunk(
        self, record: _Record, at: int, is_wanted: IsWanted, log: ReadLog
    ) -> Iterator[Message]:
        where = f"{self._name!r} byte {at}"
        try:
            content = self._unpacked(record)
        except RECORD_ERRORS as err:
            log.lose(where, f"a chunk is damaged: {err}", record.end - record.start)
            return
        end = 0
        for inner in _inner_records(content):
            end = inner.end
            data = content[inner.start : end]
            yield from self._inner(data, inner, (at, inner.start), is_wanted, log)
        if end < len(content):
            log.lose(where, "a chunk's records do not fit it", len(content) - end)

    def _inner(
        self,
        data: bytes,
        record: _Record,
        place: tuple[int, int],
        is_wanted: IsWanted,
        log: ReadLog,
    ) -> Iterator[Message]:
        """Yield a record's message, or keep what it describes."""
        try:
            message = self._message(data, record.fields, place, log)
        except RECORD_ERRORS as err:
            where = f"{self._name!r} byte {max(place)}"
            log.lose(where, f"a record is damaged: {err!r}", len(data))
            return
        if message is not None:
            log.count(message.channel.topic, message.log_ns)
            if is_wanted(message.channel):
                yield message

    def _message(
        self, data: bytes, fields: Fields, place: tuple[int, int], log: ReadLog
    ) -> Message | None:
        match fields.get(b"op", b"\0")[0]:
            case _Op.MESSAGE:
                sec, nsec = _PAIR.unpack(fields[b"time"])
                channel = self._channels[_SIZE.unpack(fields[b"conn"])[0]]
                log_ns = sec * NS_PER_S + nsec
                return Message(channel, log_ns, None, data, (*place, len(data)))
            case _Op.CHUNK_INFO:
                for connection, count in _PAIR.iter_unpack(data):
                    log.num_declared[self._channels[connection].topic] += count
            case _Op.CONNECTION:
                number = _SIZE.unpack(fields[b"conn"])[0]
                self._channels[number] = _channel(fields[b"topic"], _fields(data))
        return None


def _channel(topic: bytes, fields: Fields) -> Channel:
    return Channel(
        topic=topic.decode(),
        type_name=fields[b"type"].decode(),
        encoding="ros1",
        definition_encoding="ros1msg",
        definition=fields[b"message_definition"],
        is_latched=fields.get(b"latching") == b"1",
    )


def _fields(header: bytes) -> Fields:
    """Return the fields of a header up to the first that does not fit it."""
    fields: Fields = {}
    at = 0
    while at + _SIZE.size <= len(header):
        start = at + _SIZE.size
        at = start + _SIZE.unpack_from(header, at)[0]
        name, separator, value = header[start:at].partition(b"=")
        if not separator or at > len(header):
            break
        fields[name] = value
    return fields


def _inner_records(content: bytes) -> Iterator[_Record]:
    """Yield the records of a chunk up to the first that does not fit it."""
    at = 0
    while at + _SIZE.size <= len(content):
        data_size_at = at + _SIZE.size + _SIZE.unpack_from(content, at)[0]
        fields = _fields(content[at + _SIZE.size : data_size_at])
        start = data_size_at + _SIZE.size
        if start > len(content) or not fields.get(b"op"):
            return
        at = start + _SIZE.unpack_from(content, data_size_at)[0]
        if at > len(content):
            return
        yield _Record(fields, start, at)
