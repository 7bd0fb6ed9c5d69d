"""What is measured: the joints of one episode, and the pictures and calibration of its cameras."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robot_data_platform.core.calibration import ROBOT_BASE, CameraAxes, Direction
from robot_data_platform.core.rotation import Float64Array
from robot_data_platform.errors import ErrorKind, InvalidInputError
from robot_data_platform.spatial.frame_plan import FramePlan
from robot_data_platform.spatial.recorded_hand import RecordedHand
from robot_data_platform.spatial.robot_model import RobotModel

Int64Array = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CameraInput:
    """One camera of an episode; None = the data does not have it.

    Raises
    ------
    InvalidInputError
        ``invalid-argument``: arrays that don't belong together.
    """

    name: str
    frame_ns: Int64Array
    """(F,) time of every frame."""
    width_px: int
    """Of the stored pictures, which ``intrinsics_px`` holds for."""
    height_px: int
    plan: FramePlan
    """Which frames the arrays below are of."""
    pictures: npt.NDArray[np.uint8]
    """(K, H, W, 3) RGB, of ``plan.pictures``, at any size of the same shape; best at
    `frame_plan.working_size`."""
    motion_greys: npt.NDArray[np.uint8]
    """(M, h, w), of ``plan.motion``, at most `time_lag.MOTION_SIZE_PX`."""
    intrinsics_px: Float64Array | None = None
    """(3, 3)."""
    distortion: tuple[float, ...] = ()
    """Coefficients of OpenCV's model (``plumb_bob``, ``rational_polynomial``)."""
    is_fisheye: bool = False
    """Whether ``distortion`` is of the ``equidistant`` model instead."""
    parent_from_cam: Float64Array | None = None
    """(4, 4), metres, OpenCV axes."""
    parent_link: str = ROBOT_BASE
    """`ROBOT_BASE`, or the link that carries the camera."""
    stated_direction: Direction = "base_from_cam"
    """Way round in which its place was written; what it was misread from."""
    stated_axes: CameraAxes = "opencv"
    """Axes of the camera in which its place was written."""
    masks: npt.NDArray[np.bool_] | None = None
    """(K, H, W) where the robot is, of ``plan.pictures``; None = not recorded."""

    def __post_init__(self) -> None:
        """Check that pictures, masks and frames belong together."""
        wanted = len(self.plan.pictures)
        if self.pictures.ndim != 4 or self.pictures.shape[3] != 3 or len(self.pictures) != wanted:
            raise _mismatch(self.name, "pictures", self.pictures.shape, f"({wanted}, H, W, 3)")
        if self.masks is not None and self.masks.shape != self.pictures.shape[:3]:
            raise _mismatch(self.name, "masks", self.masks.shape, str(self.pictures.shape[:3]))
        if self.motion_greys.ndim != 3 or len(self.motion_greys) != len(self.plan.motion):
            expected = f"({len(self.plan.motion)}, h, w)"
            raise _mismatch(self.name, "motion_greys", self.motion_greys.shape, expected)

    @property
    def is_static(self) -> bool:
        """Whether the camera stands still before the robot's base."""
        return self.parent_link == ROBOT_BASE


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SpatialInput:
    """One episode."""

    episode: str
    """Its id, for messages."""
    robot: RobotModel
    row_ns: Int64Array
    """(N,) time of each row, increasing."""
    joints: Float64Array
    """(N, J) from `joint_map.mapped_joints`; NaN = not known."""
    cameras: tuple[CameraInput, ...]
    distal_links: tuple[str, ...] = ()
    """Links that show the last joints; none = `RobotModel.distal_links`."""
    hand: RecordedHand | None = None
    """Its end effector as recorded; None = not, or more than one."""

    def __post_init__(self) -> None:
        """Check that there is a row of joints for each time."""
        expected = (len(self.row_ns), len(self.robot.joint_names))
        if self.joints.shape != expected:
            raise _mismatch(self.episode, "joints", self.joints.shape, str(expected))


def _mismatch(subject: str, name: str, got: tuple[int, ...], expected: str) -> InvalidInputError:
    return InvalidInputError(
        f"{subject}: {name} have the shape {got}, expected {expected}.",
        kind=ErrorKind.INVALID_ARGUMENT,
    )
