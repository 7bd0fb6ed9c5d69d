"""One ``tf.train.Example`` of a file: its features are found first, and read one at a time.

An episode's pictures may be larger than memory, so the message is walked by its field lengths;
only what is asked for is read and decoded.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import IntEnum
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from robot_data_platform.core.recording import Int64Array
from robot_data_platform.core.source import Source
from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform.formats.data_files import data_path, unreadable
from robot_data_platform.formats.rlds.records import check_record, record_index

MAX_FEATURE_BYTES = 32 << 20
"""Most bytes of one feature's numbers or texts; what is larger is refused before it is read."""
MAX_FEATURES = 4096
MAX_KEY_BYTES = 4096
MAX_ENTRIES = 1 << 22
"""Byte strings of one feature: pictures or texts of one episode."""
_LENGTH_DELIMITED = 2
_HEAD_BYTES = 20
"""A tag and a length take ten bytes each at most."""
_VALUE = 1
"""Field of every list's entries, of a map entry's key, and of an Example's features."""
_MAP_VALUE = 2
Span = tuple[int, int]


class Content(IntEnum):
    """What a feature holds; the numbers are the fields of ``tf.train.Feature``."""

    BYTES = 1
    FLOATS = 2
    INTEGERS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """An open record."""

    subject: str
    """File and record, for messages."""
    file: BinaryIO
    features: dict[str, tuple[Content, Span]]
    """By key: what it holds, and where in the file the list lies."""

    def numbers(self, key: str) -> npt.NDArray[np.float32] | npt.NDArray[np.int64]:
        """Return a feature's numbers, flat; float32 or int64 of shape (n,).

        Raises
        ------
        DataFaultError
            ``shape-mismatch``: too many. ``unreadable-file``: no such list.
        """
        from google.protobuf.message import DecodeError
        from tfrecord import example_pb2

        content, span = self.features[key]
        check_size(self.num_bytes(key), MAX_FEATURE_BYTES, f"{self.subject} feature {key!r}")
        data = read_span(self.file, span)
        try:
            if content is Content.FLOATS:
                floats = example_pb2.FloatList.FromString(data).value
                return np.fromiter(floats, np.float32, len(floats))
            integers = example_pb2.Int64List.FromString(data).value
            return np.fromiter(integers, np.int64, len(integers))
        except DecodeError as err:
            raise _no_example(self.subject, f"feature {key!r} of {err}") from err

    def num_bytes(self, key: str) -> int:
        """Return the bytes that a feature takes in the file."""
        start, stop = self.features[key][1]
        return stop - start

    def texts(self, key: str) -> list[bytes]:
        """Return a feature's byte strings.

        Raises
        ------
        DataFaultError
            ``shape-mismatch``: they are too large.
        """
        check_size(self.num_bytes(key), MAX_FEATURE_BYTES, f"{self.subject} feature {key!r}")
        return [read_span(self.file, span) for span in self.spans(key).tolist()]

    def spans(self, key: str) -> Int64Array:
        """Return where each byte string of a feature lies in the file; (n, 2) start and stop."""
        bounds = array("q")
        for _, start, stop in _fields(self.file, self.features[key][1], self.subject):
            if len(bounds) == 2 * MAX_ENTRIES:
                raise _no_example(self.subject, f"over {MAX_ENTRIES} entries of feature {key!r}")
            bounds.extend((start, stop))
        return np.array(bounds, dtype=np.int64).reshape(-1, 2)


@contextmanager
def open_example(source: Source, relative: str, number: int) -> Iterator[Example]:
    """Open a record of a file, its checksum verified.

    Raises
    ------
    DataFaultError
        ``missing-file``; ``unreadable-file``: it is damaged, or no ``tf.train.Example``.
    """
    index = record_index(source, relative)
    if number >= len(index.bounds):
        got = f"got {len(index.bounds)} records ({index.damage}), expected record {number}"
        raise unreadable(source, relative, got)
    start, stop = index.bounds[number].tolist()
    with data_path(source, relative).open("rb", buffering=0) as file:
        check_record(source, relative, file, start, stop)
        subject = f"Record {number} of {relative!r} of {source.label!r}"
        yield Example(subject=subject, file=file, features=_features(file, (start, stop), subject))


def check_size(num_bytes: int, limit: int, where: str) -> None:
    """Refuse what no recording needs to have in memory at once.

    Raises
    ------
    DataFaultError
        ``shape-mismatch``: it takes more than the limit.
    """
    if num_bytes > limit:
        raise DataFaultError(
            f"{where} is too large: got {num_bytes} bytes, expected at most {limit}. Split the "
            "episode.",
            kind=ErrorKind.SHAPE_MISMATCH,
            num_bytes=num_bytes,
        )


def read_span(file: BinaryIO, span: Span | list[int]) -> bytes:
    """Return some bytes of a file."""
    start, stop = span
    file.seek(start)
    return file.read(stop - start)


def _features(file: BinaryIO, record: Span, subject: str) -> dict[str, tuple[Content, Span]]:
    features: dict[str, tuple[Content, Span]] = {}
    for _, *whole in _fields(file, record, subject):
        for _, *entry in _fields(file, (whole[0], whole[1]), subject):
            key, held = _entry(file, (entry[0], entry[1]), subject)
            if key in features or len(features) == MAX_FEATURES:
                got = f"feature {key!r} once more, after {len(features)} others"
                raise _no_example(subject, got)
            features[key] = held
    return features


def _entry(file: BinaryIO, entry: Span, subject: str) -> tuple[str, tuple[Content, Span]]:
    parts = {number: (start, stop) for number, start, stop in _fields(file, entry, subject)}
    name = parts.get(_VALUE, (0, 0))
    if name[1] - name[0] > MAX_KEY_BYTES:
        raise _no_example(subject, f"a key of {name[1] - name[0]} bytes")
    key = read_span(file, name).decode("utf-8", "backslashreplace")
    held = list(_fields(file, parts.get(_MAP_VALUE, (0, 0)), subject))
    if len(held) != 1 or held[0][0] not in set(Content):
        raise _no_example(subject, f"feature {key!r} of fields {[number for number, *_ in held]}")
    number, start, stop = held[0]
    return key, (Content(number), (start, stop))


def _fields(file: BinaryIO, message: Span, subject: str) -> Iterator[tuple[int, int, int]]:
    """Yield number, first byte and end of each field of a message."""
    at, end = message
    while at < end:
        head = read_span(file, (at, min(at + _HEAD_BYTES, end)))
        tag, used = _varint(head, 0, subject)
        size, used = _varint(head, used, subject)
        if tag & 7 != _LENGTH_DELIMITED or at + used + size > end:
            raise _no_example(subject, f"a field with tag {tag} and {size} bytes at byte {at}")
        yield tag >> 3, at + used, at + used + size
        at += used + size


def _varint(data: bytes, at: int, subject: str) -> tuple[int, int]:
    value = 0
    for used, byte in enumerate(data[at : at + _HEAD_BYTES // 2], start=1):
        value |= (byte & 0x7F) << (7 * (used - 1))
        if byte < 0x80:
            return value, at + used
    raise _no_example(subject, "a number without an end")


def _no_example(subject: str, got: str) -> DataFaultError:
    return DataFaultError(
        f"{subject} is no tf.train.Example: got {got}, expected features of bytes, floats or "
        "integers. Write the dataset again.",
        kind=ErrorKind.UNREADABLE_FILE,
    )
