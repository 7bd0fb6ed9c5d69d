"""What the measurements of one camera share."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from robot_data_platform.core.rotation import Float64Array
from robot_data_platform.spatial.camera_view import CameraView
from robot_data_platform.spatial.episode_input import CameraInput, SpatialInput
from robot_data_platform.spatial.measurements import CameraMeasurements
from robot_data_platform.spatial.silhouettes import Silhouettes
from robot_data_platform.spatial.working_pictures import WorkingPictures

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scene:
    """A camera, its pictures, and the robot that it should see."""

    episode: SpatialInput
    camera: CameraInput
    parent_from_cam: Float64Array
    """(4, 4) as declared."""
    working: WorkingPictures
    view: CameraView
    projection: Silhouettes
    singles: npt.NDArray[np.int64]
    """(S,) places of ``plan.single`` among the pictures."""


def without(found: CameraMeasurements, what: str, reason: str) -> CameraMeasurements:
    """Return measurements with the reason why one of them is missing."""
    return replace(found, not_measured={**found.not_measured, what: reason})
