"""Video streams that come frame by frame: put together in a file that decoders can open.

AV1 and VP9 go into an IVF container, which keeps frames apart; H.264 and HEVC are written as they
are (Annex B), since that container would show each frame when it is decoded.

References
----------
foxglove.CompressedVideo, field ``data``; WebM project, "IVF" (header of 32 bytes, then each frame
with its size and time).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import BinaryIO

from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform.formats.ros.scratch import ScratchFile, ScratchVideo
from robot_data_platform.video.bitstream import COPYABLE_CODECS, is_entry
from robot_data_platform.video.packet_table import index_packets

CODEC_BY_FORMAT = {"h264": "h264", "h265": "hevc", "hevc": "hevc", "vp9": "vp9", "av1": "av1"}
"""FFmpeg's codec name by the messages' ``format``."""
_FOURCC = {"vp9": b"VP90", "av1": b"AV01"}
_IVF_HEADER = struct.Struct("<4sHH4sHHIIII")
_IVF_FRAME = struct.Struct("<IQ")
_RATE_HZ = 1_000
"""Frame k has the time k / 1000 s in the file; the real times stay beside it."""


def write_video(frames: Iterator[bytes], codec: str, subject: str) -> tuple[ScratchVideo, int]:
    """Write the frames of a stream to a file, from the first one on that can be decoded.

    Parameters
    ----------
    frames : iterator of bytes
        One coded frame each, in decode order.
    codec : str
        FFmpeg's name.
    subject : str
        How errors name the topic.

    Returns
    -------
    video : ScratchVideo
        The file.
    num_skipped : int
        Frames before the first key frame, which are not in it.

    Raises
    ------
    DataFaultError
        ``video-unreadable``: no key frame. ``metadata-contradiction``: the stream has another
        number of frames than messages.
    """
    file = ScratchFile(".ivf" if codec in _FOURCC else f".{codec}")
    with open(file.path, "wb") as out:
        num_skipped, num_frames = _write(frames, codec, out)
    if not num_frames:
        raise DataFaultError(
            f"{subject} has no key frame: got {num_skipped} frames that all refer to others, "
            f"expected a {codec} key frame to start from. Record with regular key frames.",
            kind=ErrorKind.VIDEO_UNREADABLE,
        )
    num_found = len(index_packets(file.path).pts_ticks)
    if num_found != num_frames:
        raise DataFaultError(
            f"{subject} has another number of frames than messages: got {num_found} frames in "
            f"{num_frames} messages, expected one each. Send every frame in a message of its own.",
            kind=ErrorKind.METADATA_CONTRADICTION,
            num_frames=num_found,
        )
    video = ScratchVideo(
        path=file.path, first_frame=0, num_frames=num_frames, is_last=True, file=file
    )
    return video, num_skipped


def _write(frames: Iterator[bytes], codec: str, out: BinaryIO) -> tuple[int, int]:
    """Return how many frames were passed over before the first key frame, and how many written."""
    num_skipped = num_frames = 0
    if codec in _FOURCC:
        head = (b"DKIF", 0, _IVF_HEADER.size, _FOURCC[codec], 0, 0, _RATE_HZ, 1, 0, 0)
        out.write(_IVF_HEADER.pack(*head))
    for frame in frames:
        if not num_frames and codec in COPYABLE_CODECS and not is_entry(codec, frame, b""):
            num_skipped += 1
            continue
        if codec in _FOURCC:
            out.write(_IVF_FRAME.pack(len(frame), num_frames))
        out.write(frame)
        num_frames += 1
    return num_skipped, num_frames
