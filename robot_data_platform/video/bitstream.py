"""What the first bytes of a packet say: may an empty decoder start here, is it a reference.

References
----------
ITU-T H.264, clause 7.4.1 (NAL unit semantics); ITU-T H.265, table 7-1 (NAL unit types); AV1
Bitstream & Decoding Process Specification, clauses 5.3 (OBU syntax) and 5.9.2 (frame header).
"""

from __future__ import annotations

from collections.abc import Iterator

COPYABLE_CODECS = ("h264", "hevc", "av1")
"""Codecs whose entry points can be proven from their bytes."""

_START_CODE = b"\x00\x00\x01"
_H264_SLICE, _H264_IDR = 1, 5
_HEVC_FIRST_IRAP, _HEVC_LAST_IRAP, _HEVC_NUM_VCL_TYPES = 16, 21, 32
_AV1_FRAME_HEADER, _AV1_FRAME = 3, 6


def nal_length_size(codec: str, extradata: bytes) -> int:
    """Return how many bytes give a NAL unit's length, from the codec's configuration record.

    Returns
    -------
    int
        1, 2 or 4; 0 where there is no such record and the packets are Annex B.

    References
    ----------
    ISO/IEC 14496-15, clauses 5.3.3.1 (avcC) and 8.3.3.1 (hvcC): ``lengthSizeMinusOne``.
    """
    position = {"h264": 4, "hevc": 21}[codec]
    has_record = len(extradata) > position and extradata[0] == 1
    return (extradata[position] & 3) + 1 if has_record else 0


def is_entry(codec: str, data: bytes, extradata: bytes) -> bool:
    """Return whether an empty decoder may start at a packet, as far as the packet itself tells.

    An HEVC picture that may have leading pictures (CRA, BLA, IDR with RADL) passes: the packets
    after it tell whether it has any, since they show before it.
    """
    match codec:
        case "h264":
            return _first_h264_slice(data, nal_length_size(codec, extradata)) & 31 == _H264_IDR
        case "hevc":
            return _is_hevc_irap(data, nal_length_size(codec, extradata))
        case "av1":
            return _is_av1_shown_key(data)
        case _:
            return False


def is_h264_reference(data: bytes) -> bool:
    """Return whether other pictures may refer to an Annex B access unit (``nal_ref_idc`` > 0)."""
    return _first_h264_slice(data, 0) >> 5 & 3 > 0


def _first_h264_slice(data: bytes, length_size: int) -> int:
    """Return the header byte of the first slice, or 0 where there is none."""
    headers = (data[start] for start in nal_starts(data, length_size))
    return next((h for h in headers if _H264_SLICE <= h & 31 <= _H264_IDR), 0)


def _is_hevc_irap(data: bytes, length_size: int) -> bool:
    types = (data[start] >> 1 & 63 for start in nal_starts(data, length_size))
    first = next((t for t in types if t < _HEVC_NUM_VCL_TYPES), -1)
    return _HEVC_FIRST_IRAP <= first <= _HEVC_LAST_IRAP


def nal_starts(data: bytes, length_size: int) -> Iterator[int]:
    """Yield where each NAL unit's header starts in a packet.

    Parameters
    ----------
    data : bytes
        One access unit.
    length_size : int
        Bytes of the length before each unit; 0 = Annex B with start codes.
    """
    if length_size:
        yield from _length_prefixed(data, length_size)
        return
    start = data.find(_START_CODE) + 3
    while 3 <= start < len(data):
        yield start
        start = data.find(_START_CODE, start) + 3


def _length_prefixed(data: bytes, length_size: int) -> Iterator[int]:
    start = length_size
    while start < len(data):
        yield start
        length = int.from_bytes(data[start - length_size : start], "big")
        start += length + length_size


def _is_av1_shown_key(data: bytes) -> bool:
    """Return whether the first frame is a shown key frame: it resets every reference."""
    header = next((payload for kind, payload in _obus(data) if kind in _AV1_FRAMES), b"")
    # show_existing_frame (1 bit), frame_type (2 bits, 0 = key), show_frame (1 bit)
    return bool(header) and header[0] & 0b1111_0000 == 0b0001_0000


_AV1_FRAMES = (_AV1_FRAME_HEADER, _AV1_FRAME)


def _obus(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield type and first payload byte of each OBU of a temporal unit."""
    at = 0
    while at < len(data):
        kind, has_extension, has_size = data[at] >> 3 & 15, data[at] >> 2 & 1, data[at] >> 1 & 1
        at += 1 + has_extension
        size, at = _leb128(data, at) if has_size else (len(data) - at, at)
        yield kind, data[at : at + 1]
        at += size


def _leb128(data: bytes, at: int) -> tuple[int, int]:
    """Return a little-endian base-128 number and the position behind it."""
    value = 0
    for shift, byte in enumerate(data[at : at + 8]):
        value |= (byte & 127) << 7 * shift
        at += 1
        if byte < 128:
            break
    return value, at
