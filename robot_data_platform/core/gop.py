"""GOP values, and which packets a decoder needs for a set of frames."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

_DEPTH_PIX_FMT = re.compile(r"gray(9|10|12|14|16)(le|be)")


@dataclass(frozen=True, slots=True, kw_only=True)
class PacketIndex:
    """What a reader must know of a GOP's packets; arrays of length P, in decode order."""

    size_bytes: npt.NDArray[np.int32]
    """(P,) bytes of each packet; the packets lie back to back in the blob."""
    display_index: npt.NDArray[np.int32]
    """(P,) position of the packet's frame in the GOP's presentation order, 0-based."""
    is_reference: npt.NDArray[np.bool_]
    """(P,) whether later packets may need it. True where the codec's header doesn't say."""
    is_key: npt.NDArray[np.bool_]
    """(P,) whether an empty decoder may start here; always true for packet 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamFormat:
    """How the pictures of one stream are coded; the same for every GOP of it."""

    codec: str
    """FFmpeg's codec name: ``h264``, ``hevc``, ``av1`` ..."""
    profile: str
    """GOP profile that made it: ``copy``, ``anchored``, ``chain`` or ``lossless``."""
    width_px: int
    """Width of the picture as recorded."""
    height_px: int
    coded_width_px: int
    """Width that the codec sees: padded to even by repeating the last column."""
    coded_height_px: int
    pix_fmt: str
    color_range: int
    """ISO/IEC 23091-4 / FFmpeg ``AVCOL_RANGE``: 0 unspecified, 1 limited (MPEG), 2 full (JPEG)."""
    color_space: int
    """FFmpeg ``AVCOL_SPC`` (matrix coefficients); 2 = unspecified."""
    color_primaries: int
    color_trc: int
    extradata: bytes = b""
    """Codec configuration an empty decoder needs besides the blob; empty for Annex B H.264."""

    @property
    def is_depth(self) -> bool:
        """Whether its pictures are depth maps, and not for looking at."""
        return is_depth_pix_fmt(self.pix_fmt)


def is_depth_pix_fmt(pix_fmt: str) -> bool:
    """Return whether a pixel format of FFmpeg's is one of depth maps: grey of 9 to 16 bits."""
    return _DEPTH_PIX_FMT.fullmatch(pix_fmt) is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Gop:
    """One blob: whole closed GOPs, decodable on its own."""

    gop_index: int
    """0-based position in its stream."""
    first_frame: int
    """Stream frame number of its first picture."""
    num_frames: int
    packets: PacketIndex
    data: bytes


def needed_packets(packets: PacketIndex, frames: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """Return which packets must be decoded to get some frames of a GOP, and no more.

    A frame needs, in decode order, every reference packet from the last entry point at or before
    its own packet, and its own packet. Packets after it, and non-reference packets, are left out.

    Parameters
    ----------
    packets : PacketIndex
        The GOP's packets in decode order.
    frames : ndarray of int64, shape (n,)
        Wanted frames, as positions in the GOP's presentation order; any order, repeats allowed.

    Returns
    -------
    ndarray of bool, shape (P,)
        True for each packet to feed to the decoder, in decode order.

    References
    ----------
    ITU-T H.264, clause 7.4.1: a picture with ``nal_ref_idc`` 0 is not used for inter prediction.
    """
    # Lists: a GOP is too short for numpy's calls to pay, and this runs once per GOP that is read.
    position_by_frame = {frame: at for at, frame in enumerate(packets.display_index.tolist())}
    is_reference, is_key = packets.is_reference.tolist(), packets.is_key.tolist()
    needed = [False] * len(is_key)
    for frame in set(frames.tolist()):
        at = position_by_frame[frame]
        needed[at] = True
        while not is_key[at]:
            at -= 1
            needed[at] |= is_reference[at]
    return np.array(needed, dtype=np.bool_)
