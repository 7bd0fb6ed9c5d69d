"""Pictures that carry their own number, readable after lossy coding."""

from __future__ import annotations

import numpy as np

from robot_data_platform.core.recording import Picture
from robot_data_platform.errors import ErrorKind, InvalidInputError

NUM_BITS = 16
BITS_PER_ROW = 8
DARK, BRIGHT = 24, 224
"""RGB values of a 0 and a 1."""

MIN_HEIGHT_PX, MIN_WIDTH_PX = 24, 32
"""Below this a block is too small to survive a coder."""


def numbered_picture(number: int, height: int, width: int) -> Picture:
    """Return a picture that shows ``number`` as two rows of blocks above a moving background.

    The background has colour, texture and no symmetry, so that swapped channels, turned and shifted
    pictures are found out too.

    Parameters
    ----------
    number : int
        0 to 65,535.
    height, width : int
        Size in pixels, at least 24 by 32; odd sizes are fine.

    Returns
    -------
    ndarray of uint8, shape (height, width, 3)
        RGB.

    Raises
    ------
    InvalidInputError
        ``invalid-argument``: the number or the size is out of range.
    """
    if not 0 <= number < 1 << NUM_BITS or height < MIN_HEIGHT_PX or width < MIN_WIDTH_PX:
        raise InvalidInputError(
            f"Numbered picture can't be drawn: got number {number} at {width}x{height}, expected "
            f"0 to {(1 << NUM_BITS) - 1} at {MIN_WIDTH_PX}x{MIN_HEIGHT_PX} or more.",
            kind=ErrorKind.INVALID_ARGUMENT,
            number=number,
        )
    picture = _background(number, height, width)
    for bit in range(NUM_BITS):
        rows, columns = _block(bit, height, width)
        picture[rows, columns] = BRIGHT if number >> bit & 1 else DARK
    return picture


def read_number(rgb: Picture) -> int:
    """Return the number that a picture shows.

    Parameters
    ----------
    rgb : ndarray of uint8, shape (H, W, 3)
        A picture of ``numbered_picture``, or what a coder made of it.
    """
    height, width, _ = rgb.shape
    number = 0
    for bit in range(NUM_BITS):
        rows, columns = _block(bit, height, width)
        inner = rgb[rows, columns][1:-1, 1:-1]
        number |= int(inner.mean() > (DARK + BRIGHT) / 2) << bit
    return number


def _block(bit: int, height: int, width: int) -> tuple[slice, slice]:
    row, column = divmod(bit, BITS_PER_ROW)
    block_height = height // 6
    left, right = (width * edge // BITS_PER_ROW for edge in (column, column + 1))
    return slice(row * block_height, (row + 1) * block_height), slice(left, right)


def _background(number: int, height: int, width: int) -> Picture:
    y, x = np.mgrid[:height, :width]
    red = 60 + 120 * x / width
    green = 60 + 120 * y / height
    blue = 128 + 60 * np.sin((x + 2 * y + 3 * number) / 9)
    return np.stack([red, green, blue], axis=-1).astype(np.uint8)
