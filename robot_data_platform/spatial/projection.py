"""A pinhole camera of a working size: points to pixels, and a lens for smaller pictures."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robot_data_platform.core.rotation import Float64Array

NEAR_M = 0.02
"""Points nearer to the lens than this are not seen."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pinhole:
    """A lens without distortion; the centre of the first pixel is at (0, 0)."""

    intrinsics_px: Float64Array
    """(3, 3) ``[[fx, skew, cx], [0, fy, cy], [0, 0, 1]]``."""
    width_px: int
    height_px: int

    @property
    def focal_px(self) -> float:
        """The mean focal length: pixels per radian in the middle of the picture."""
        return float(self.intrinsics_px[0, 0] + self.intrinsics_px[1, 1]) / 2

    def resized(self, width_px: int, height_px: int) -> Pinhole:
        """Return the lens of the same picture at another size."""
        factor = np.array([width_px / self.width_px, height_px / self.height_px])
        lens = self.intrinsics_px.copy()
        lens[0, :2] *= factor[0]
        lens[1, 1] *= factor[1]
        # A picture begins half a pixel before the centre of its first pixel.
        lens[:2, 2] = (lens[:2, 2] + 0.5) * factor - 0.5
        return Pinhole(intrinsics_px=lens, width_px=width_px, height_px=height_px)

    def project(self, xyz_cam_m: Float64Array) -> Float64Array:
        """Return pixels (..., 2) of points (..., 3) in front of the camera, NaN behind it."""
        depth = xyz_cam_m[..., 2:]
        with np.errstate(divide="ignore", invalid="ignore"):
            flat = xyz_cam_m / np.where(depth > NEAR_M, depth, np.nan)
        return np.asarray(flat @ self.intrinsics_px[:2].T)

    def share_in_view(self, xyz_cam_m: Float64Array) -> Float64Array:
        """Return the share of points (..., N, 3) that fall into the picture, (...)."""
        pixel = self.project(xyz_cam_m)
        size = np.array([self.width_px, self.height_px])
        with np.errstate(invalid="ignore"):
            inside = ((pixel >= -0.5) & (pixel < size - 0.5)).all(axis=-1)
        return np.asarray(inside.mean(axis=-1))


def transformed(transform: Float64Array, xyz_m: Float64Array) -> Float64Array:
    """Return points (..., N, 3) taken through transforms (..., 4, 4)."""
    turned = xyz_m @ np.swapaxes(transform[..., :3, :3], -1, -2)
    return np.asarray(turned + transform[..., None, :3, 3])
