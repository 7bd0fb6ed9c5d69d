"""A case: how an episode's calibrations and joints may be meant, other than they are declared."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from robot_data_platform.core.rotation import Float64Array
from robot_data_platform.spatial.episode_input import CameraInput


class Flip(StrEnum):
    """How pictures may be stored the wrong way round."""

    NONE = "none"
    MIRRORED = "mirrored"
    UPSIDE_DOWN = "upside_down"
    TURNED = "turned"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CameraReading:
    """One camera as it may be meant."""

    parent_from_cam: Float64Array
    """(4, 4), metres, OpenCV axes."""
    intrinsics_px: Float64Array
    """(3, 3), for the stored pictures."""
    parent_link: str
    flip: Flip = Flip.NONE

    def of(self, camera: CameraInput) -> CameraInput:
        """Return a camera read this way; its pictures are not turned."""
        return replace(
            camera,
            parent_from_cam=self.parent_from_cam,
            intrinsics_px=self.intrinsics_px,
            parent_link=self.parent_link,
        )


def declared_reading(camera: CameraInput) -> CameraReading | None:
    """Return a camera as it is declared; None = its lens or its place is not."""
    if camera.parent_from_cam is None or camera.intrinsics_px is None:
        return None
    return CameraReading(
        parent_from_cam=camera.parent_from_cam,
        intrinsics_px=camera.intrinsics_px,
        parent_link=camera.parent_link,
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Hypothesis:
    """One cause that would explain pictures which contradict what is declared."""

    code: str
    """Stable, ``snake_case``: what is wrong."""
    says: str
    """The same for a person, as a sentence without its end."""
    camera: CameraReading | None = None
    """What is meant, where one camera is concerned."""
    joints: Float64Array | None = None
    """(N, J) what is meant, where the joints are concerned, and so all cameras."""


def turned_about_z(degrees: float) -> Float64Array:
    """Return the (4, 4) transform that turns about z."""
    angle = np.radians(degrees)
    turn = np.eye(4)
    turn[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    return turn
