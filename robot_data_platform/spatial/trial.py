"""One camera on trial: how well its pictures agree with any reading of lens, place and joints."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from robot_data_platform.core.rotation import Float64Array
from robot_data_platform.spatial.camera_view import camera_view, links_at
from robot_data_platform.spatial.episode_input import CameraInput, SpatialInput
from robot_data_platform.spatial.evidence import Evidence, evidence_of
from robot_data_platform.spatial.projection import Pinhole
from robot_data_platform.spatial.reading import CameraReading, Flip, declared_reading
from robot_data_platform.spatial.working_pictures import working_pictures

_MIN_MOVING_PAIRS = 6
"""Of a camera that moves: fewer have too few points to follow, and tell no joint from another."""
_MIN_IN_VIEW = 0.01
"""Share of the robot's surface below which nothing of it needs to be drawn."""
_TURN: dict[Flip, Callable[[npt.NDArray[np.generic]], npt.NDArray[np.generic]]] = {
    Flip.NONE: lambda pictures: pictures,
    Flip.MIRRORED: lambda pictures: pictures[:, :, ::-1],
    Flip.UPSIDE_DOWN: lambda pictures: pictures[:, ::-1],
    Flip.TURNED: lambda pictures: pictures[:, ::-1, ::-1],
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Detail:
    """How closely a camera is looked at."""

    max_pairs: int
    """Pairs of pictures."""
    shrink: int
    """How many times smaller than the working size pictures are, of a camera that stands still.

    Small pictures of one that moves have too few points to follow.
    """
    cell_m: float
    """Of the robot's surface, see `robot_mesh.robot_mesh`."""


@dataclass(frozen=True, eq=False, kw_only=True)
class CameraTrial:
    """Some pairs of pictures of one camera."""

    episode: SpatialInput
    camera: CameraInput
    declared: CameraReading
    first: npt.NDArray[np.int64]
    """(P,) places of first pictures among the camera's."""
    later: npt.NDArray[np.int64]
    """(P,) of those a moment later; the same ones where nothing moves."""
    detail: Detail

    def score(self, reading: CameraReading, joints: Float64Array | None = None) -> float:
        """Return how well the pictures agree with a reading, 0 to 1."""
        camera = reading.of(self.camera)
        episode = self.episode if joints is None else replace(self.episode, joints=joints)
        size = self._size
        lens = self._lens(reading).resized(*size)
        links = self._links if joints is None else None
        view = camera_view(episode, camera, reading.parent_from_cam, self._t_ns, links)
        if lens.share_in_view(view.points_cam_m).max() < _MIN_IN_VIEW:
            return 0.0
        # Of a camera that moves, later pictures are held against the first ones, not the robot.
        drawn = None if self.camera.is_static else len(self.first)
        seen = view.silhouettes(episode, lens, self.detail.cell_m, first=drawn)
        return self._evidence(reading.flip).score(seen, view.base_from_cam, self._distal)

    @property
    def declared_score(self) -> float:
        """How well they agree with what is declared."""
        return self.score(self.declared)

    @cached_property
    def _t_ns(self) -> npt.NDArray[np.int64]:
        frames = self.camera.plan.pictures[np.concatenate([self.first, self.later])]
        return np.asarray(self.camera.frame_ns[frames])

    @cached_property
    def _links(self) -> Float64Array:
        return links_at(self.episode, self._t_ns)

    @cached_property
    def _pictures(self) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.bool_] | None]:
        working = working_pictures(self.camera, self.declared.intrinsics_px)
        return working.shrunk(self._shrink)

    @property
    def _shrink(self) -> int:
        return self.detail.shrink if self.camera.is_static else 1

    @property
    def _size(self) -> tuple[int, int]:
        height, width = self._pictures[0].shape[1:3]
        return width, height

    def _lens(self, reading: CameraReading) -> Pinhole:
        return Pinhole(
            intrinsics_px=reading.intrinsics_px,
            width_px=self.camera.width_px,
            height_px=self.camera.height_px,
        )

    @cached_property
    def _distal(self) -> npt.NDArray[np.bool_]:
        links = self.episode.distal_links or self.episode.robot.distal_links()
        return np.array([False, *(name in links for name in self.episode.robot.link_names)])

    @cached_property
    def _evidence_by_flip(self) -> dict[Flip, Evidence]:
        return {}

    def _evidence(self, flip: Flip) -> Evidence:
        found = self._evidence_by_flip.get(flip)
        if found is None:
            pictures, masks = self._pictures
            turned = np.ascontiguousarray(_TURN[flip](pictures)).astype(np.uint8, copy=False)
            turned_masks = None if masks is None else _TURN[flip](masks)[self.first].astype(bool)
            found = evidence_of(
                turned[self.first],
                turned[self.later],
                turned_masks,
                is_static=self.camera.is_static,
                shrink=self._shrink,
            )
            self._evidence_by_flip[flip] = found
        return found


def camera_trial(episode: SpatialInput, camera: CameraInput, detail: Detail) -> CameraTrial | None:
    """Return a camera on trial; None = its lens or place is not declared, or no frame is there."""
    declared, plan = declared_reading(camera), camera.plan
    if declared is None or not len(plan.single):
        return None
    first, later = plan.pair_first, plan.pair_second
    if not len(first):
        first = later = plan.single
    pairs = detail.max_pairs if camera.is_static else max(detail.max_pairs, _MIN_MOVING_PAIRS)
    chosen = np.unique(np.linspace(0, len(first) - 1, pairs).round().astype(int))
    return CameraTrial(
        episode=episode,
        camera=camera,
        declared=declared,
        first=np.searchsorted(plan.pictures, first[chosen]),
        later=np.searchsorted(plan.pictures, later[chosen]),
        detail=detail,
    )
