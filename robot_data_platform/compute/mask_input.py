"""Masks of the robot that a dataset records as pictures of a camera of their own."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from robot_data_platform.compute.camera_input import working_frames
from robot_data_platform.spatial.judgement import not_measured

if TYPE_CHECKING:
    import numpy.typing as npt

    from robot_data_platform.core.finding import Finding
    from robot_data_platform.quality.stored_episode import StoredEpisode, StoredStream
    from robot_data_platform.spatial.episode_input import CameraInput
    from robot_data_platform.storage.table import LakeTable

RULE = "masks_are_recorded"
MASK_LEVEL = 127
"""Levels of grey above which a pixel is one of the robot."""


def with_recorded_masks(
    gops: LakeTable, stored: StoredEpisode, camera: CameraInput, mask_camera: str | None
) -> tuple[CameraInput, list[Finding]]:
    """Return a camera with its masks where the profile names a camera of them, or why not.

    A mask is the one nearest in time to its picture; where none is within half a period of them,
    none of the camera's are taken.

    Raises
    ------
    DataFaultError
        ``gop-damaged``: a mask does not decode.
    """
    if mask_camera is None or not len(camera.pictures):
        return camera, []
    where = f"camera={camera.name}"
    stream = stored.stream(mask_camera)
    if stream is None:
        reason = f"the camera {mask_camera!r} of its masks is not in the data"
        return camera, [not_measured(RULE, where, reason)]
    frames = _nearest(stream, camera)
    if frames is None:
        reason = f"{mask_camera!r} has no mask at the time of each of its pictures"
        return camera, [not_measured(RULE, where, reason)]
    distinct, place = np.unique(frames, return_inverse=True)
    pictures = working_frames(gops, stream, distinct)
    if pictures.shape[1:3] != camera.pictures.shape[1:3]:
        got, expected = pictures.shape[1:3], camera.pictures.shape[1:3]
        reason = f"masks of {mask_camera!r} have the shape {got}, and its pictures {expected}"
        return camera, [not_measured(RULE, where, reason)]
    masks = pictures.max(axis=3) > MASK_LEVEL
    return replace(camera, masks=masks[place]), []


def _nearest(stream: StoredStream, camera: CameraInput) -> npt.NDArray[np.int64] | None:
    """Return the mask that belongs to each picture of the plan, (K,), or None."""
    mask_ns, wanted_ns = stream.pts_ns, camera.frame_ns[camera.plan.pictures]
    if len(mask_ns) < 2:
        return None
    later = np.clip(np.searchsorted(mask_ns, wanted_ns), 1, len(mask_ns) - 1)
    is_earlier = wanted_ns - mask_ns[later - 1] <= mask_ns[later] - wanted_ns
    nearest = np.where(is_earlier, later - 1, later)
    away_ns = np.abs(mask_ns[nearest] - wanted_ns)
    return nearest if 2 * away_ns.max() <= np.median(np.diff(mask_ns)) else None
