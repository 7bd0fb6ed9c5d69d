"""Framing of tfrecord files: damage is found where it is, and costs no more than it must."""

from __future__ import annotations

import struct
import tracemalloc
from itertools import pairwise
from pathlib import Path

import crc32c
import pytest

from robot_data_platform.core.finding import Severity
from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform.formats.profile import Profile
from robot_data_platform.formats.rlds.records import record_index
from robot_data_platform.storage.source import LocalSource
from robot_data_platform_tests.formats.hdf5_files import jpeg
from robot_data_platform_tests.formats.reading import (
    by_rule,
    camera,
    list_folder,
    read_episode,
    refusal,
    shown_codes,
)
from robot_data_platform_tests.formats.rlds_files import FOLDER, KEY, SHARD, record, write_dataset

PROFILE = Profile(control_hz=10.0)
RELATIVE = f"{FOLDER}/{SHARD}"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A dataset of three episodes."""
    return write_dataset(tmp_path, [record(start=10 * k + 1) for k in range(3)])


def bounds(root: Path) -> list[tuple[int, int]]:
    return [(int(a), int(b)) for a, b in record_index(LocalSource(root), RELATIVE).bounds]


def spoil(root: Path, at: int, data: bytes) -> None:
    path = root / RELATIVE
    content = path.read_bytes()
    path.write_bytes(content[:at] + data + content[at + len(data) :])


def masked(data: bytes) -> bytes:
    """Return the checksum that TensorFlow writes, by its definition."""
    value = crc32c.crc32c(data)
    return struct.pack("<I", ((value >> 15 | value << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def test_records_are_found_by_their_headers(root: Path) -> None:
    found = bounds(root)
    size = (root / RELATIVE).stat().st_size
    assert (found[0][0], found[2][1] + 4, len(found)) == (12, size, 3)
    assert [after[0] - before[1] for before, after in pairwise(found)] == [16, 16]


def test_a_flipped_byte_in_a_record_refuses_its_episode_alone(root: Path) -> None:
    start, stop = bounds(root)[1]
    spoil(root, (start + stop) // 2, b"\xff\x00\xff")
    assert len(list_folder(root, PROFILE).episodes) == 3
    error = refusal(root, f"{KEY[:-1]}1", PROFILE)
    assert (error.kind, "got checksum" in str(error)) == (ErrorKind.UNREADABLE_FILE, True)
    assert read_episode(root, f"{KEY[:-1]}2", PROFILE).task == "pick the cube"


def test_what_follows_a_broken_header_is_lost_and_told(root: Path) -> None:
    start, _ = bounds(root)[1]
    spoil(root, start - 12, b"\x01")
    listing = list_folder(root, PROFILE)
    assert len(listing.episodes) == 1
    finding = by_rule(listing.findings)["data_files_are_readable"]
    assert (finding.severity, finding.value) == (Severity.FAIL, 2)
    assert "a length without its checksum" in finding.message


def test_a_record_that_is_cut_off_is_told_and_the_rest_is_read(root: Path) -> None:
    path = root / RELATIVE
    path.write_bytes(path.read_bytes()[:-100])
    listing = list_folder(root, PROFILE)
    assert len(listing.episodes) == 2
    assert by_rule(listing.findings)["data_files_are_readable"].value == 1


def test_an_absurd_length_with_a_right_checksum_takes_no_memory(root: Path) -> None:
    start, _ = bounds(root)[1]
    length = struct.pack("<Q", 10**18)
    spoil(root, start - 12, length + masked(length))
    listing = list_folder(root, PROFILE)
    assert len(listing.episodes) == 1
    assert (
        "expected 1000000000000000000"
        in by_rule(listing.findings)["data_files_are_readable"].message
    )


@pytest.mark.parametrize(
    "content",
    [
        b"\x08\x01",  # a number where features belong
        b"\x0a\xff\xff\xff\xff\x7f",  # features longer than the record
        b"\x0a\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01",  # a length without end
        b"\x0a\x06\x0a\x04\x0a\x02\x61\x62",  # a feature of no kind
        b"",
    ],
)
def test_a_record_that_is_no_example_is_refused(root: Path, content: bytes) -> None:
    length = struct.pack("<Q", len(content))
    (root / RELATIVE).write_bytes(length + masked(length) + content + masked(content))
    assert refusal(root, KEY, PROFILE).kind in (ErrorKind.UNREADABLE_FILE, ErrorKind.NO_ROWS)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "got 0 bytes"),
        (b"version https://git-lfs.github.com/spec/v1\nsize 99\n", "LFS pointer in place of 99"),
        (b"\0" * 400, "without its checksum"),
    ],
)
def test_a_shard_that_holds_no_record_is_told(root: Path, content: bytes, reason: str) -> None:
    (root / RELATIVE).write_bytes(content)
    listing = list_folder(root, PROFILE)
    assert listing.episodes == ()
    assert reason in by_rule(listing.findings)["data_files_are_readable"].message


def test_a_record_that_went_since_it_was_listed_is_refused(root: Path) -> None:
    path = root / RELATIVE
    source, ref = LocalSource(root), list_folder(root, PROFILE).episodes[2]
    path.write_bytes(path.read_bytes()[: bounds(root)[1][1] + 4])
    from robot_data_platform.formats.rlds import RldsFormat

    with pytest.raises(DataFaultError, match="got 2 records"):
        RldsFormat().read(source, ref, PROFILE)


def test_a_record_larger_than_its_share_of_memory_is_read_picture_by_picture(
    tmp_path: Path,
) -> None:
    padded = [jpeg(k % 200 + 1).ljust(300_000, b"\0") for k in range(200)]
    item = record(200, changed={"steps/observation/image_0": (padded, "byte")})
    root = write_dataset(tmp_path, [item])
    del padded, item
    tracemalloc.start()
    recording = read_episode(root, KEY, PROFILE)
    assert shown_codes(camera(recording, "image_0")) == [k % 200 + 1 for k in range(200)]
    assert tracemalloc.get_traced_memory()[1] < 16 << 20
    tracemalloc.stop()
