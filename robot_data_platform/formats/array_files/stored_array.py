"""Arrays that are described but not in memory yet, whatever file they lie in."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Protocol

from robot_data_platform.errors import DataFaultError, ErrorKind

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

MAX_ARRAY_BYTES = 256 << 20
"""Most bytes of an array that is read whole; pictures are read row by row."""
MAX_ROW_BYTES = 256 << 20
"""Most bytes of one picture."""
MAX_DIMENSIONS = 8
MAX_ENTRIES = 1 << 40
"""Most entries that an array may claim at all."""


class StoredArray(Protocol):
    """An array in a file: its type and shape are claims until it is loaded."""

    @property
    def dtype(self) -> np.dtype[np.generic]:
        """Type of the entries: numbers or booleans."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Length of each dimension."""

    def load(self, where: str) -> npt.NDArray[np.generic]:
        """Return the whole array; ``where`` names it in messages.

        Raises
        ------
        DataFaultError
            ``shape-mismatch``: it is absurdly large, or its bytes are not of that shape.
        """

    def rows(self, where: str) -> Iterator[npt.NDArray[np.generic]]:
        """Yield the entries along the first dimension, one in memory at a time."""


def num_bytes(dtype: np.dtype[np.generic], shape: tuple[int, ...]) -> int:
    """Return the bytes that an array of some type and shape takes."""
    return dtype.itemsize * math.prod(shape)


def check_claim(dtype: np.dtype[np.generic], shape: tuple[int, ...], where: str) -> None:
    """Refuse an array that no recording needs to have in memory at once.

    Raises
    ------
    DataFaultError
        ``shape-mismatch``: it claims more than ``MAX_ARRAY_BYTES``.
    """
    claimed = num_bytes(dtype, shape)
    if claimed > MAX_ARRAY_BYTES:
        raise wrong_shape(
            where, f"{dtype} {shape}, {claimed} bytes", f"at most {MAX_ARRAY_BYTES} bytes"
        )


def wrong_shape(where: str, got: str, expected: str) -> DataFaultError:
    """Return the error for an array whose claims or bytes can't be."""
    return DataFaultError(
        f"{where} has an impossible shape: got {got}, expected {expected}. Check the file where "
        "it was recorded.",
        kind=ErrorKind.SHAPE_MISMATCH,
        where=where,
    )
