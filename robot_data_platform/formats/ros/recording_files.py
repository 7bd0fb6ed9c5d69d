"""The files of one recording, opened one after the other as if they were one."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass

import numpy as np
import zstandard

from robot_data_platform.core.recording import Int64Array
from robot_data_platform.core.source import Source
from robot_data_platform.formats.data_files import data_path, unreadable
from robot_data_platform.formats.ros import bag_part, mcap_summary
from robot_data_platform.formats.ros.bag_part import BagPart
from robot_data_platform.formats.ros.chunks import MAX_RECORD_BYTES, ChunkError, unpack_zstd
from robot_data_platform.formats.ros.mcap_part import McapPart
from robot_data_platform.formats.ros.messages import IsWanted, Message, Part, ReadLog
from robot_data_platform.formats.ros.sqlite_part import SqlitePart, connect

MCAP, SQLITE = ".mcap", ".db3"
BAGS = (".bag", ".bag.active")
"""Ends of the names of ROS 1 bags; a recorder takes the second off when it closes a bag."""
FULL_PLACE = 4
"""Numbers of a place among several files: the file's position, then the place in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordingFiles:
    """Files of one recording, in order."""

    source: Source
    files: tuple[str, ...]
    """Relative paths."""
    is_packed: bool = False
    """Whether each message is a Zstandard frame (rosbag2's compression mode ``MESSAGE``)."""

    def messages(self, is_wanted: IsWanted, log: ReadLog) -> Iterator[tuple[int, Message]]:
        """Yield the position of a file, and a message of it, over all files.

        Raises
        ------
        DataFaultError
            ``missing-file``, ``unreadable-file``: a file can't be opened.
        """
        for position, relative in enumerate(self.files):
            with open_part(self.source, relative) as part:
                for message in part.messages(is_wanted, log):
                    if self.is_packed:
                        message = message._replace(data=unpacked(message.data))
                    yield position, message

    def fetch(self, places: Int64Array) -> Iterator[bytes]:
        """Yield the payload at each of some places, (N, 4) int64, opening a file once in a row.

        Raises
        ------
        DataFaultError
            ``missing-file``, ``unreadable-file``: a file changed since it was read.
        """
        changes = np.flatnonzero(np.diff(places[:, 0])) + 1
        for run in np.split(places, changes) if len(places) else ():
            relative = self.files[int(run[0, 0])]
            with open_part(self.source, relative) as part:
                for data in part.fetch(run[:, 1:]):
                    yield unpacked(data) if self.is_packed else data


def unpacked(data: bytes) -> bytes:
    """Return the content of a packed message; empty where it is damaged, as no decoder takes."""
    try:
        return unpack_zstd(data, MAX_RECORD_BYTES)
    except (ChunkError, zstandard.ZstdError):
        return b""


@contextmanager
def open_part(source: Source, relative: str) -> Iterator[Part]:
    """Open one file of a recording, by its suffix.

    Raises
    ------
    DataFaultError
        ``missing-file``; ``unreadable-file``: empty, a Git LFS pointer, or another format.
    """
    if relative.endswith(SQLITE):
        with _open_sqlite(source, relative) as part:
            yield part
        return
    path = data_path(source, relative)
    magic, content, kind = _KINDS[relative.endswith(BAGS)]
    with path.open("rb") as file:
        start = file.read(len(magic))
        if start != magic:
            got = f"got a file that starts with {start.hex(' ')!r}, expected {content}"
            raise unreadable(source, relative, got)
        yield kind(file, relative, path.stat().st_size)


_KINDS: dict[bool, tuple[bytes, str, type[McapPart] | type[BagPart]]] = {
    False: (mcap_summary.MAGIC, "an MCAP file", McapPart),
    True: (bag_part.MAGIC, "a ROS 1 bag of version 2.0", BagPart),
}
"""By whether it is a ROS 1 bag: first bytes, what they tell, and the reader."""


@contextmanager
def _open_sqlite(source: Source, relative: str) -> Iterator[Part]:
    path = data_path(source, relative)
    try:
        with closing(connect(path)) as connection:
            yield SqlitePart(connection, relative)
    except sqlite3.Error as err:
        got = f"got {err}, expected a whole SQLite file of rosbag2"
        raise unreadable(source, relative, got) from err
