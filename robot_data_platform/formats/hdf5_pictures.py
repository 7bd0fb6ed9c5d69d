"""Pictures in HDF5 datasets: raw arrays, depth maps, JPEG rows padded or of varying length."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum, auto
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from robot_data_platform.core.recording import AnyPicture, PictureSequence
from robot_data_platform.core.source import Source
from robot_data_platform.formats.data_files import unreadable
from robot_data_platform.formats.hdf5_files import (
    CHUNK_CACHE_BYTES,
    check_chunk,
    check_size,
    open_hdf5,
)
from robot_data_platform.formats.hdf5_members import dataset_at
from robot_data_platform.formats.hdf5_process import read_apart
from robot_data_platform.formats.pictures import as_rgb, decode_picture

if TYPE_CHECKING:
    import h5py


BLOCK_BYTES = 16 << 20
"""Pictures that are fetched at once, where a chunk of the file does not hold more."""
VARYING_ROWS = 32
"""Encoded pictures of unknown length that are fetched at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pixels:
    """Consecutive pictures of a dataset that were written to a file."""

    path: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]


Stored = npt.NDArray[Any] | bytes
"""A picture as it is stored: its pixels, or its encoding."""
Block = Pixels | list[bytes]
"""Some pictures on their way here."""


class PictureLayout(Enum):
    """How one camera's pictures are stored."""

    RAW = auto()
    """(T, H, W, 3) uint8."""
    DEPTH = auto()
    """(T, H, W) or (T, H, W, 1) uint16."""
    PADDED = auto()
    """(T, L) uint8 or T strings of bytes: encoded pictures, padded with zeros to equal length."""
    VARYING = auto()
    """T arrays of uint8, each as long as its encoded picture."""


def picture_layout(dataset: h5py.Dataset) -> PictureLayout | None:
    """Return how a dataset stores pictures, or None where it holds something else."""
    import h5py

    is_bytes = dataset.dtype == np.uint8
    if is_bytes and dataset.ndim == 4 and dataset.shape[3] == 3 and 0 not in dataset.shape[1:]:
        return PictureLayout.RAW
    if _is_depth(dataset):
        return PictureLayout.DEPTH
    if (is_bytes and dataset.ndim == 2) or (dataset.dtype.kind in "SV" and dataset.ndim == 1):
        return PictureLayout.PADDED
    varying = h5py.check_vlen_dtype(dataset.dtype) == np.uint8
    if dataset.ndim == 1 and (varying or h5py.check_string_dtype(dataset.dtype)):
        return PictureLayout.VARYING
    return None


def _is_depth(dataset: h5py.Dataset) -> bool:
    is_map = dataset.ndim == 3 or (dataset.ndim == 4 and dataset.shape[3] == 1)
    return _is_uint16(dataset.dtype) and is_map and 0 not in dataset.shape[1:]


def _is_uint16(dtype: np.dtype[Any]) -> bool:
    """Return whether numbers are uint16 of either byte order."""
    return dtype.kind == "u" and dtype.itemsize == 2


def picture_sequence(
    source: Source, relative: str, dataset: h5py.Dataset, num_rows: int, channel_order: str | None
) -> PictureSequence:
    """Return one camera's pictures, of which some MiB, or one chunk, are in memory at a time.

    Parameters
    ----------
    source, relative : Source, str
        The file.
    dataset : h5py.Dataset
        The pictures; the file is opened again whenever they are read.
    num_rows : int
        Pictures to read: as many as the episode has rows.
    channel_order : str or None
        ``bgr`` where blue comes first in the file.
    """
    read = partial(_iterate, source, relative, str(dataset.name), num_rows, channel_order)
    return PictureSequence(num_frames=num_rows, read=read, is_depth=_is_depth(dataset))


def _iterate(
    source: Source, relative: str, path: str, num_rows: int, channel_order: str | None
) -> Iterator[AnyPicture]:
    where = f"{relative!r} dataset {path!r}"
    with tempfile.TemporaryDirectory(prefix="rdp-hdf5-") as scratch:
        place = (relative, path, str(Path(scratch) / "pixels"))
        row = 0
        while row < num_rows:
            for value in _fetched(
                read_apart(source, (relative,), _read_block, place, row, num_rows)
            ):
                yield _picture(value, channel_order, f"{where} row {row} of {source.label!r}")
                row += 1


def _fetched(block: Block) -> Iterable[Stored]:
    if isinstance(block, list):
        return block
    pixels: npt.NDArray[Any] = np.fromfile(block.path, block.dtype)
    return pixels.reshape(block.shape)


def _picture(value: Stored, channel_order: str | None, where: str) -> AnyPicture:
    if isinstance(value, bytes):
        return as_rgb(decode_picture(value, where), channel_order)
    if _is_uint16(value.dtype):
        return value.reshape(value.shape[:2]).astype(np.uint16)
    return as_rgb(value, channel_order)


def _read_block(source: Source, place: tuple[str, str, str], start: int, num_rows: int) -> Block:
    """Return the next stored pictures of a dataset, of which the first ``num_rows`` are read.

    ``place`` is the file, the dataset, and a file to write pixels to: through a pipe they would
    take longer than their encoding.
    """
    relative, path, target = place
    with open_hdf5(source, relative) as file:
        dataset = dataset_at(file, path, f"{relative!r}")
        layout = None if dataset is None else picture_layout(dataset)
        if dataset is None or layout is None or len(dataset) < num_rows:
            got = f"got no {num_rows} pictures in {path!r}, expected those that were listed"
            raise unreadable(source, relative, got)
        row_bytes = _row_bytes(dataset)
        check_size(row_bytes, f"{relative!r} dataset {path!r}")
        check_chunk(dataset, f"{relative!r} dataset {path!r}")
        rows = dataset[start : min(start + _block_rows(dataset, row_bytes), num_rows)]
    if layout not in (PictureLayout.RAW, PictureLayout.DEPTH):
        return [_bytes(value) for value in rows]
    rows.tofile(target)
    return Pixels(path=target, shape=rows.shape, dtype=rows.dtype)


def _row_bytes(dataset: h5py.Dataset) -> int:
    item_bytes = int(dataset.dtype.itemsize)
    return item_bytes * math.prod(int(side) for side in dataset.shape[1:])


def _block_rows(dataset: h5py.Dataset, row_bytes: int) -> int:
    """Return how many rows to read at once: whole chunks, since HDF5 unpacks no less than one."""
    if dataset.ndim == 1 and dataset.dtype.kind == "O":
        return VARYING_ROWS
    wanted, most = BLOCK_BYTES // row_bytes, CHUNK_CACHE_BYTES // row_bytes
    rows_per_chunk = int(dataset.chunks[0]) if dataset.chunks else 1
    whole_chunks = max(1, wanted // rows_per_chunk) * rows_per_chunk
    return max(1, min(whole_chunks, most))


def _bytes(value: object) -> bytes:
    # Zeros after a JPEG's or PNG's end mark are padding; neither ends with a zero byte itself.
    data = value if isinstance(value, bytes) else np.asarray(value).tobytes()
    return data.rstrip(b"\0")
