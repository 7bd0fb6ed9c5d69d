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
from robot_data_platform.spatial.robot_mesh import robot_mesh, surface_points
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

    def silhouettes(self, episode: SpatialInput, lens: Pinhole) -> Silhouettes:
        """Return where the robot should appear, K frames."""
        mesh = robot_mesh(episode.robot)
        return silhouettes(mesh, self.base_from_link, self.base_from_cam, lens)


def camera_view(
    episode: SpatialInput,
    camera: CameraInput,
    parent_from_cam: Float64Array,
    t_ns: npt.NDArray[np.int64],
) -> CameraView:
    """Return a camera and the robot before it at some times.

    Raises
    ------
    InvalidInputError
        ``invalid-argument``: the robot has no link that the camera could be mounted on.
    """
    robot = episode.robot
    joints = joints_at(episode.joints, episode.row_ns, t_ns, ~robot.is_prismatic)
    poses = link_poses(robot, joints)
    if camera.is_static:
        base_from_cam = np.broadcast_to(parent_from_cam, (len(t_ns), 4, 4))
    else:
        base_from_cam = poses[:, robot.link_index(camera.parent_link)] @ parent_from_cam
    points, links = surface_points(robot_mesh(robot), NUM_POINTS)
    cam_from_link = cam_from_links(poses, base_from_cam)
    in_cam = [transformed(pose[links], points[:, None])[:, 0] for pose in cam_from_link]
    return CameraView(
        base_from_link=poses,
        base_from_cam=base_from_cam,
        points_cam_m=np.array(in_cam).reshape(len(t_ns), NUM_POINTS, 3),
    )
