"""One decoded picture of one row."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from robot_data_platform.errors import ErrorKind, NotFoundError
from robot_data_platform.reader.dataset import RobotLanceDataset

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from robot_data_platform.storage.lake import Lake


def read_frame(
    lake: Lake | str | Path, dataset: str, episode: str | int, row: int, camera: str
) -> npt.NDArray[np.uint8] | npt.NDArray[np.uint16]:
    """Return the picture that a row of an episode refers to, as the dataset is now.

    Parameters
    ----------
    lake : Lake, str or Path
        The lake, or its location.
    dataset : str
        Name of the dataset.
    episode : str or int
        ``episode_id`` or ``episode_index``.
    row : int
        ``frame_index`` of the row.
    camera : str
        Name of the camera.

    Returns
    -------
    ndarray
        (H, W, 3) uint8 RGB; or (H, W, 1) uint16 of a camera of depth maps, as recorded.

    Raises
    ------
    NotFoundError
        ``camera-not-found``: the episode has no such camera, or no picture of it at that row; and
        as `RobotLanceDataset`.
    IndexOutOfRangeError
        ``index-out-of-range``: the episode has no such row.
    """
    rows = RobotLanceDataset(lake, dataset, episodes=[episode], cameras=[camera], columns=[])
    try:
        item = rows[row]
    finally:
        rows.close()
    key = f"observation.images.{camera}"
    if item[f"{key}_is_missing"]:
        raise NotFoundError(
            f"Row {row} of episode {episode!r} of dataset {dataset!r} has no picture of camera "
            f"{camera!r}: none was taken near its time. Look at another row.",
            kind=ErrorKind.CAMERA_NOT_FOUND,
            dataset=dataset,
            row=row,
            camera=camera,
        )
    picture: npt.NDArray[np.uint8] | npt.NDArray[np.uint16] = item[key]
    return picture
