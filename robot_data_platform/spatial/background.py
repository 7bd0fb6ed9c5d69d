"""What the background says of the place of a camera on the robot: points on epipolar lines."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robot_data_platform.core.rotation import Float64Array
from robot_data_platform.spatial.epipolar import DENSE, Tracks, line_offsets_px, tracks
from robot_data_platform.spatial.projection import Pinhole
from robot_data_platform.spatial.scene import Scene
from robot_data_platform.spatial.thresholds import MIN_PARALLAX_PX, MIN_TRACKS


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TrackedPair:
    """Points of the background in two pictures, and where the camera's link was."""

    points: Tracks
    base_from_parent: tuple[Float64Array, Float64Array]
    """(4, 4) at the first picture and at the later one."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Background:
    """Points of the background that were followed in some pairs of pictures of a camera.

    A mask tells where the hand is before the camera, but not how a round hand is turned; how the
    background moves when the hand does tells that, and no mask is in it.
    """

    pairs: tuple[TrackedPair, ...]
    lens: Pinhole
    """For the size of the pictures."""

    def offsets_px(self, parent_from_cam: Float64Array) -> Float64Array:
        """Return how far points end to a side of their epipolar lines, (N,).

        Parameters
        ----------
        parent_from_cam : ndarray of float64, shape (4, 4)
            A place of the camera.
        """
        return np.concatenate([self._offsets_px(pair, parent_from_cam) for pair in self.pairs])

    def px_per_10px(self, parent_from_cam: Float64Array) -> float:
        """Return the median offset from a place per 10 px of motion."""
        ways = [np.linalg.norm(p.points.stop - p.points.start, axis=1) for p in self.pairs]
        off_px = float(np.median(np.abs(self.offsets_px(parent_from_cam))))
        return 10 * off_px / float(np.median(np.concatenate(ways)))

    def _offsets_px(self, pair: TrackedPair, parent_from_cam: Float64Array) -> Float64Array:
        first, later = (link @ parent_from_cam for link in pair.base_from_parent)
        motion = np.linalg.inv(later) @ first
        return line_offsets_px(pair.points.start, pair.points.stop, motion, self.lens)


def background_of(scene: Scene) -> Background | None:
    """Return the background of a camera's pairs of pictures.

    None where the camera stands still, or where fewer than `MIN_TRACKS` points move.
    """
    if scene.camera.is_static:
        return None
    pairs = tuple(_pairs(scene))
    if sum(len(pair.points.start) for pair in pairs) < MIN_TRACKS:
        return None
    return Background(pairs=pairs, lens=scene.working.lens)


def _pairs(scene: Scene) -> list[TrackedPair]:
    plan, working = scene.camera.plan, scene.working
    masks = scene.projection.masks if working.masks is None else working.masks
    parent = scene.episode.robot.link_index(scene.camera.parent_link)
    links = scene.view.base_from_link[:, parent]
    firsts, laters = (
        np.searchsorted(plan.pictures, f) for f in (plan.pair_first, plan.pair_second)
    )
    return [
        TrackedPair(
            points=_moving(working.pictures[first], working.pictures[later], masks[first]),
            base_from_parent=(links[first], links[later]),
        )
        for first, later in zip(firsts, laters, strict=True)
    ]


def _moving(
    first: npt.NDArray[np.uint8], later: npt.NDArray[np.uint8], robot: npt.NDArray[np.bool_]
) -> Tracks:
    """Return points off the robot that move; what stays where it is may be carried along."""
    found = tracks(first, later, following=DENSE).off(robot)
    kept = np.linalg.norm(found.stop - found.start, axis=1) >= MIN_PARALLAX_PX
    return Tracks(start=found.start[kept], stop=found.stop[kept])
