"""How a mask of the robot overlaps with its projection."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robot_data_platform.core.rotation import Float64Array
from robot_data_platform.spatial.optional_packages import import_spatial

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Overlap:
    """A mask against a projection in one frame."""

    iou: float
    """Shared over united pixels, 0 to 1."""
    contour_mean_px: float
    """Mean distance from either edge to the other."""
    contour_p95_px: float


def overlap(mask: Mask, projection: Mask) -> Overlap | None:
    """Return how two masks (H, W) overlap; None = one of them is empty."""
    union = int((mask | projection).sum())
    if not (mask.any() and projection.any()):
        return None
    distances = np.concatenate(
        [_edge_distances(mask, projection), _edge_distances(projection, mask)]
    )
    if not len(distances):
        distances = np.zeros(1)
    return Overlap(
        iou=int((mask & projection).sum()) / union,
        contour_mean_px=float(distances.mean()),
        contour_p95_px=float(np.percentile(distances, 95)),
    )


def signed_distance_px(mask: Mask) -> npt.NDArray[np.float32]:
    """Return the distance to the edge of a mask (H, W): positive outside, 0 between two pixels."""
    cv2 = import_spatial("cv2")
    outside = cv2.distanceTransform((~mask).astype(np.uint8), cv2.DIST_L2, cv2.DIST_MASK_PRECISE)
    inside = cv2.distanceTransform(mask.astype(np.uint8), cv2.DIST_L2, cv2.DIST_MASK_PRECISE)
    return np.asarray(np.where(mask, 0.5 - inside, outside - 0.5), dtype=np.float32)


def _edge_distances(mask: Mask, other: Mask) -> Float64Array:
    """Return how far the edge pixels of a mask are from the other's edge; the border is no edge."""
    inner = mask[1:-1, 1:-1]
    surrounded = mask[:-2, 1:-1] & mask[2:, 1:-1] & mask[1:-1, :-2] & mask[1:-1, 2:]
    edge = np.zeros(mask.shape, dtype=np.bool_)
    edge[1:-1, 1:-1] = inner & ~surrounded
    # An edge pixel's centre is half a pixel within the edge.
    return np.abs(signed_distance_px(other)[edge].astype(np.float64) + 0.5)
