"""Keys of episodes, streams and GOPs."""

from __future__ import annotations

import hashlib
import re

from robot_data_platform.errors import ErrorKind, InvalidInputError

GOP_INDEX_BITS = 20
CAMERA_BITS = 8
"""Bits of a stream's number within its episode, those of its slot included."""
SLOT_BITS = 2
"""The highest of them: 0 for pictures as recorded, else which rendition of them."""
MAX_CAMERAS = 1 << (CAMERA_BITS - SLOT_BITS)
_NAME = re.compile(r"[a-z0-9][a-z0-9_.-]{0,99}")


def episode_id(dataset: str, upload: str, source_key: str) -> str:
    """Return the stable id of an episode: the same after every re-ingestion of its upload."""
    text = "\x1f".join((dataset, upload, source_key))
    return "ep_" + hashlib.sha256(text.encode()).hexdigest()[:24]


def ref_id(episode_index: int, camera_number: int) -> int:
    """Return the int64 key of one camera stream of one ingestion of an episode.

    Raises
    ------
    InvalidInputError
        ``invalid-argument``: more cameras than the key has room for.
    """
    if not 0 <= camera_number < MAX_CAMERAS:
        raise InvalidInputError(
            f"Camera number {camera_number} does not fit a stream key: got {camera_number}, "
            f"expected 0..{MAX_CAMERAS - 1}. Split the episode's cameras over datasets.",
            kind=ErrorKind.INVALID_ARGUMENT,
            camera_number=camera_number,
        )
    return episode_index << CAMERA_BITS | camera_number


def gop_key(stream_ref_id: int, gop_index: int) -> int:
    """Return the int64 primary key of a GOP row.

    Raises
    ------
    InvalidInputError
        ``invalid-argument``: more GOPs than the key has room for.
    """
    if not 0 <= gop_index < 1 << GOP_INDEX_BITS:
        raise InvalidInputError(
            f"GOP {gop_index} of stream {stream_ref_id} does not fit its key: got {gop_index}, "
            f"expected 0..{(1 << GOP_INDEX_BITS) - 1}. Cut the recording into shorter episodes.",
            kind=ErrorKind.INVALID_ARGUMENT,
            ref_id=stream_ref_id,
            gop_index=gop_index,
        )
    return stream_ref_id << GOP_INDEX_BITS | gop_index


def check_name(name: str, what: str) -> str:
    """Return ``name`` if it can be a folder, a tag and a partition key at once.

    Raises
    ------
    InvalidInputError
        ``invalid-name``: other characters than ``a-z 0-9 _ . -``, or over 100 of them, or an
        end that Lance keeps from tags (``.`` and ``.lock``).
    """
    if not _NAME.fullmatch(name) or ".." in name or name.endswith((".", ".lock")):
        raise InvalidInputError(
            f"The {what} name {name!r} can't be used: expected 1 to 100 of a-z 0-9 _ . - "
            "starting with a letter or digit, no '..', and not ending in '.' or '.lock'. Choose "
            "another name.",
            kind=ErrorKind.INVALID_NAME,
            name=name,
        )
    return name
