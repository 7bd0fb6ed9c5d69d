"""How well pictures agree with a projected robot, for many projections of the same pictures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robot_data_platform.core.rotation import Float64Array
from robot_data_platform.spatial.camera_fit import mean_iou
from robot_data_platform.spatial.edge_lock import PictureSlopes, picture_slopes, ring_scores
from robot_data_platform.spatial.epipolar import Tracks, line_offsets_px, tracks
from robot_data_platform.spatial.motion_auc import changes_between, separation
from robot_data_platform.spatial.outline import outline
from robot_data_platform.spatial.projection import Pinhole
from robot_data_platform.spatial.silhouettes import Silhouettes
from robot_data_platform.spatial.thresholds import MIN_MOTION_PX, MIN_TRACKS

Pictures = npt.NDArray[np.uint8]
Masks = npt.NDArray[np.bool_]

CLEAN_Z, CLEAN_AUC, LOST_EPIPOLAR_PX = 6.0, 0.97, 5.0
"""Measurements at which evidence is full, or none."""
_MIN_OUTLINE = 20


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Evidence:
    """What the pictures of one camera show, worked out once.

    The pictures are P pairs, first ones and later ones, in this order.
    """

    slopes: tuple[PictureSlopes, ...]
    """Of the first pictures."""
    changes: npt.NDArray[np.float32]
    """(P, H, W) change from first to later; of cameras that stand still."""
    tracks: tuple[Tracks, ...]
    """P; of cameras that move."""
    masks: Masks | None
    """(P, H, W) of the robot in the first pictures; None = not known from elsewhere."""
    is_static: bool
    min_motion_px: float
    """Pixels that the robot has to cover or uncover before motion says anything."""

    def score(self, seen: Silhouettes, base_from_cam: Float64Array, distal: Masks) -> float:
        """Return how well a projection agrees, 0 to 1.

        Parameters
        ----------
        seen : Silhouettes
            Of the first pictures, P frames, then, where the camera stands still, of the later ones.
        base_from_cam : ndarray of float64, shape (2 P, 4, 4)
            Where the camera is in them.
        distal : ndarray of bool, shape (L + 1,)
            Which labels are links at the end of the arm.
        """
        pairs = len(self.slopes)
        masks = seen.masks
        if not masks[:pairs].any():
            return 0.0
        whole, end = self._edges(seen, distal)
        moving = (
            self._motion(masks[:pairs], masks[pairs:])
            if self.is_static
            else self._parallax(masks[:pairs], base_from_cam, seen.lens)
        )
        shares = [whole, end, *([] if moving is None else [moving, moving])]
        score = float(np.mean(shares))
        if self.masks is None:
            return score
        return (score + mean_iou(masks[:pairs], self.masks)) / 2

    def _edges(self, seen: Silhouettes, distal: Masks) -> tuple[float, float]:
        whole: list[Float64Array] = []
        end: list[Float64Array] = []
        for slopes, labels, depth in zip(self.slopes, seen.labels, seen.depth_m, strict=False):
            points = outline(labels, depth)
            for scores, part in ((whole, points), (end, points.of_labels(distal))):
                if len(part.pixels) >= _MIN_OUTLINE:
                    scores.append(ring_scores(slopes, part))
        return _share_of_z(whole), _share_of_z(end)

    def _motion(self, earlier: Masks, later: Masks) -> float | None:
        auc = separation(self.changes, earlier, later, self.min_motion_px)
        return None if auc is None else float(np.clip((auc - 0.5) / (CLEAN_AUC - 0.5), 0, 1))

    def _parallax(self, robot: Masks, base_from_cam: Float64Array, lens: Pinhole) -> float | None:
        pairs, offsets, ways = len(self.slopes), [], []
        for number, found in enumerate(self.tracks):
            away = found.off(robot[number])
            motion = np.linalg.inv(base_from_cam[pairs + number]) @ base_from_cam[number]
            offsets.append(np.abs(line_offsets_px(away.start, away.stop, motion, lens)))
            ways.append(np.linalg.norm(away.stop - away.start, axis=1))
        if sum(map(len, ways)) < MIN_TRACKS:
            return None
        per_10px = 10 * np.median(np.concatenate(offsets)) / np.median(np.concatenate(ways))
        return float(np.clip(1 - per_10px / LOST_EPIPOLAR_PX, 0, 1))


def evidence_of(
    first: Pictures, later: Pictures, masks: Masks | None, *, is_static: bool, shrink: int
) -> Evidence:
    """Return the evidence in P pairs of pictures, (P, H, W, 3) each.

    They may be smaller than the working size, by ``shrink``.
    """
    shape = first.shape[:3]
    changes = [changes_between(*pair) for pair in zip(first, later, strict=True) if is_static]
    return Evidence(
        slopes=tuple(picture_slopes(picture) for picture in first),
        changes=np.array(changes, dtype=np.float32).reshape(-1, *shape[1:]),
        tracks=() if is_static else tuple(tracks(*pair) for pair in zip(first, later, strict=True)),
        masks=masks,
        is_static=is_static,
        min_motion_px=MIN_MOTION_PX / shrink**2,
    )


def _share_of_z(scores: Sequence[Float64Array]) -> float:
    """Return how far scores at no shift stand out from shifted ones, 0 to 1."""
    if not scores:
        return 0.0
    mean = np.mean(scores, axis=0)
    z = (mean[0] - mean[1:].mean()) / max(float(mean[1:].std()), 1e-3)
    return float(np.clip(z / CLEAN_Z, 0, 1))
