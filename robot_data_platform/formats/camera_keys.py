"""Profile keys of a camera: rate, name, clock, channel order, lens and place."""

from __future__ import annotations

from math import radians
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from robot_data_platform.core.calibration import (
    ROBOT_BASE,
    CameraAxes,
    CameraCalibration,
    Direction,
    base_from_opencv_cam,
    checked_intrinsics_px,
    first_known,
    intrinsics_from_focal_px,
)
from robot_data_platform.core.rotation import (
    EulerAxes,
    Float64Array,
    QuaternionOrder,
    rigid_transform,
    rigid_transform_from_matrix,
    rotation_from_euler_rad,
    rotation_from_quaternion,
)
from robot_data_platform.formats.profile_keys import CameraName, Name, Number, Rate, Stated

ChannelOrder = Literal["rgb", "bgr"]
Pixels = Annotated[int, Field(strict=True, ge=1, le=1 << 16)]
DepthUnit = Annotated[Number, Field(gt=0, le=1)]
Nanoseconds = Annotated[int, Field(strict=True, ge=-(1 << 62), le=1 << 62)]
Rows = tuple[tuple[Number, ...], ...]
Three = tuple[Number, Number, Number]


class Distortion(Stated):
    """How the lens bends the picture."""

    model: Name = Field(description="Name of the model, as OpenCV and ROS call it.")
    coefficients: tuple[Number, ...] = Field(description="In the order of the model.")


class Intrinsics(Stated):
    """The lens in pixels, for pictures of one size."""

    width_px: Pixels = Field(description="Width of the pictures that the numbers hold for.")
    height_px: Pixels = Field(description="Height of those pictures.")
    fx: Number | None = Field(default=None, description="Focal length in pixels of width.")
    fy: Number | None = Field(default=None, description="Focal length in pixels of height.")
    cx: Number | None = Field(default=None, description="Principal point; first pixel centre is 0.")
    cy: Number | None = Field(default=None, description="Principal point; first pixel centre is 0.")
    matrix: Rows | None = Field(default=None, description="3 x 3, in place of fx, fy, cx and cy.")
    distortion: Distortion | None = Field(default=None, description="Null = not known.")

    @model_validator(mode="after")
    def _is_a_lens(self) -> Self:
        self.matrix_px()
        return self

    def matrix_px(self) -> Float64Array:
        """Return the (3, 3) camera matrix in pixels.

        Raises
        ------
        ValueError
            It is stated in neither way or in both, or can't be a camera matrix.
        """
        match (self.fx, self.fy, self.cx, self.cy, self.matrix):
            case (None, None, None, None, rows) if rows is not None:
                return checked_intrinsics_px(rows)
            case (float(fx), float(fy), float(cx), float(cy), None):
                return intrinsics_from_focal_px(fx_px=fx, fy_px=fy, cx_px=cx, cy_px=cy)
        raise ValueError("a lens is either `fx`, `fy`, `cx` and `cy`, or a `matrix`")

    def calibration(self) -> CameraCalibration:
        """Return the lens, its place unknown."""
        return CameraCalibration(
            intrinsics_px=self.matrix_px(),
            width_px=self.width_px,
            height_px=self.height_px,
            distortion_model=self.distortion.model if self.distortion else None,
            distortion_coefficients=self.distortion.coefficients if self.distortion else (),
            intrinsics_origin="profile",
        )


class Quaternion(Stated):
    """A rotation as a unit quaternion."""

    order: QuaternionOrder = Field(description="Whether the real part is first or last.")
    values: tuple[Number, Number, Number, Number] = Field(description="In that order.")

    @model_validator(mode="after")
    def _is_a_rotation(self) -> Self:
        self.rotation()
        return self

    def rotation(self) -> Float64Array:
        """Return the (3, 3) matrix."""
        return rotation_from_quaternion(self.values, order=self.order)

    def __str__(self) -> str:
        """Return the convention in words."""
        return f"quaternion {self.order}"


