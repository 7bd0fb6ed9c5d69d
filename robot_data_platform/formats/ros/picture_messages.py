"""Messages that hold one picture: whether it is whole, and the picture itself."""

from __future__ import annotations

import base64
from collections.abc import Callable

import numpy as np

from robot_data_platform.core.recording import AnyPicture
from robot_data_platform.formats.depth_pictures import decode_depth, is_depth_picture
from robot_data_platform.formats.pictures import (
    JPEG_MAGIC,
    PNG_MAGIC,
    as_rgb,
    decode_picture,
    is_deep_png,
)
from robot_data_platform.formats.ros.fields import member
from robot_data_platform.formats.ros.pixels import (
    DEPTH,
    UNSTATED_ORDER,
    size_fault,
    to_depth,
    to_rgb,
    why_not_converted,
)
from robot_data_platform.formats.ros.topic_types import Role
from robot_data_platform.formats.ros.video_topics import CODEC_BY_FORMAT

ENCODED = "encoded"
"""Kind of JPEG and PNG pictures."""
PNG_OF_DEPTH = "depth"
"""Kind of encoded depth maps whose messages don't say that they are ``16UC1``."""
DEPTH_KINDS = frozenset({DEPTH, PNG_OF_DEPTH})
_COMPRESSED_DEPTH, _CONFIG_BYTES = "compressedDepth", 12
"""ROS' compressed_depth_image_transport puts its configuration before the PNG."""
_SIZES = ("width", "height", "step")


class PictureFaultError(ValueError):
    """What is wrong with one picture."""


class NotACameraError(ValueError):
    """Why a topic's pictures can't be a camera's."""


def kind_of(message: object, role: Role) -> str:
    """Return what a message's picture is: a raw encoding, ``ENCODED``, a kind of depth, a codec.

    Raises
    ------
    NotACameraError
        It is of a kind that becomes no video.
    PictureFaultError
        It is not whole.
    """
    return _KINDS[role](message)


def picture_of(message: object, role: Role, where: str, channel_order: str | None) -> AnyPicture:
    """Return the picture of a message that ``kind_of`` found to be whole.

    Parameters
    ----------
    message : object
        The message.
    role : Role
        ``RAW_PICTURE`` or ``ENCODED_PICTURE``.
    where : str
        For the message of an error.
    channel_order : str or None
        ``bgr`` says that blue comes first where the encoding does not say.

    Returns
    -------
    ndarray
        (H, W, 3) uint8 RGB, or (H, W) uint16 of depth.

    Raises
    ------
    DataFaultError
        ``unreadable-file``: its bytes are damaged.
    """
    if role is Role.RAW_PICTURE:
        return _raw_picture(message, channel_order)
    data = _file_of(message)
    return decode_depth(data, where) if is_depth_picture(data) else decode_picture(data, where)


def payload(message: object) -> bytes:
    """Return the bytes of a message's field ``data``: as they are, or as base64 in JSON."""
    data = member(message, "data")
    if isinstance(data, np.ndarray):
        return data.tobytes()
    if isinstance(data, str):
        return base64.b64decode(data, validate=True)
    return data if isinstance(data, bytes) else b""


def _raw_size(message: object) -> tuple[str, int, int, int]:
    encoding, sizes = member(message, "encoding"), [member(message, n) for n in _SIZES]
    if not isinstance(encoding, str) or not all(type(size) is int for size in sizes):
        raise PictureFaultError(f"encoding {encoding!r:.40} and sizes {sizes!r:.80}")
    width, height, step = (int(str(size)) for size in sizes)
    return encoding, width, height, step


def _raw_kind(message: object) -> str:
    encoding, width, height, step = _raw_size(message)
    reason = why_not_converted(encoding)
    if reason:
        raise NotACameraError(reason)
    data = member(message, "data")
    num_bytes = len(data) if isinstance(data, np.ndarray | bytes) else len(payload(message))
    fault = size_fault(encoding, width, height, step, num_bytes)
    if fault:
        raise PictureFaultError(fault)
    return encoding


def _encoded_kind(message: object) -> str:
    stated, data = str(member(message, "format") or ""), _file_of(message)
    if stated.startswith("32FC1"):
        raise NotACameraError(f"format {stated!r}: depth in floats, which 16 bits would spoil")
    if is_depth_picture(data):
        return DEPTH if stated.startswith(DEPTH) else PNG_OF_DEPTH
    if is_deep_png(data):
        raise NotACameraError(f"format {stated!r}: 16 bits a sample, which 8-bit video would spoil")
    if not data.startswith((JPEG_MAGIC, PNG_MAGIC)):
        raise PictureFaultError(f"no JPEG or PNG but {len(data)} bytes of format {stated!r}")
    return ENCODED


def _codec(message: object) -> str:
    stated = str(member(message, "format") or "")
    codec = CODEC_BY_FORMAT.get(stated.lower())
    if codec is None:
        known = ", ".join(sorted(CODEC_BY_FORMAT))
        raise NotACameraError(f"format {stated!r}: expected one of {known}")
    if not payload(message):
        raise PictureFaultError("no bytes")
    return codec


def _file_of(message: object) -> bytes:
    data = payload(message)
    is_behind_header = _COMPRESSED_DEPTH in str(member(message, "format"))
    return data[_CONFIG_BYTES:] if is_behind_header else data


def _raw_picture(message: object, channel_order: str | None) -> AnyPicture:
    encoding, width, height, _ = _raw_size(message)
    if encoding == DEPTH:
        is_bigendian = bool(member(message, "is_bigendian"))
        return to_depth(payload(message), width, height, is_bigendian=is_bigendian)
    rgb = to_rgb(payload(message), encoding, width, height)
    return as_rgb(rgb, channel_order if encoding == UNSTATED_ORDER else None)


_KINDS: dict[Role, Callable[[object], str]] = {
    Role.RAW_PICTURE: _raw_kind,
    Role.ENCODED_PICTURE: _encoded_kind,
    Role.VIDEO: _codec,
}
