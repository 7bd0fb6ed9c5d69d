"""Encoded depth maps (16-bit grey PNG or TIFF) to arrays."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from PIL import Image, UnidentifiedImageError

from robot_data_platform.core.recording import DepthPicture
from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform.formats.pictures import PNG_MAGIC, is_deep_png

TIFF_MAGICS = (b"II*\x00", b"MM\x00*")
DEPTH_MODES = ("I;16", "I;16B", "I;16L")
"""Pillow's modes of 16-bit grey, in any order of bytes."""
DAMAGE = (OSError, SyntaxError, TypeError, ValueError, UserWarning)
"""What Pillow raises for damage; `UnidentifiedImageError` is an ``OSError``."""
_PNG_GREY = b"\x00"
"""PNG specification, 11.2.2 IHDR: the colour type of grey, behind the bit depth."""


def is_depth_picture(data: bytes) -> bool:
    """Return whether a whole encoded picture is 16-bit grey by its header: a PNG, or a TIFF."""
    if data.startswith(TIFF_MAGICS):
        try:
            with _opened(data, "TIFF") as image:
                return image.mode in DEPTH_MODES
        except (Image.DecompressionBombError, *DAMAGE):
            return False
    return is_deep_png(data) and data[25:26] == _PNG_GREY


def decode_depth(data: bytes, where: str) -> DepthPicture:
    """Return a 16-bit grey PNG or TIFF, sample values as they are.

    Parameters
    ----------
    data : bytes
        The whole encoded picture; zero bytes after its end are padding.
    where : str
        File, dataset and row, for the message.

    Returns
    -------
    ndarray of uint16, shape (H, W)

    Raises
    ------
    DataFaultError
        ``unreadable-file``: not such a picture, damaged, or absurdly large.
    """
    if not data.startswith((PNG_MAGIC, *TIFF_MAGICS)):
        raise _bad_depth(where, f"{len(data)} bytes that start with {data[:8].hex(' ')!r}")
    try:
        with _opened(data, "PNG", "TIFF") as image:
            if image.mode not in DEPTH_MODES:
                raise _bad_depth(where, f"pixels of mode {image.mode!r}")
            return np.asarray(image).astype(np.uint16)
    except UnidentifiedImageError as err:
        raise _bad_depth(where, "a damaged header") from err
    except Image.DecompressionBombError as err:
        raise _bad_depth(where, str(err)) from err
    except DAMAGE as err:
        raise _bad_depth(where, f"a damaged picture ({err})") from err


@contextmanager
def _opened(data: bytes, *formats: str) -> Iterator[Image.Image]:
    """Open a picture; Pillow warns of damage in a TIFF, and would go on with what is left of it."""
    with (
        warnings.catch_warnings(action="error", category=UserWarning),
        Image.open(io.BytesIO(data), formats=formats) as image,
    ):
        yield image


def _bad_depth(where: str, got: str) -> DataFaultError:
    return DataFaultError(
        f"{where} is no readable depth map: got {got}, expected a whole 16-bit grey PNG or TIFF. "
        "Record the episode again, or drop it.",
        kind=ErrorKind.UNREADABLE_FILE,
        where=where,
    )
