"""Renditions: every camera's pictures once more, in one smaller size, beside those as recorded."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, cast

import numpy as np
import numpy.typing as npt

from robot_data_platform.core.identity import CAMERA_BITS, GOP_INDEX_BITS, SLOT_BITS
from robot_data_platform.errors import ErrorKind, InvalidInputError

Int64Array = npt.NDArray[np.int64]
Fit = Literal["crop", "letterbox"]
"""How a picture meets another aspect ratio: its middle is cut out, or black bars are added."""

RENDITIONS_KEY = "rdp.renditions"
"""Schema metadata of ``gops``: JSON list of names, in the order of their slots from 1."""
MAX_RENDITIONS = (1 << SLOT_BITS) - 1
RENDITION_BITS = MAX_RENDITIONS << (CAMERA_BITS - SLOT_BITS)
"""Bits of a stream key that are 0 for pictures as recorded."""
MAX_SIDE_PX = 4096
_NAME = re.compile(r"([1-9][0-9]{0,3})x([1-9][0-9]{0,3})-(crop|letterbox)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendition:
    """Size and fit of pictures; its name says all of it."""

    height_px: int
    width_px: int
    fit: Fit

    @property
    def name(self) -> str:
        """Height, width and fit: ``224x224-crop``."""
        return f"{self.height_px}x{self.width_px}-{self.fit}"


def parse_rendition(name: str) -> Rendition:
    """Return the rendition of a name.

    Raises
    ------
    InvalidInputError
        ``invalid-argument``: the name is not HEIGHTxWIDTH-crop or -letterbox.
    """
    match = _NAME.fullmatch(name)
    if match is None or max(int(match[1]), int(match[2])) > MAX_SIDE_PX:
        raise InvalidInputError(
            f"Rendition {name!r} is not understood: expected HEIGHTxWIDTH-crop or "
            f"HEIGHTxWIDTH-letterbox with sides up to {MAX_SIDE_PX}, such as 224x224-crop.",
            kind=ErrorKind.INVALID_ARGUMENT,
            rendition=name,
        )
    fit = cast("Fit", match[3])
    return Rendition(height_px=int(match[1]), width_px=int(match[2]), fit=fit)


def rendition_ref_id(stream_ref_id: int, slot: int) -> int:
    """Return the key of a stream's rendition; slot 0 is the stream itself."""
    return stream_ref_id | slot << (CAMERA_BITS - SLOT_BITS)


def slot_of(stream_ref_id: Int64Array) -> Int64Array:
    """Return the slot of each stream key, (N,): 0 for pictures as recorded."""
    return stream_ref_id >> (CAMERA_BITS - SLOT_BITS) & MAX_RENDITIONS


def key_offset(slot: int) -> int:
    """Return what a GOP's key in a rendition is more than that of the GOP as recorded."""
    return slot << (CAMERA_BITS - SLOT_BITS + GOP_INDEX_BITS)
