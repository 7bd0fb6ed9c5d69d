"""What a built lake holds, as plain arrays to compare a reader with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robot_data_platform.core.identity import episode_id
from robot_data_platform.video.settings import GopProfile

Int64Array = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float32]

NO_PICTURE = -1
"""Number of the picture of a row that has none."""

FIRST_ROW_NS = 1_700_000_000_000_000_000
"""Time of the first row of every episode."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LakeShape:
    """How the episodes of a built lake look."""

    num_rows: int = 40
    """Rows of an upload's first episode; each further one has three more."""
    control_hz: int = 50
    cameras: tuple[str, ...] = ("env", "wrist")
    rows_per_picture: int = 2
    num_rows_without_picture: int = 0
    """Rows at the start that have no picture of the last camera."""
    width_px: int = 96
    height_px: int = 64
    gop_size: int = 8
    profile: GopProfile = "anchored"
    state_width: int = 7
    action_width: int = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeModel:
    """What one episode of a built lake holds; arrays of length N."""

    episode_id: str
    episode_index: int
    upload: str
    task: str
    timestamp_ns: Int64Array
    state: FloatArray
    """(N, D)."""
    action: FloatArray
    """(N, A)."""
    gripper: FloatArray
    """(N, 1) a held signal; NaN in the first two rows, before its first sample."""
    source: tuple[str | None, ...]
    """``human``, ``intervention`` or None."""
    picture_number: Mapping[str, Int64Array]
    """(N,) by camera: the number in the row's picture, or `NO_PICTURE`."""

    @property
    def num_rows(self) -> int:
        """N."""
        return len(self.timestamp_ns)


@dataclass(frozen=True, slots=True, kw_only=True)
class LakeModel:
    """Where a built lake is, and what it holds."""

    root: str
    dataset: str
    shape: LakeShape
    episodes: tuple[EpisodeModel, ...]


def model_episode(
    dataset: str, upload: str, episode_index: int, number: int, shape: LakeShape
) -> EpisodeModel:
    """Return an episode of random signals whose every picture has a number of its own."""
    num_rows = shape.num_rows + 3 * number
    rng = np.random.default_rng(episode_index)
    row = np.arange(num_rows)
    gripper = rng.random((num_rows, 1), dtype=np.float32)
    gripper[:2] = np.nan
    return EpisodeModel(
        episode_id=episode_id(dataset, upload, f"episode_{number}"),
        episode_index=episode_index,
        upload=upload,
        task=f"task {number % 2}",
        timestamp_ns=FIRST_ROW_NS + row * (1_000_000_000 // shape.control_hz),
        state=rng.standard_normal((num_rows, shape.state_width), dtype=np.float32),
        action=rng.standard_normal((num_rows, shape.action_width), dtype=np.float32),
        gripper=gripper,
        source=tuple((None, "human", "intervention")[n % 3] for n in range(num_rows)),
        picture_number={
            camera: _numbers(episode_index, camera, row, shape) for camera in shape.cameras
        },
    )


def _numbers(episode_index: int, camera: str, row: Int64Array, shape: LakeShape) -> Int64Array:
    number = first_number(episode_index, camera, shape) + row // shape.rows_per_picture
    has_none = (camera == shape.cameras[-1]) & (row < shape.num_rows_without_picture)
    return np.where(has_none, NO_PICTURE, number)


def first_number(episode_index: int, camera: str, shape: LakeShape) -> int:
    """Return the number in the first picture of a camera stream."""
    stream = episode_index * len(shape.cameras) + shape.cameras.index(camera)
    return stream * (shape.num_rows + 100)
