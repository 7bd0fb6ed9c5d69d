"""Where the robot should appear: labels and depths for a batch of poses and a camera."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from robot_data_platform.core.rotation import Float64Array
from robot_data_platform.errors import ErrorKind, InvalidInputError
from robot_data_platform.spatial.projection import Pinhole
from robot_data_platform.spatial.rasteriser import links_in_view, rasterise
from robot_data_platform.spatial.robot_mesh import RobotMesh

MAX_LINKS = 255
"""Labels are bytes, and 0 is no link."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Silhouettes:
    """The robot as a camera should see it, in S frames."""

    labels: npt.NDArray[np.uint8]
    """(S, H, W): 0 = no robot, else 1 + index in ``link_names``."""
    depth_m: npt.NDArray[np.float32]
    """(S, H, W): metres along the camera's axis; inf = no robot."""
    link_names: tuple[str, ...]
    lens: Pinhole

    @property
    def masks(self) -> npt.NDArray[np.bool_]:
        """(S, H, W) whether a pixel shows the robot."""
        return np.asarray(self.labels > 0)

    def of_frames(self, places: npt.NDArray[np.int64]) -> Silhouettes:
        """Return some of the frames."""
        return replace(self, labels=self.labels[places], depth_m=self.depth_m[places])

    def mask_of(self, links: tuple[str, ...]) -> npt.NDArray[np.bool_]:
        """(S, H, W) whether a pixel shows one of some links."""
        wanted = np.zeros(len(self.link_names) + 1, dtype=np.bool_)
        wanted[[self.link_names.index(link) + 1 for link in links]] = True
        return np.asarray(wanted[self.labels])


def silhouettes(
    mesh: RobotMesh, base_from_link: Float64Array, base_from_cam: Float64Array, lens: Pinhole
) -> Silhouettes:
    """Return where the robot should appear.

    Parameters
    ----------
    mesh : RobotMesh
        The robot's surface.
    base_from_link : ndarray of float64, shape (S, L, 4, 4)
        Pose of each link in each frame, from `kinematics.link_poses`.
    base_from_cam : ndarray of float64, shape (4, 4) or (S, 4, 4)
        Place of the camera; one for each frame where it moves.
    lens : Pinhole
        Lens and picture size.

    Raises
    ------
    InvalidInputError
        ``invalid-argument``: the robot has more than `MAX_LINKS` links.
    """
    if base_from_link.shape[1] > MAX_LINKS:
        raise InvalidInputError(
            f"Silhouettes hold at most {MAX_LINKS} links, got {base_from_link.shape[1]}.",
            kind=ErrorKind.INVALID_ARGUMENT,
        )
    shape = (len(base_from_link), lens.height_px, lens.width_px)
    labels, depths = np.empty(shape, np.uint8), np.empty(shape, np.float32)
    cam_from_link = cam_from_links(base_from_link, base_from_cam)
    in_view = links_in_view(mesh, cam_from_link, lens)
    for frame, poses in enumerate(cam_from_link):
        labels[frame], depths[frame] = rasterise(mesh, poses, lens, in_view[frame])
    return Silhouettes(labels=labels, depth_m=depths, link_names=mesh.link_names, lens=lens)


def cam_from_links(base_from_link: Float64Array, base_from_cam: Float64Array) -> Float64Array:
    """Return the pose of each link before the camera, (S, L, 4, 4)."""
    cam_from_base = np.linalg.inv(base_from_cam)
    moving = cam_from_base if cam_from_base.ndim == 3 else cam_from_base[None]
    return np.asarray(moving[:, None] @ base_from_link)
