"""Pictures of an ALOHA file: raw arrays, padded JPEG rows, or JPEG of varying length."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum, auto
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from robot_data_platform.core.recording import Picture, PictureSequence
from robot_data_platform.core.source import Source
from robot_data_platform.formats.aloha_hdf5.hdf5_files import (
    check_size,
    datasets,
    group_at,
    open_hdf5,
)
from robot_data_platform.formats.pictures import decode_picture

if TYPE_CHECKING:
    import h5py

IMAGES = "observations/images"
"""Group that holds one dataset per camera."""


class PictureLayout(Enum):
    """How one camera's pictures are stored."""

    RAW = auto()
    """(T, H, W, 3) uint8."""
    PADDED = auto()
    """(T, L) uint8 or T strings of bytes: encoded pictures, padded with zeros to equal length."""
    VARYING = auto()
    """T arrays of uint8, each as long as its encoded picture."""


def picture_layout(dataset: h5py.Dataset) -> PictureLayout | None:
    """Return how a dataset stores pictures, or None where it holds something else."""
    import h5py

    is_bytes = dataset.dtype == np.uint8
    if is_bytes and dataset.ndim == 4 and dataset.shape[3] == 3:
        return PictureLayout.RAW
    if (is_bytes and dataset.ndim == 2) or (dataset.dtype.kind in "SV" and dataset.ndim == 1):
        return PictureLayout.PADDED
    varying = h5py.check_vlen_dtype(dataset.dtype) == np.uint8
    if dataset.ndim == 1 and (varying or h5py.check_string_dtype(dataset.dtype)):
        return PictureLayout.VARYING
    return None


def picture_sequence(
    source: Source, relative: str, camera: str, num_rows: int, is_bgr: bool
) -> PictureSequence:
    """Return one camera's pictures, read one row at a time.

    Parameters
    ----------
    source, relative : Source, str
        The file.
    camera : str
        Name of the dataset below ``/observations/images``.
    num_rows : int
        Pictures to read: as many as the episode has rows.
    is_bgr : bool
        Whether blue comes first in the file.
    """
    read = partial(_iterate, source, relative, camera, num_rows, is_bgr)
    return PictureSequence(num_frames=num_rows, read=read)


def _iterate(
    source: Source, relative: str, camera: str, num_rows: int, is_bgr: bool
) -> Iterator[Picture]:
    with open_hdf5(source, relative) as file:
        dataset = dict(datasets(group_at(file, IMAGES), f"{relative!r}"))[camera]
        layout = picture_layout(dataset)
        check_size(dataset.dtype.itemsize * int(np.prod(dataset.shape[1:])), f"{relative!r}")
        for row in range(num_rows):
            where = f"{relative!r} dataset '/{IMAGES}/{camera}' row {row} of {source.label!r}"
            value = dataset[row]
            picture = value if layout is PictureLayout.RAW else decode_picture(_bytes(value), where)
            yield np.ascontiguousarray(picture[:, :, ::-1]) if is_bgr else picture


def _bytes(value: object) -> bytes:
    # Zeros after a JPEG's or PNG's end mark are padding; neither ends with a zero byte itself.
    data = value if isinstance(value, bytes) else np.asarray(value).tobytes()
    return data.rstrip(b"\0")
