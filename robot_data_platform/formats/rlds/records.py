"""Framing of tfrecord files: where each record lies, and whether its content is whole."""

from __future__ import annotations

import struct
from array import array
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np

from robot_data_platform.core.recording import Int64Array
from robot_data_platform.core.source import Source
from robot_data_platform.formats.data_files import data_path, unreadable
from robot_data_platform.formats.file_memo import FileMemo

MAX_RECORDS = 1 << 20
"""Records of one file that are listed; TFDS cuts files at a few thousand."""
CHUNK_BYTES = 1 << 20
"""Bytes that are checked at a time."""
_LENGTH = struct.Struct("<Q")
_SUM = struct.Struct("<I")
_HEADER_BYTES = _LENGTH.size + _SUM.size


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordIndex:
    """Where the records of a file lie."""

    bounds: Int64Array
    """(R, 2) first byte of each record's content, and the one after its last."""
    damage: str | None
    """Why what follows the last record can't be read; None = nothing follows."""


_indices: FileMemo[RecordIndex] = FileMemo(max_entries=64)


def record_index(source: Source, relative: str) -> RecordIndex:
    """Return where a file's records lie, from their headers alone.

    Raises
    ------
    DataFaultError
        ``missing-file``; ``unreadable-file``: it is empty, or a Git LFS pointer.
    """
    return _indices.get(source, (relative,), lambda: _scan(source, relative))


def check_record(source: Source, relative: str, file: BinaryIO, start: int, stop: int) -> None:
    """Refuse a record whose content is not what was written.

    Raises
    ------
    DataFaultError
        ``unreadable-file``: its checksum differs.
    """
    import crc32c

    file.seek(start)
    value = 0
    for at in range(start, stop, CHUNK_BYTES):
        value = crc32c.crc32c(file.read(min(CHUNK_BYTES, stop - at)), value)
    stored = file.read(_SUM.size)
    if stored != _masked(value):
        got = f"got checksum {_masked(value).hex()} of bytes {start}..{stop}, expected "
        raise unreadable(source, relative, f"{got}{stored.hex()}")


def _scan(source: Source, relative: str) -> RecordIndex:
    path = data_path(source, relative)
    size = path.stat().st_size
    bounds, at, damage = array("q"), 0, None
    with path.open("rb", buffering=0) as file:
        while at < size and damage is None:
            file.seek(at)
            start, stop, damage = _record_at(at, file.read(_HEADER_BYTES), size)
            if damage is None and len(bounds) == 2 * MAX_RECORDS:
                damage = f"got more records than {MAX_RECORDS}"
            if damage is None:
                bounds.extend((start, stop))
                at = stop + _SUM.size
    return RecordIndex(bounds=np.array(bounds, dtype=np.int64).reshape(-1, 2), damage=damage)


def _record_at(at: int, header: bytes, size: int) -> tuple[int, int, str | None]:
    import crc32c

    if len(header) < _HEADER_BYTES:
        return at, at, f"got {len(header)} bytes at byte {at}, expected a record of {_HEADER_BYTES}"
    (length,) = _LENGTH.unpack_from(header)
    if header[_LENGTH.size :] != _masked(crc32c.crc32c(header[: _LENGTH.size])):
        return at, at, f"got a length without its checksum at byte {at}, expected a record"
    start = at + _HEADER_BYTES
    stop = start + length
    if stop + _SUM.size > size:
        left = size - start
        return at, at, f"got {left} bytes of a record at byte {at}, expected {length}"
    return start, stop, None


def _masked(value: int) -> bytes:
    # TensorFlow, core/lib/hash/crc32c.h, "Mask": a sum of bytes that hold sums is weak.
    rotated = (value >> 15) | (value << 17 & 0xFFFFFFFF)
    return _SUM.pack((rotated + 0xA282EAD8) & 0xFFFFFFFF)
