"""Single pictures as files: PNG for looking at a frame, contact sheets for metadata."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence

import numpy as np
from PIL import Image

from robot_data_platform.core.recording import AnyPicture, DepthPicture, Picture
from robot_data_platform.errors import ErrorKind, InvalidInputError

MAX_SHEET_BYTES = 20_000
"""Bytes of a contact sheet; metadata of a materialization carries one per camera."""

MAX_TILE_WIDTH_PX = 240
NUM_COLUMNS = 4
DARKEST_MEASURED = 48
"""Grey of the nearest distance of a depth map, told apart from black by eye."""
QUALITIES = (80, 65, 50, 35, 20)
"""JPEG qualities that are tried before the tiles are made smaller."""


def encode_png(picture: AnyPicture) -> bytes:
    """Return a picture as PNG bytes, exactly.

    Parameters
    ----------
    picture : ndarray
        (H, W, 3) uint8 RGB; or (H, W) or (H, W, 1) uint16 of depth, which gives 16-bit grey.
    """
    is_depth = picture.dtype == np.uint16
    return _encode(
        Image.fromarray(picture.reshape(picture.shape[:2]) if is_depth else picture), "PNG"
    )


def shade_depth(depth: DepthPicture) -> Picture:
    """Return a depth map, (H, W), as an RGB picture to look at: near is dark, not measured black.

    Greys are spread over the distances that the map has.
    """
    measured = depth[depth > 0]
    if not len(measured):
        return np.zeros((*depth.shape, 3), np.uint8)
    near, far = int(measured.min()), int(measured.max())
    share = (depth.astype(np.float32) - near) / max(1, far - near)
    grey = np.where(depth > 0, DARKEST_MEASURED + share * (255 - DARKEST_MEASURED), 0)
    return np.repeat(grey.astype(np.uint8)[:, :, None], 3, axis=2)


def contact_sheet(pictures: Sequence[Picture], max_bytes: int = MAX_SHEET_BYTES) -> bytes:
    """Return pictures side by side, four in a row, as one JPEG of limited size.

    Parameters
    ----------
    pictures : sequence of ndarray of uint8, shape (H, W, 3)
        RGB; sizes may differ, each keeps its aspect ratio.
    max_bytes : int, default 20,000
        Limit that the file never exceeds: quality goes first, then size.

    Returns
    -------
    bytes
        A JPEG file.

    Raises
    ------
    InvalidInputError
        ``invalid-argument``: no pictures, or a limit that not even one-pixel tiles meet.
    """
    if not pictures:
        raise _no_sheet("no pictures", "1 or more")
    tile_width_px = min(MAX_TILE_WIDTH_PX, max(picture.shape[1] for picture in pictures))
    while tile_width_px >= 1:
        sheet = _sheet(pictures, tile_width_px)
        for quality in QUALITIES:
            data = _encode(sheet, "JPEG", quality=quality)
            if len(data) <= max_bytes:
                return data
        tile_width_px = tile_width_px * 3 // 4
    raise _no_sheet(f"a limit of {max_bytes} bytes", "room for one-pixel tiles")


def _sheet(pictures: Sequence[Picture], tile_width_px: int) -> Image.Image:
    tallest = max(picture.shape[0] / picture.shape[1] for picture in pictures)
    tile_height_px = max(1, math.ceil(tile_width_px * tallest))
    num_columns = min(NUM_COLUMNS, len(pictures))
    num_rows = math.ceil(len(pictures) / num_columns)
    sheet = Image.new("RGB", (num_columns * tile_width_px, num_rows * tile_height_px))
    for at, picture in enumerate(pictures):
        row, column = divmod(at, num_columns)
        tile = _tile(picture, tile_width_px)
        sheet.paste(tile, (column * tile_width_px, row * tile_height_px))
    return sheet


def _tile(picture: Picture, width_px: int) -> Image.Image:
    height_px = max(1, round(width_px * picture.shape[0] / picture.shape[1]))
    return Image.fromarray(np.ascontiguousarray(picture)).resize((width_px, height_px))


def _encode(image: Image.Image, file_format: str, **options: int) -> bytes:
    file = io.BytesIO()
    image.save(file, file_format, **options)
    return file.getvalue()


def _no_sheet(got: str, expected: str) -> InvalidInputError:
    return InvalidInputError(
        f"Contact sheet can't be made: got {got}, expected {expected}. Pass other pictures or a "
        "larger limit.",
        kind=ErrorKind.INVALID_ARGUMENT,
    )
