"""One camera's masks, and what it would see if some of its numbers deviated from those declared."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from robot_data_platform.core.rotation import Float64Array
from robot_data_platform.spatial.background import Background
from robot_data_platform.spatial.camera_fit import mean_iou, points_cam_m, twist_motion
from robot_data_platform.spatial.camera_view import camera_places, links_at
from robot_data_platform.spatial.episode_input import CameraInput, SpatialInput
from robot_data_platform.spatial.frame_plan import joints_at
from robot_data_platform.spatial.kinematics import link_poses
from robot_data_platform.spatial.outline import Outline, outline
from robot_data_platform.spatial.overlap import signed_distance_px
from robot_data_platform.spatial.projection import Pinhole, transformed
from robot_data_platform.spatial.robot_mesh import robot_mesh
from robot_data_platform.spatial.silhouettes import cam_from_links, silhouettes

EXTRINSIC, TIME, FOCAL, CENTRE, JOINT = "extrinsic", "time", "focal", "principal_point", "joint"


@dataclass(frozen=True, slots=True, kw_only=True)
class Deviation:
    """A group of numbers that may deviate together."""

    kind: str
    joint: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Drawing:
    """A camera's view of the robot, whose outline is followed for a while."""

    masks: npt.NDArray[np.bool_]
    outlines: tuple[Outline, ...]
    lens: Pinhole
    cam_from_link: Float64Array
    """(S, L, 4, 4)."""


@dataclass(frozen=True, kw_only=True, eq=False)
class MaskedCamera:
    """A camera with masks of the robot in some of its frames."""

    episode: SpatialInput
    camera: CameraInput
    parent_from_cam: Float64Array
    t_ns: npt.NDArray[np.int64]
    """(S,)."""
    lens: Pinhole
    """For the size of the masks."""
    masks: npt.NDArray[np.bool_]
    """(S, H, W)."""
    leans: bool = False
    """Whether masks were found from the projection: they lean on it."""
    background: Background | None = None
    """What the background says of the place of a camera on the robot; None = nothing."""

    @cached_property
    def distances(self) -> list[npt.NDArray[np.float32]]:
        """S signed distances to the edges of the masks, (H, W)."""
        return [signed_distance_px(mask) for mask in self.masks]

    @cached_property
    def joints(self) -> Float64Array:
        """(S, J) as declared."""
        episode = self.episode
        return joints_at(episode.joints, episode.row_ns, self.t_ns, ~episode.robot.is_prismatic)

    @cached_property
    def base_from_link(self) -> Float64Array:
        """(S, L, 4, 4) as declared."""
        return link_poses(self.episode.robot, self.joints)

    @cached_property
    def places(self) -> Float64Array:
        """base_from_cam, (S, 4, 4), as declared."""
        return camera_places(
            self.episode.robot, self.camera, self.parent_from_cam, self.base_from_link
        )

    @cached_property
    def declared(self) -> Drawing:
        """What it should see as declared."""
        return drawn_with(self, Deviation(kind=FOCAL), np.zeros(1))

    def moved(self, twist: Float64Array) -> Float64Array:
        """Return parent_from_cam, (4, 4), of the camera after a twist, (6,), from its place."""
        return np.asarray(self.parent_from_cam @ np.linalg.inv(twist_motion(twist)))

    @property
    def declared_iou(self) -> float:
        """Mean overlap of the masks with what it should see."""
        return mean_iou(self.declared.masks, self.masks)


def applied(
    seen: MaskedCamera, deviation: Deviation, values: Float64Array
) -> tuple[Float64Array, Pinhole, Float64Array]:
    """Return a camera with a deviation applied: its place, its lens, and the links before it."""
    episode, lens, pose, links = seen.episode, seen.lens, seen.parent_from_cam, seen.base_from_link
    if deviation.kind == EXTRINSIC:
        pose = seen.moved(values)
    elif deviation.kind == TIME:
        links = links_at(episode, seen.t_ns - np.int64(round(1e9 * float(values[0]))))
    elif deviation.joint is not None:
        joints = seen.joints.copy()
        joints[:, deviation.joint] += values[0]
        links = link_poses(episode.robot, joints)
    else:
        lens = _other_lens(lens, deviation.kind, values)
    places = camera_places(episode.robot, seen.camera, pose, links)
    return pose, lens, cam_from_links(links, places)


def _other_lens(lens: Pinhole, kind: str, values: Float64Array) -> Pinhole:
    intrinsics = lens.intrinsics_px.copy()
    if kind == FOCAL:
        intrinsics[[0, 1], [0, 1]] *= 1 + values[0]
    else:
        intrinsics[:2, 2] += values
    return replace(lens, intrinsics_px=intrinsics)


def drawn_with(seen: MaskedCamera, deviation: Deviation, values: Float64Array) -> Drawing:
    """Return what a camera should see with a deviation applied."""
    _, lens, cam_from_link = applied(seen, deviation, values)
    found = silhouettes(robot_mesh(seen.episode.robot), cam_from_link, np.eye(4), lens)
    frames = zip(found.labels, found.depth_m, strict=True)
    return Drawing(
        masks=found.masks,
        outlines=tuple(outline(*frame) for frame in frames),
        lens=lens,
        cam_from_link=cam_from_link,
    )


def followed(drawn: Drawing, lens: Pinhole, cam_from_link: Float64Array) -> list[Float64Array]:
    """Return where outline points are in S frames when links and lens change, (N, 2) px each."""
    motions = cam_from_link @ np.linalg.inv(drawn.cam_from_link)
    pixels = []
    for points, motion in zip(drawn.outlines, motions, strict=True):
        xyz = points_cam_m(points, drawn.lens)
        of_link = motion[points.labels.astype(int) - 1]
        pixels.append(lens.project(transformed(of_link, xyz[:, None])[:, 0]))
    return pixels
