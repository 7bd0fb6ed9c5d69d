"""The outline of a silhouette: points on its edge, which way is out, and how far they are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robot_data_platform.core.rotation import Float64Array
from robot_data_platform.spatial.optional_packages import import_spatial

_SMOOTHING_PX = 1.5
_MIN_SLOPE = 0.02
"""Of the smoothed mask, per pixel; where it is flatter the mask is a thread without an inside."""
_BORDER_PX = 2
"""Where the picture cuts the robot off, there is no edge."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Outline:
    """Points on the edge of a silhouette."""

    pixels: Float64Array
    """(N, 2) x and y, halfway between the last pixel within and the first one outside."""
    normals: Float64Array
    """(N, 2) unit vectors out of the silhouette."""
    depth_m: Float64Array
    """(N,) of the robot's surface there."""
    labels: npt.NDArray[np.uint8]
    """(N,) as in `silhouettes.Silhouettes.labels`."""

    def of_labels(self, wanted: npt.NDArray[np.bool_]) -> Outline:
        """Return the points on links that ``wanted[label]`` is true for."""
        kept = wanted[self.labels]
        return Outline(
            pixels=self.pixels[kept],
            normals=self.normals[kept],
            depth_m=self.depth_m[kept],
            labels=self.labels[kept],
        )


def outline(labels: npt.NDArray[np.uint8], depth_m: npt.NDArray[np.float32]) -> Outline:
    """Return the outline of one silhouette, both of shape (H, W)."""
    cv2 = import_spatial("cv2")
    mask = (labels > 0).astype(np.uint8)
    smooth = cv2.GaussianBlur(mask.astype(np.float32), (0, 0), _SMOOTHING_PX)
    edge = mask.astype(bool) & ~_eroded(mask)
    edge[:_BORDER_PX] = edge[-_BORDER_PX:] = False
    edge[:, :_BORDER_PX] = edge[:, -_BORDER_PX:] = False
    y, x = np.nonzero(edge)
    slope = np.stack(
        [smooth[y, x - 1] - smooth[y, x + 1], smooth[y - 1, x] - smooth[y + 1, x]], axis=1
    ).astype(np.float64)
    steepness = np.linalg.norm(slope, axis=1)
    kept = steepness > _MIN_SLOPE
    x, y, normals = x[kept], y[kept], slope[kept] / steepness[kept, None]
    return Outline(
        pixels=np.stack([x, y], axis=1) + 0.5 * normals,
        normals=normals,
        depth_m=depth_m[y, x].astype(np.float64),
        labels=labels[y, x],
    )


def _eroded(mask: npt.NDArray[np.uint8]) -> npt.NDArray[np.bool_]:
    """Return the pixels whose four neighbours are in the mask."""
    inside = np.zeros(mask.shape, dtype=np.bool_)
    inside[1:-1, 1:-1] = (
        mask[:-2, 1:-1] & mask[2:, 1:-1] & mask[1:-1, :-2] & mask[1:-1, 2:]
    ).astype(bool)
    return inside
