"""What is known of a camera: its lens in pixels, and where it is in metres.

One convention inside, whatever a source says: ``base_from_cam`` takes points of the camera
(OpenCV axes: x right, y down, z forward) to the base of the robot. How the source said it is kept
beside it.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal, get_args

import numpy as np

from robot_data_platform.core.rotation import (
    Float64Array,
    finite_array,
    rigid_transform_from_matrix,
)
from robot_data_platform.errors import ErrorKind, InvalidInputError

Direction = Literal["base_from_cam", "cam_from_base"]
"""Which way a transform takes points; the base is `CameraCalibration.parent_frame`."""
CameraAxes = Literal["opencv", "opengl"]
"""x right, y down, z forward; or x right, y up, z backward (also Blender, MuJoCo)."""
Origin = Literal["data", "profile", "accepted"]

ROBOT_BASE = "base"
"""`CameraCalibration.parent_frame` of a camera that does not move with the robot."""

_OPENGL_FROM_OPENCV = np.diag([1.0, -1.0, -1.0, 1.0])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CameraCalibration:
    """A camera's lens and place, as far as they are known; None = not known.

    Raises
    ------
    InvalidInputError
        ``invalid-argument``: a matrix that can't be one, a size that is not positive, a matrix
        without its origin, or a word that is none of those allowed.
    """

    intrinsics_px: Float64Array | None = None
    """(3, 3) float64 ``[[fx, skew, cx], [0, fy, cy], [0, 0, 1]]`` in pixels; the centre of the
    first pixel is (0, 0)."""
    width_px: int | None = None
    """Width of the pictures that ``intrinsics_px`` holds for; None = not stated."""
    height_px: int | None = None
    """Height of those pictures."""
    distortion_model: str | None = None
    """Name that the source gives: ``plumb_bob``, ``equidistant`` ...; None = not stated."""
    distortion_coefficients: tuple[float, ...] = ()
    """Coefficients in the order of the model."""
    intrinsics_origin: Origin | None = None
    """Who states ``intrinsics_px``: the recorded data, the profile, or who accepted a proposal."""
    base_from_cam: Float64Array | None = None
    """(4, 4) float64, metres, OpenCV axes: takes points of the camera to ``parent_frame``."""
    parent_frame: str = ROBOT_BASE
    """`ROBOT_BASE`, or the link that the camera is mounted on."""
    pose_origin: Origin | None = None
    """Who states ``base_from_cam``."""
    stated_direction: Direction | None = None
    """Direction in which it is stated."""
    stated_axes: CameraAxes | None = None
    """Axes of the camera in which it is stated."""
    stated_rotation: str | None = None
    """How its rotation is written: ``matrix``, ``quaternion wxyz``, ``euler xyz intrinsic rad``."""
    serial: str | None = None
    """Serial number of the device, which names it whatever the data calls it."""

    def __post_init__(self) -> None:
        """Check what is stated, and keep own read-only copies of the matrices."""
        _check_word("stated_direction", self.stated_direction, (None, *get_args(Direction)))
        _check_word("stated_axes", self.stated_axes, (None, *get_args(CameraAxes)))
        if self.intrinsics_px is not None:
            _keep(self, "intrinsics_px", checked_intrinsics_px(self.intrinsics_px))
            _check_word("intrinsics_origin", self.intrinsics_origin, get_args(Origin))
        if self.base_from_cam is not None:
            _keep(self, "base_from_cam", rigid_transform_from_matrix(self.base_from_cam))
            _check_word("pose_origin", self.pose_origin, get_args(Origin))
        finite_array(
            self.distortion_coefficients,
            (len(self.distortion_coefficients),),
            "Distortion coefficients",
        )
        for size_px in (self.width_px, self.height_px):
            if size_px is not None and size_px < 1:
                raise _invalid(f"A picture has at least one pixel each way, got {size_px}")


def _check_word(name: str, word: str | None, allowed: tuple[str | None, ...]) -> None:
    if word not in allowed:
        raise _invalid(f"{name} of a calibration has to be one of {list(allowed)}, got {word!r}")


def _keep(calibration: CameraCalibration, name: str, array: Float64Array) -> None:
    array.flags.writeable = False
    object.__setattr__(calibration, name, array)


def intrinsics_from_focal_px(
    *, fx_px: float, fy_px: float, cx_px: float, cy_px: float
) -> Float64Array:
    """Return the (3, 3) matrix of a lens without skew.

    Raises
    ------
    InvalidInputError
        ``invalid-argument``: see `checked_intrinsics_px`.

    Examples
    --------
    >>> intrinsics_from_focal_px(fx_px=600, fy_px=601, cx_px=319.5, cy_px=239.5).tolist()
    [[600.0, 0.0, 319.5], [0.0, 601.0, 239.5], [0.0, 0.0, 1.0]]
    """
    return checked_intrinsics_px([[fx_px, 0, cx_px], [0, fy_px, cy_px], [0, 0, 1]])


def checked_intrinsics_px(matrix: object) -> Float64Array:
    """Return a (3, 3) camera matrix in pixels.

    Raises
    ------
    InvalidInputError
        ``invalid-argument``: another shape, not finite, a focal length that is not positive, or
        numbers where a camera matrix has 0 and 1.
    """
    array = finite_array(matrix, (3, 3), "A camera matrix")
    if not (array[0, 0] > 0 and array[1, 1] > 0):
        focal = [float(array[0, 0]), float(array[1, 1])]
        raise _invalid(f"Focal lengths have to be positive pixels, got fx and fy {focal}")
    fixed = [array[1, 0], *array[2]]
    if fixed != [0, 0, 0, 1]:
        raise _invalid(
            f"A camera matrix is [[fx, skew, cx], [0, fy, cy], [0, 0, 1]], got {array.tolist()}"
        )
    return array


def base_from_opencv_cam(
    transform: object, *, direction: Direction, axes: CameraAxes
) -> Float64Array:
    """Return ``base_from_cam`` in OpenCV axes of a transform stated in another way.

    Parameters
    ----------
    transform : array-like, shape (4, 4) or (3, 4)
        Rigid, metres; `robot_data_platform.core.rotation` builds it from a quaternion or Euler
        angles.
    direction : {"base_from_cam", "cam_from_base"}
        Which way it takes points.
    axes : {"opencv", "opengl"}
        Axes of the camera that it is stated in.

    Raises
    ------
    InvalidInputError
        ``invalid-argument``: no rigid transform.

    Examples
    --------
    >>> camera_1_m_above = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 1], [0, 0, 0, 1]]
    >>> base_from_opencv_cam(camera_1_m_above, direction="base_from_cam", axes="opengl")[2]
    array([ 0.,  0., -1.,  1.])
    """
    stated = rigid_transform_from_matrix(transform)
    base_from_stated = inverse(stated) if direction == "cam_from_base" else stated
    if axes == "opencv":
        return base_from_stated
    turned: Float64Array = base_from_stated @ _OPENGL_FROM_OPENCV
    return turned


def first_known(
    first: CameraCalibration | None, second: CameraCalibration | None
) -> CameraCalibration | None:
    """Return the lens and the place that ``first`` knows, and of ``second`` what it does not."""
    if first is None or second is None:
        return first or second
    lens = first if first.intrinsics_px is not None else second
    place = first if first.base_from_cam is not None else second
    values = {name: getattr(place if name in _PLACE else lens, name) for name in _FIELDS}
    return CameraCalibration(**{**values, "serial": first.serial or second.serial})


_FIELDS = tuple(field.name for field in fields(CameraCalibration))
_PLACE = frozenset(
    {"base_from_cam", "parent_frame", "pose_origin"}
    | {name for name in _FIELDS if name.startswith("stated_")}
)


def inverse(transform: Float64Array) -> Float64Array:
    """Return the inverse of a (4, 4) rigid transform, exact up to rounding."""
    result = np.eye(4)
    result[:3, :3] = transform[:3, :3].T
    result[:3, 3] = -transform[:3, :3].T @ transform[:3, 3]
    return result


def _invalid(what: str) -> InvalidInputError:
    return InvalidInputError(f"{what}.", kind=ErrorKind.INVALID_ARGUMENT)
