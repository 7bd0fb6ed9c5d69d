"""Encoded still pictures (JPEG, PNG) to RGB arrays."""

from __future__ import annotations

import io

import numpy as np
from PIL import Image, UnidentifiedImageError

from robot_data_platform.core.recording import Picture
from robot_data_platform.errors import DataFaultError, ErrorKind

JPEG_MAGIC = b"\xff\xd8\xff"
PNG_MAGIC = b"\x89PNG\r\n\x1a\n"
EIGHT_BIT_MODES = frozenset({"L", "P", "RGB", "RGBA"})
"""Pillow's modes that become RGB without losing bits of depth."""


def decode_picture(data: bytes, where: str) -> Picture:
    """Return a JPEG or PNG picture as RGB; an alpha channel is left out.

    Parameters
    ----------
    data : bytes
        The whole encoded picture; zero bytes after its end are padding.
    where : str
        File, dataset and row, for the message.

    Returns
    -------
    ndarray of uint8, shape (H, W, 3)
        RGB.

    Raises
    ------
    DataFaultError
        ``unreadable-file``: not a JPEG or PNG, damaged, deeper than 8 bits, or absurdly large.
    """
    if not data.startswith((JPEG_MAGIC, PNG_MAGIC)):
        raise _bad_picture(where, f"{len(data)} bytes that start with {data[:8].hex(' ')!r}")
    if is_deep_png(data):  # of colour Pillow would drop the low bits without a word
        raise _bad_picture(where, "a PNG of 16 bits a sample")
    try:
        with Image.open(io.BytesIO(data), formats=("JPEG", "PNG")) as image:
            if image.mode not in EIGHT_BIT_MODES:
                raise _bad_picture(where, f"pixels of mode {image.mode!r}")
            return np.asarray(image.convert("RGB"))
    except UnidentifiedImageError as err:
        raise _bad_picture(where, "a damaged header") from err
    except Image.DecompressionBombError as err:
        raise _bad_picture(where, str(err)) from err
    except (OSError, SyntaxError, ValueError) as err:
        raise _bad_picture(where, f"a damaged picture ({err})") from err


def is_deep_png(data: bytes) -> bool:
    """Return whether a picture is a PNG of 16 bits a sample, as depth maps are.

    The first 25 bytes are enough.
    """
    # PNG specification, 11.2.2 IHDR: the bit depth follows two sizes in the first chunk.
    return data.startswith(PNG_MAGIC) and data[24:25] == b"\x10"


def as_rgb(picture: Picture, channel_order: str | None) -> Picture:
    """Return a picture, (H, W, 3) uint8, with red first; ``bgr`` says that blue is."""
    return np.ascontiguousarray(picture[:, :, ::-1]) if channel_order == "bgr" else picture


def _bad_picture(where: str, got: str) -> DataFaultError:
    return DataFaultError(
        f"{where} is no readable picture: got {got}, expected a whole 8-bit JPEG or PNG. "
        "Record the episode again, or drop it.",
        kind=ErrorKind.UNREADABLE_FILE,
        where=where,
    )
