"""Pictures with the outline of the projected robot drawn in: as declared, and as proposed."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from robot_data_platform.spatial.episode_input import CameraInput, SpatialInput
from robot_data_platform.spatial.measure import scene_of
from robot_data_platform.spatial.optional_packages import import_spatial
from robot_data_platform.spatial.reading import CameraReading

DECLARED_RGB, PROPOSED_RGB = (255, 40, 40), (40, 255, 40)
NUM_SHOWN = 4

Pictures = npt.NDArray[np.uint8]


def overlays(
    episode: SpatialInput,
    camera: CameraInput,
    proposed: CameraReading | None,
    num_shown: int = NUM_SHOWN,
) -> list[Pictures]:
    """Return some pictures of a camera with outlines, (H, W, 3) RGB each.

    The robot as declared is red; as proposed, where something is, green. Nothing where the
    camera's lens or place is not known.

    Parameters
    ----------
    episode : SpatialInput
        Joints and robot.
    camera : CameraInput
        The camera.
    proposed : CameraReading, optional
        What is proposed.
    num_shown : int
        Pictures at most, spread over the frames that were measured.
    """
    scene, _ = scene_of(episode, camera)
    if scene is None:
        return []
    number = min(num_shown, len(scene.singles))
    chosen = np.unique(np.linspace(0, len(scene.singles) - 1, number).round().astype(int))
    places = scene.singles[chosen]
    drawn = [scene.working.pictures[place].copy() for place in places]
    _draw(drawn, scene.projection.masks[places], DECLARED_RGB)
    if proposed is not None:
        other, _ = scene_of(episode, proposed.of(camera))
        if other is not None:
            _draw(drawn, other.projection.masks[places], PROPOSED_RGB)
    return drawn


def _draw(
    pictures: list[Pictures], masks: npt.NDArray[np.bool_], rgb: tuple[int, int, int]
) -> None:
    cv2 = import_spatial("cv2")
    for picture, mask in zip(pictures, masks, strict=True):
        contours, _ = cv2.findContours(
            mask.astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE
        )
        cv2.drawContours(picture, contours, -1, rgb, 1)
