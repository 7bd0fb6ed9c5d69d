"""One camera's geometry in an episode: where it and every link are, at the frames of a plan."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robot_data_platform.core.rotation import Float64Array
from robot_data_platform.spatial.episode_input import CameraInput, SpatialInput
from robot_data_platform.spatial.frame_plan import joints_at
from robot_data_platform.spatial.kinematics import link_poses
from robot_data_platform.spatial.projection import Pinhole, transformed
from robot_data_platform.spatial.robot_mesh import CELL_M, robot_mesh, surface_points
from robot_data_platform.spatial.robot_model import RobotModel
from robot_data_platform.spatial.silhouettes import Silhouettes, cam_from_links, silhouettes

NUM_POINTS = 300
"""Points of the surface that stand for the robot where no silhouette is drawn."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CameraView:
    """A camera and the robot before it, at K moments."""

    base_from_link: Float64Array
    """(K, L, 4, 4)."""
    base_from_cam: Float64Array
    """(K, 4, 4)."""
    points_cam_m: Float64Array
    """(K, `NUM_POINTS`, 3) surface points of the robot before the camera."""

    def silhouettes(
        self,
        episode: SpatialInput,
        lens: Pinhole,
        cell_m: float = CELL_M,
        *,
        first: int | None = None,
    ) -> Silhouettes:
        """Return where the robot should appear, in all K frames or in the ``first`` ones.

        See `robot_mesh` for ``cell_m``.
        """
        mesh = robot_mesh(episode.robot, cell_m)
        return silhouettes(mesh, self.base_from_link[:first], self.base_from_cam[:first], lens)


def camera_view(
    episode: SpatialInput,
    camera: CameraInput,
    parent_from_cam: Float64Array,
    t_ns: npt.NDArray[np.int64],
    base_from_link: Float64Array | None = None,
) -> CameraView:
    """Return a camera and the robot before it at some times, whose links may be known.

    Raises
    ------
    InvalidInputError
        ``invalid-argument``: the robot has no link that the camera could be mounted on.
    """
    robot = episode.robot
    poses = links_at(episode, t_ns) if base_from_link is None else base_from_link
    base_from_cam = camera_places(robot, camera, parent_from_cam, poses)
    points, links = surface_points(robot_mesh(robot), NUM_POINTS)
    cam_from_link = cam_from_links(poses, base_from_cam)
    in_cam = [transformed(pose[links], points[:, None])[:, 0] for pose in cam_from_link]
    return CameraView(
        base_from_link=poses,
        base_from_cam=base_from_cam,
        points_cam_m=np.array(in_cam).reshape(len(t_ns), NUM_POINTS, 3),
    )


def links_at(episode: SpatialInput, t_ns: npt.NDArray[np.int64]) -> Float64Array:
    """Return base_from_link of every link at some times, (K, L, 4, 4)."""
    robot = episode.robot
    joints = joints_at(episode.joints, episode.row_ns, t_ns, ~robot.is_prismatic)
    return link_poses(robot, joints)


def camera_places(
    robot: RobotModel,
    camera: CameraInput,
    parent_from_cam: Float64Array,
    base_from_link: Float64Array,
) -> Float64Array:
    """Return base_from_cam, (K, 4, 4), of a camera where the links are known, (K, L, 4, 4)."""
    if camera.is_static:
        return np.broadcast_to(parent_from_cam, (len(base_from_link), 4, 4))
    return np.asarray(base_from_link[:, robot.link_index(camera.parent_link)] @ parent_from_cam)
