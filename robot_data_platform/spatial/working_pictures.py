"""Pictures as they are measured: small, and as a lens without distortion would show them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robot_data_platform.core.rotation import Float64Array
from robot_data_platform.spatial.episode_input import CameraInput
from robot_data_platform.spatial.frame_plan import working_size
from robot_data_platform.spatial.optional_packages import import_spatial
from robot_data_platform.spatial.projection import Pinhole
from robot_data_platform.spatial.time_lag import MOTION_SIZE_PX


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WorkingPictures:
    """Pictures of a camera at the working size, with the lens that they fit."""

    lens: Pinhole
    pictures: npt.NDArray[np.uint8]
    """(K, H, W, 3) RGB."""
    masks: npt.NDArray[np.bool_] | None
    """(K, H, W); None = not recorded."""

    def shrunk(self, by: int) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.bool_] | None]:
        """Return pictures and masks that are smaller by a factor."""
        height, width = (max(1, side // by) for side in self.pictures.shape[1:3])
        pictures = np.stack([_resized(picture, (width, height)) for picture in self.pictures])
        if self.masks is None:
            return pictures, None
        levels = [_resized(mask.astype(np.uint8) * 255, (width, height)) for mask in self.masks]
        return pictures, np.stack(levels) > 127


def working_picture(picture: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """Return a picture (H, W, 3) at the working size."""
    return _resized(picture, working_size(picture.shape[1], picture.shape[0]))


def motion_grey(luma: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """Return grey levels (H, W) so small that their change can be kept for many frames."""
    height, width = luma.shape
    factor = min(1.0, MOTION_SIZE_PX[0] / width, MOTION_SIZE_PX[1] / height)
    return _resized(luma, (max(1, round(factor * width)), max(1, round(factor * height))))


def _resized(picture: npt.NDArray[np.uint8], size: tuple[int, int]) -> npt.NDArray[np.uint8]:
    if picture.shape[1::-1] == size:
        return picture
    cv2 = import_spatial("cv2")
    return np.asarray(cv2.resize(picture, size, interpolation=cv2.INTER_AREA), dtype=np.uint8)


def working_pictures(camera: CameraInput, intrinsics_px: Float64Array) -> WorkingPictures:
    """Return the pictures of a camera at the working size, undistorted."""
    stored = Pinhole(
        intrinsics_px=intrinsics_px, width_px=camera.width_px, height_px=camera.height_px
    )
    size = working_size(camera.width_px, camera.height_px)
    lens = stored.resized(*size)

    def working(picture: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
        return _undistorted(_resized(picture, size), lens, camera)

    shape = (len(camera.pictures), size[1], size[0])
    pictures = np.array([working(picture) for picture in camera.pictures], dtype=np.uint8)
    masks = camera.masks
    if masks is not None:
        levels = [working(mask.astype(np.uint8) * 255) for mask in masks]
        masks = np.array([level > 127 for level in levels], dtype=np.bool_).reshape(shape)
    return WorkingPictures(lens=lens, pictures=pictures.reshape(*shape, 3), masks=masks)


def _undistorted(
    picture: npt.NDArray[np.uint8], lens: Pinhole, camera: CameraInput
) -> npt.NDArray[np.uint8]:
    if not any(camera.distortion):
        return picture
    cv2 = import_spatial("cv2")
    coefficients = np.array(camera.distortion, dtype=np.float64)
    matrix = lens.intrinsics_px
    if camera.is_fisheye:
        straight = cv2.fisheye.undistortImage(picture, matrix, coefficients[:4], Knew=matrix)
    else:
        straight = cv2.undistort(picture, matrix, coefficients)
    return np.asarray(straight, dtype=np.uint8)
