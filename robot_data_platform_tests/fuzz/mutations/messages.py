"""Absurd sizes, bombs and wrong types in recordings of messages and in record files."""

from __future__ import annotations

import itertools
import pkgutil
import re
import shutil
import sqlite3
import struct
from collections.abc import Iterator
from contextlib import closing
from unittest.mock import patch

import crc32c

from robot_data_platform_tests.fuzz.mutations import bombs
from robot_data_platform_tests.fuzz.mutations.tree import Change, Mutation, Promise, Tree

MAGIC_BYTES = 8
CHUNK = 6
ABSURD = (10**12, 2**64 - 1, 2**63 - 1, 0)
BAG_FIELDS = (b"size=", b"count=", b"conn_count=", b"chunk_count=", b"index_pos=", b"ver=")


def records(data: bytes | bytearray) -> Iterator[tuple[int, int, int]]:
    """Yield opcode, start and stop of the content of each record of a whole MCAP file."""
    at = MAGIC_BYTES
    while at + 9 <= len(data) - MAGIC_BYTES:
        opcode, length = data[at], int.from_bytes(data[at + 1 : at + 9], "little")
        yield opcode, at + 9, at + 9 + length
        at += 9 + length


def record_claims(tree: Tree) -> Change | None:
    """Let a record of an MCAP file, or a chunk in it, claim an absurd size."""
    relative = tree.pick(".mcap")
    if relative is None:
        return None
    path = tree.root / relative
    data = bytearray(path.read_bytes())
    opcode, start, _ = tree.random.choice(list(records(data)))
    # Chunk: two times of 8 bytes, then its unpacked size; any record: its size before it.
    at = start + 16 if opcode == CHUNK and tree.random.random() < 0.5 else start - 8
    value = tree.random.choice(ABSURD)
    data[at : at + 8] = struct.pack("<Q", value)
    path.write_bytes(data)
    what = f"{relative}: a record of kind {opcode} claims {value} at {at}"
    return Change(what=what, promise=Promise.EQUAL)


def bag_claims(tree: Tree) -> Change | None:
    """Let a number in a header of a ROS 1 bag be absurd."""
    relative = tree.pick(".bag")
    if relative is None:
        return None
    path = tree.root / relative
    data = bytearray(path.read_bytes())
    field = tree.random.choice(BAG_FIELDS)
    places = [match.end() for match in re.finditer(re.escape(field), data)]
    if not places:
        return None
    at = tree.random.choice(places)
    data[at : at + 4] = tree.random.choice([b"\xff\xff\xff\xff", b"\xff\xff\xff\x7f", bytes(4)])
    path.write_bytes(data)
    return Change(what=f"{relative}: {field!r} at {at} is absurd", promise=Promise.EQUAL)


PACKERS = {
    "mcap": ("zstandard.compress", bombs.zstandard_frame),
    "rosbag2": ("rosbags.rosbag2.writer.zstd.compress", bombs.zstandard_frame),
    "rosbag1": ("rosbags.rosbag1.writer.lz4_compress", bombs.lz4_frame),
}


def packed_zeros(tree: Tree) -> Change | None:
    """Record again, with a chunk or a message that unpacks to more than memory."""
    packer = PACKERS.get(tree.seed.format_name)
    if packer is None:
        return None
    name, bomb = packer
    for path in tree.root.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    number, packed = tree.random.randrange(3), pkgutil.resolve_name(name)
    calls = itertools.count()
    with patch(name, lambda *a: bomb() if next(calls) == number else packed(*a)):
        tree.seed.write(tree.root)
    return Change(what=f"packed chunk {number} holds zeros", promise=Promise.EQUAL)


STATEMENTS = {
    "messages lost": "DELETE FROM messages WHERE id % 2 = 0",
    "a message lost": "DELETE FROM messages WHERE id = 3",
    "no messages": "DELETE FROM messages",
    "no table": "DROP TABLE messages",
    "no topics": "DELETE FROM topics",
    "data of text": "UPDATE messages SET data = 'text' WHERE id = 2",
    "data of numbers": "UPDATE messages SET data = 7 WHERE id = 2",
    "data of nothing": "UPDATE messages SET data = zeroblob(0) WHERE id = 2",
    "data of zeros": "UPDATE messages SET data = zeroblob(100000) WHERE id = 2",
    "times of text": "UPDATE messages SET timestamp = 'now' WHERE id = 2",
    "absurd times": "UPDATE messages SET timestamp = 9223372036854775807 WHERE id = 2",
    "times that are fractions": "UPDATE messages SET timestamp = timestamp + 0.5 WHERE id = 2",
    "an unknown topic": "UPDATE messages SET topic_id = 99 WHERE id = 2",
    "types of numbers": "UPDATE topics SET type = 7",
    "names of bytes": "UPDATE topics SET name = x'ff'",
    "names of nothing": "UPDATE topics SET name = ''",
    "another encoding": "UPDATE topics SET serialization_format = 'json'",
    "another type": "UPDATE topics SET type = 'std_msgs/msg/String'",
    "no end": "DROP TABLE messages; CREATE VIEW messages AS WITH RECURSIVE r(id) AS "
    "(SELECT 1 UNION ALL SELECT id + 1 FROM r) "
    "SELECT id, 1 AS topic_id, id AS timestamp, x'00' AS data FROM r",
    "a table of columns of other names": "ALTER TABLE messages RENAME COLUMN data TO content",
}


def wrong_rows(tree: Tree) -> Change | None:
    """Change the database of a rosbag2 recording."""
    relative = tree.pick(".db3")
    if relative is None:
        return None
    kind = tree.random.choice(list(STATEMENTS))
    with closing(sqlite3.connect(tree.root / relative)) as database:
        database.executescript(STATEMENTS[kind])
    return Change(what=f"{relative}: {kind}", promise=Promise.EQUAL)


def _masked(data: bytes) -> bytes:
    value = crc32c.crc32c(data)
    return struct.pack("<I", ((value >> 15 | value << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def record_length(tree: Tree) -> Change | None:
    """Let a record file claim an absurd or wrong length, with the checksum of it."""
    relative = tree.pick(".tfrecord-00000-of-00001")
    if relative is None:
        return None
    path = tree.root / relative
    data = bytearray(path.read_bytes())
    (before,) = struct.unpack_from("<Q", data)
    value = tree.random.choice([*ABSURD, before - 1, before + 1, len(data)])
    data[:8] = struct.pack("<Q", value)
    data[8:12] = _masked(bytes(data[:8]))
    path.write_bytes(data)
    return Change(what=f"{relative}: first record of {value}", promise=Promise.EQUAL)


def record_content(tree: Tree) -> Change | None:
    """Spoil a record's content, and give it the checksum of what it is now."""
    relative = tree.pick(".tfrecord-00000-of-00001")
    if relative is None:
        return None
    path = tree.root / relative
    data = bytearray(path.read_bytes())
    (length,) = struct.unpack_from("<Q", data)
    for _ in range(tree.random.choice([1, 20])):
        data[12 + tree.random.randrange(length)] = tree.random.randrange(256)
    data[12 + length : 16 + length] = _masked(bytes(data[12 : 12 + length]))
    path.write_bytes(data)
    return Change(what=f"{relative}: noise under a right checksum", promise=Promise.TYPED)


MESSAGES: dict[str, Mutation] = {
    "record_claims": record_claims,
    "bag_claims": bag_claims,
    "packed_zeros_in_messages": packed_zeros,
    "wrong_rows": wrong_rows,
    "record_length": record_length,
    "record_content": record_content,
}
