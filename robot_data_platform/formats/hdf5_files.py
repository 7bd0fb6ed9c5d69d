"""Opening HDF5 files: damage is told by the file's name, absurd sizes before memory is taken.

All of this runs in the process of `robot_data_platform.formats.hdf5_process`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from robot_data_platform.core.source import Source
from robot_data_platform.errors import DataFaultError, ErrorKind, RobotDataError
from robot_data_platform.formats.data_files import data_path, unreadable
from robot_data_platform.formats.natural_order import natural_key

if TYPE_CHECKING:
    import h5py

SUFFIXES = (".hdf5", ".h5")
NO_HDF5 = "whose names don't end in .hdf5 or .h5"
"""Why a file of a source is not read."""
CHUNK_CACHE_BYTES = 64 << 20
"""Room for one chunk of raw pictures, so that reading row by row decompresses each chunk once."""
MAX_READ_BYTES = 512 << 20
"""Most bytes of an episode's signals, of one picture or of one chunk: two of them fit a worker.
Larger declarations are refused before memory is taken; 40 values at 100 Hz last 4.6 hours."""


@contextmanager
def open_hdf5(source: Source, relative: str) -> Iterator[h5py.File]:
    """Open an HDF5 file; damage that shows while it is read is told by its name too.

    Raises
    ------
    DataFaultError
        ``missing-file``; ``unreadable-file``: no HDF5, truncated, or damaged.
    """
    import h5py

    path = data_path(source, relative)
    try:
        with h5py.File(path, "r", rdcc_nbytes=CHUNK_CACHE_BYTES, locking=False) as file:
            yield file
    except RobotDataError:
        raise
    except (OSError, RuntimeError, ValueError, TypeError, LookupError, MemoryError) as err:
        raise unreadable(source, relative, f"got {err}, expected a whole HDF5 file") from err


def list_hdf5(source: Source) -> list[str]:
    """Return the paths of the HDF5 files, by their suffix, in natural order."""
    return sorted((f for f in source.list_files() if f.endswith(SUFFIXES)), key=natural_key)


def check_size(num_bytes: int, where: str) -> None:
    """Refuse a read that no recording needs.

    Raises
    ------
    DataFaultError
        ``shape-mismatch``: more than ``MAX_READ_BYTES``.
    """
    if num_bytes > MAX_READ_BYTES:
        raise absurd(where, f"{num_bytes} bytes", f"{MAX_READ_BYTES}")


def check_chunk(dataset: h5py.Dataset, where: str) -> None:
    """Refuse a dataset that can't be read without taking absurd memory for one of its chunks."""
    if dataset.chunks is not None:
        check_size(dataset.dtype.itemsize * math.prod(dataset.chunks), f"{where} chunk")


def absurd(where: str, got: str, most: str) -> DataFaultError:
    """Return the error for a declared size that no recording has."""
    return DataFaultError(
        f"{where} declares an absurd size: got {got}, expected at most {most}. Check the file "
        "where it was recorded.",
        kind=ErrorKind.SHAPE_MISMATCH,
    )
