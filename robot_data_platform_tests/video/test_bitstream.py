from __future__ import annotations

import pytest

from robot_data_platform.video.bitstream import (
    is_entry,
    is_h264_reference,
    nal_length_size,
    nal_starts,
)

START = b"\x00\x00\x00\x01"
AVCC = bytes([1, 100, 0, 31, 0xFF])
"""Start of an avcC record: version 1, lengths of 4 bytes."""


def prefixed(*units: bytes) -> bytes:
    return b"".join(len(unit).to_bytes(4, "big") + unit for unit in units)


def annex_b(*units: bytes) -> bytes:
    return b"".join(START + unit for unit in units)


SPS, PPS, SEI = b"\x67\x64\x00", b"\x68\xee", b"\x06\x05\x01\x80"
IDR, P_REFERENCE, B_UNUSED = b"\x65\x88\x84", b"\x41\x9a\x02", b"\x01\x9e\x41"


@pytest.mark.parametrize(
    ("units", "expected"),
    [
        ([SPS, PPS, IDR], True),
        ([SEI, IDR], True),
        ([SPS, PPS, P_REFERENCE], False),
        ([SEI], False),
        ([], False),
    ],
)
def test_an_h264_entry_is_an_idr_slice_and_not_a_key_flag(
    units: list[bytes], expected: bool
) -> None:
    assert is_entry("h264", prefixed(*units), AVCC) is expected
    assert is_entry("h264", annex_b(*units), b"") is expected


@pytest.mark.parametrize(
    ("unit", "expected"), [(IDR, True), (P_REFERENCE, True), (B_UNUSED, False)]
)
def test_an_h264_reference_has_a_nal_ref_idc(unit: bytes, expected: bool) -> None:
    assert is_h264_reference(annex_b(b"\x09\x10", SPS, PPS, unit)) is expected


@pytest.mark.parametrize(
    ("nal_type", "expected"), [(1, False), (9, False), (16, True), (19, True), (21, True)]
)
def test_an_hevc_entry_is_a_picture_of_irap_type(nal_type: int, expected: bool) -> None:
    vps, picture = bytes([32 << 1, 1, 0]), bytes([nal_type << 1, 1, 0x80])
    hvcc = bytes([1, *range(20), 0xFF])
    assert is_entry("hevc", prefixed(vps, picture), hvcc) is expected


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (0b0001_0000, True),  # key frame, shown
        (0b0000_0000, False),  # key frame, not shown
        (0b0011_0000, False),  # inter frame, shown
        (0b1000_0000, False),  # shows a frame that exists
    ],
)
def test_an_av1_entry_is_a_shown_key_frame(header: int, expected: bool) -> None:
    delimiter, sequence = bytes([2 << 3 | 2, 0]), bytes([1 << 3 | 2, 3, 0, 0, 0])
    padding = bytes([15 << 3 | 2, 0x81, 0x01]) + bytes(129)
    frame = bytes([6 << 3 | 2, 2, header, 0])
    assert is_entry("av1", delimiter + sequence + padding + frame, b"") is expected


def test_an_av1_frame_without_a_size_reaches_to_the_end() -> None:
    assert is_entry("av1", bytes([6 << 3, 0b0001_0000, 0]), b"")


def test_other_codecs_have_no_proven_entries() -> None:
    assert not is_entry("mpeg4", b"\x00\x00\x01\xb6\x10", b"")


@pytest.mark.parametrize(
    ("codec", "extradata", "expected"),
    [
        ("h264", AVCC, 4),
        ("h264", bytes([1, 100, 0, 31, 0xFD]), 2),
        ("h264", annex_b(SPS), 0),
        ("h264", b"", 0),
        ("hevc", bytes([1, *range(20), 0xFF]), 4),
        ("hevc", START + bytes(40), 0),
    ],
)
def test_the_length_size_comes_from_the_configuration_record(
    codec: str, extradata: bytes, expected: int
) -> None:
    assert nal_length_size(codec, extradata) == expected


def test_nal_units_are_found_behind_start_codes_of_three_and_four_bytes() -> None:
    data = b"\x00\x00\x01" + IDR + START + P_REFERENCE
    assert [data[start] for start in nal_starts(data, 0)] == [0x65, 0x41]