class Euler(Stated):
    """A rotation as three turns."""

    order: Name = Field(description="Axes as they come: xyz, zyx ...")
    axes: EulerAxes = Field(description="About fixed axes (extrinsic) or moved ones (intrinsic).")
    unit: Literal["rad", "deg"] = Field(description="Unit of the angles.")
    values: Three = Field(description="Angles, in the order of `order`.")

    @model_validator(mode="after")
    def _is_a_rotation(self) -> Self:
        self.rotation()
        return self

    def rotation(self) -> Float64Array:
        """Return the (3, 3) matrix."""
        angles = self.values if self.unit == "rad" else tuple(map(radians, self.values))
        return rotation_from_euler_rad(angles, order=self.order, axes=self.axes)

    def __str__(self) -> str:
        """Return the convention in words."""
        return f"euler {self.order} {self.axes} {self.unit}"


class Extrinsics(Stated):
    """Where the camera is: a transform whose direction and axes are stated."""

    direction: Direction = Field(description="Which way the transform takes points.")
    axes: CameraAxes = Field(description="Axes of the camera.")
    parent: Name = Field(default=ROBOT_BASE, description="The base, or the link it is mounted on.")
    matrix: Rows | None = Field(default=None, description="4 x 4 or 3 x 4, in metres.")
    xyz_m: Three | None = Field(default=None, description="Position part, with one of the two:")
    quaternion: Quaternion | None = Field(default=None, description="Rotation part.")
    euler: Euler | None = Field(default=None, description="Rotation part.")

    @model_validator(mode="after")
    def _is_a_place(self) -> Self:
        self.base_from_cam()
        return self

    def base_from_cam(self) -> Float64Array:
        """Return the (4, 4) transform from the camera in OpenCV axes to `parent`, in metres.

        Raises
        ------
        ValueError
            It is stated in no way or in several, or is no rigid transform.
        """
        return base_from_opencv_cam(self._stated(), direction=self.direction, axes=self.axes)

    def calibration(self) -> CameraCalibration:
        """Return the place, the lens unknown."""
        return CameraCalibration(
            base_from_cam=self.base_from_cam(),
            parent_frame=self.parent,
            pose_origin="profile",
            stated_direction=self.direction,
            stated_axes=self.axes,
            stated_rotation=str(self.quaternion or self.euler or "matrix"),
        )

    def _stated(self) -> Float64Array:
        match (self.matrix, self.xyz_m, self.quaternion, self.euler):
            case (rows, None, None, None) if rows is not None:
                return rigid_transform_from_matrix(rows)
            case (None, xyz_m, Quaternion() as written, None) | (
                None,
                xyz_m,
                None,
                Euler() as written,
            ) if xyz_m is not None:
                return rigid_transform(written.rotation(), xyz_m)
        raise ValueError("a place is a `matrix`, or `xyz_m` with one of `quaternion` and `euler`")


class Camera(Stated):
    """One camera, keyed by the name it has in the source."""

    fps: Rate | None = Field(default=None, description="Nominal pictures per second.")
    rename: CameraName | None = Field(default=None, description="Name to store it under.")
    channel_order: ChannelOrder | None = Field(
        default=None, description="Wins over `picture_channel_order` for this camera."
    )
    time_offset_ns: Nanoseconds | None = Field(
        default=None, description="Added to every time of its pictures."
    )
    depth_unit_m: DepthUnit | None = Field(
        default=None, description="Metres per unit of its depth maps; null = not known."
    )
    mask_camera: CameraName | None = Field(
        default=None, description="Stored name of the camera whose pictures show the robot white."
    )
    intrinsics: Intrinsics | None = Field(default=None, description="Where the data has none.")
    extrinsics: Extrinsics | None = Field(default=None, description="Where the data has none.")

    def calibration(self) -> CameraCalibration | None:
        """Return what is stated of lens and place; None where nothing is."""
        return first_known(
            self.intrinsics.calibration() if self.intrinsics else None,
            self.extrinsics.calibration() if self.extrinsics else None,
        )
