"""Decoded pictures of rows, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from robot_data_platform.errors import ErrorKind, InvalidInputError
from robot_data_platform.reader.batch import picture_slots
from robot_data_platform.reader.buffers import Lease
from robot_data_platform.reader.cameras import camera_not_found
from robot_data_platform.reader.error_counts import count_read_errors
from robot_data_platform.reader.gop_jobs import NO_PICTURE
from robot_data_platform.reader.items import Batch
from robot_data_platform.reader.view import View

Int64Array = npt.NDArray[np.int64]


def read_frames(
    view: View, cameras: Sequence[str], item: Int64Array, lease: Lease, concurrency: int | None
) -> Batch:
    """Return the pictures of some items, as `RobotLanceDataset.take_frames_decoded` says."""
    for camera in cameras:
        if camera not in view.sizes:
            raise camera_not_found(camera, view.sizes, view.place)
    if concurrency is not None and concurrency < 1:
        raise InvalidInputError(
            f"concurrency={concurrency} decodes nothing: expected 1 or more, or None for as many "
            "as there are cores.",
            kind=ErrorKind.INVALID_ARGUMENT,
        )
    taken, at = np.unique(view.selection.positions(item), return_inverse=True)
    refs = view.rows.take(taken).refs
    slots = [
        picture_slots(view, camera, refs[camera], at, lease) for camera in dict.fromkeys(cameras)
    ]
    faults = view.pictures.read(slots, view.cache, concurrency)
    if faults:
        count_read_errors(faults)
        raise faults[0]
    pictures: dict[str, npt.NDArray[np.generic] | list[str]] = {}
    for filled in slots:
        pictures[filled.camera] = filled.out
        pictures[f"{filled.camera}_is_missing"] = filled.gop_key == NO_PICTURE
    return pictures
