"""A camera's place from masks alone, where the declared one is too far off for a fit to start."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from robot_data_platform.core.rotation import Float64Array
from robot_data_platform.spatial.camera_fit import mean_iou, twist_motion
from robot_data_platform.spatial.optional_packages import import_spatial
from robot_data_platform.spatial.projection import Pinhole
from robot_data_platform.spatial.robot_mesh import RobotMesh
from robot_data_platform.spatial.silhouettes import silhouettes

_REACH = np.repeat([np.radians(3.0), 0.03], 3)
"""First steps of the search: 3 degrees about, and 3 cm along, each axis of the camera."""
_NUM_FRAMES = 2
"""A camera on the hand sees much the same in all frames."""
_SHRINK = 2
_MAX_DRAWINGS = 400
_SETTLED, _SETTLED_IOU = 0.1, 0.005
"""Share of the first steps, and overlap, by which places differ that are the same."""


def searched_motion(
    mesh: RobotMesh,
    base_from_link: Float64Array,
    base_from_cam: Float64Array,
    lens: Pinhole,
    masks: npt.NDArray[np.bool_],
    side: float = 1.0,
    misfit: Callable[[Float64Array], float] | None = None,
) -> Float64Array:
    """Return cam_from_declared_cam, (4, 4), of a place nearby from which masks are covered best.

    Parameters
    ----------
    mesh : RobotMesh
        The robot's surface; a coarse one will do.
    base_from_link : ndarray of float64, shape (S, L, 4, 4)
        Pose of each link in each frame.
    base_from_cam : ndarray of float64, shape (S, 4, 4)
        Declared place of the camera in each frame.
    lens : Pinhole
        Lens for the size of the masks.
    masks : ndarray of bool, shape (S, H, W)
        Where the robot is.
    side : float
        Whether it looks ahead, 1, or back, -1, along each axis first.
    misfit : callable, optional
        What else speaks against cam_from_declared_cam, (4, 4), as a loss of overlap.

    Notes
    -----
    A simplex search (Nelder and Mead, 1965) of the overlap in small pictures. It gets past the
    jumps of an outline that the picture's edges cut, where steps along its slope lose themselves.
    """
    optimize = import_spatial("scipy.optimize")
    few = np.unique(np.linspace(0, len(masks) - 1, _NUM_FRAMES).round().astype(int))
    small = masks[few][:, ::_SHRINK, ::_SHRINK]
    small_lens = lens.resized(small.shape[2], small.shape[1])

    def lost(steps: Float64Array) -> float:
        motion = twist_motion(steps * _REACH)
        places = base_from_cam[few] @ np.linalg.inv(motion)
        masks = silhouettes(mesh, base_from_link[few], places, small_lens).masks
        return 1 - mean_iou(masks, small) + (misfit(motion) if misfit else 0.0)

    found = optimize.minimize(
        lost,
        np.zeros(6),
        method="Nelder-Mead",
        options={
            "initial_simplex": np.vstack([np.zeros(6), side * np.eye(6)]),
            "maxfev": _MAX_DRAWINGS,
            "xatol": _SETTLED,
            "fatol": _SETTLED_IOU,
            "adaptive": True,
        },
    )
    return twist_motion(found.x * _REACH)
