"""HDF5 files that stay inside themselves: links and storage that lead out are refused."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from robot_data_platform.core.source import Source
from robot_data_platform.errors import DataFaultError, ErrorKind, RobotDataError
from robot_data_platform.formats.data_files import data_path, unreadable

if TYPE_CHECKING:
    import h5py

SUFFIXES = (".hdf5", ".h5")
CHUNK_CACHE_BYTES = 64 << 20
"""Room for one chunk of raw pictures, so that reading row by row decompresses each chunk once."""
MAX_READ_BYTES = 1 << 30
"""Most bytes of one signal or picture; larger declarations are refused before memory is taken."""


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
    except (OSError, RuntimeError, ValueError, TypeError, KeyError) as err:
        raise unreadable(source, relative, f"got {err}, expected a whole HDF5 file") from err


def datasets(group: h5py.Group | None, where: str) -> Iterator[tuple[str, h5py.Dataset]]:
    """Yield the datasets right below a group, by name; groups are passed over.

    Raises
    ------
    DataFaultError
        ``unsafe-path``: one of them lies outside of the file.
    """
    import h5py

    for name in group or ():
        link = group.get(name, getlink=True) if group is not None else None
        if isinstance(link, h5py.ExternalLink):
            raise _leads_out(where, name, f"a link to {link.filename!r}")
        item = group.get(name) if group is not None else None
        if isinstance(item, h5py.Dataset):
            if item.external or item.is_virtual:
                raise _leads_out(where, name, "storage in other files")
            yield name, item


def group_at(file: h5py.File, path: str) -> h5py.Group | None:
    """Return a group of the file, or None where there is none at that path."""
    import h5py

    item: object = file
    for part in path.split("/"):
        link = item.get(part, getlink=True) if isinstance(item, h5py.Group) else None
        if link is None or isinstance(link, h5py.ExternalLink):
            return None
        item = item.get(part) if isinstance(item, h5py.Group) else None
    return item if isinstance(item, h5py.Group) else None


def check_size(num_bytes: int, where: str) -> None:
    """Refuse a read that no recording needs.

    Raises
    ------
    DataFaultError
        ``shape-mismatch``: more than ``MAX_READ_BYTES``.
    """
    if num_bytes > MAX_READ_BYTES:
        raise DataFaultError(
            f"{where} declares an absurd size: got {num_bytes} bytes, expected at most "
            f"{MAX_READ_BYTES}. Check the file where it was recorded.",
            kind=ErrorKind.SHAPE_MISMATCH,
            num_bytes=num_bytes,
        )


def _leads_out(where: str, name: str, got: str) -> DataFaultError:
    return DataFaultError(
        f"{where} dataset {name!r} leads out of the file: got {got}, expected its content. "
        "Copy the content into the file.",
        kind=ErrorKind.UNSAFE_PATH,
        dataset=name,
    )
