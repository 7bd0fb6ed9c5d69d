"""Pickles of plain arrays, read without calling anything that they name.

A pickle is a program. Here it may name five things of NumPy and one of Python's codecs; each is
answered by a stand-in of `pickled_values`. Anything else ends the reading before it is called.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable, Mapping
from pathlib import Path

from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform.formats.array_files.pickle_program import check_program
from robot_data_platform.formats.array_files.pickled_values import (
    EncodedText,
    PickledType,
    Reserved,
    StandIn,
    filled_array,
    new_array,
    new_scalar,
)

MAX_PICKLE_BYTES = 256 << 20
"""Larger files are refused: a pickle can only be read whole."""

ALLOWED: Mapping[tuple[str, str], Callable[..., object]] = {
    **{
        (f"numpy.{core}.multiarray", name): stand_in
        for core in ("core", "_core")
        for name, stand_in in (("_reconstruct", new_array), ("scalar", new_scalar))
    },
    ("numpy.core.numeric", "_frombuffer"): filled_array,
    ("numpy._core.numeric", "_frombuffer"): filled_array,
    ("numpy", "ndarray"): Reserved,
    ("numpy", "dtype"): PickledType,
    ("_codecs", "encode"): EncodedText,
}
"""Everything that a pickle may name, and what stands in for it."""


class _ForbiddenError(Exception):
    """A pickle names something that is not allowed."""


class _ArrayUnpickler(pickle.Unpickler):
    def find_class(self, module_name: str, global_name: str, /) -> object:
        """Return the stand-in of an allowed global; nothing is imported."""
        if (module_name, global_name) not in ALLOWED:
            raise _ForbiddenError(f"{module_name}.{global_name}")
        return StandIn(ALLOWED[module_name, global_name])


def read_pickle(path: Path, where: str) -> object:
    """Return what a pickle holds: plain Python values, and descriptions of arrays.

    Parameters
    ----------
    path : Path
        The file.
    where : str
        How messages name it.

    Raises
    ------
    DataFaultError
        As ``unpickled``; ``shape-mismatch``: it is too large.
    """
    size = path.stat().st_size
    if size > MAX_PICKLE_BYTES:
        raise DataFaultError(
            f"{where} is too large a pickle: got {size} bytes, expected at most "
            f"{MAX_PICKLE_BYTES}, since it can only be read whole. Write one file per episode.",
            kind=ErrorKind.SHAPE_MISMATCH,
            num_bytes=size,
        )
    return unpickled(path.read_bytes(), where)


def unpickled(data: bytes, where: str) -> object:
    """Return what the bytes of a pickle hold; text of Python 2 is taken as Latin-1.

    Raises
    ------
    DataFaultError
        ``unreadable-file``: it names something besides plain NumPy arrays, or is damaged.
    """
    try:
        check_program(data)
        return _ArrayUnpickler(io.BytesIO(data), encoding="latin1").load()
    except _ForbiddenError as err:
        raise DataFaultError(
            f"{where} is no pickle of plain arrays: it names {str(err)!r:.120}, expected dicts and "
            "lists of NumPy arrays of numbers. Nothing of it was run. Write it as npz or HDF5.",
            kind=ErrorKind.UNREADABLE_FILE,
            named=str(err)[:120],
        ) from err
    except (
        pickle.UnpicklingError,
        EOFError,
        ValueError,
        TypeError,
        AttributeError,
        LookupError,
        OverflowError,
        RecursionError,
    ) as err:
        raise DataFaultError(
            f"{where} can't be read as a pickle: got {str(err)[:160]!r}, expected a whole pickle "
            "of plain arrays. Upload it again from where it was recorded.",
            kind=ErrorKind.UNREADABLE_FILE,
        ) from err
