"""What may be wrong with one camera's numbers: the mistakes that people make with them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from robot_data_platform.core.calibration import (
    CameraAxes,
    Direction,
    base_from_opencv_cam,
    inverse,
)
from robot_data_platform.core.rotation import (
    Float64Array,
    rotation_from_euler_rad,
    rotation_from_quaternion,
)
from robot_data_platform.spatial.episode_input import CameraInput
from robot_data_platform.spatial.projection import Pinhole
from robot_data_platform.spatial.reading import (
    CameraReading,
    Flip,
    Hypothesis,
    declared_reading,
    turned_about_z,
)

_LENGTH_UNITS = {1e-3: "millimetres", 1e-2: "centimetres"}
_SIZE_FACTORS = {1 / 4: "4", 1 / 3: "3", 1 / 2: "2", 2 / 3: "1.5", 3 / 2: "2/3", 2.0: "1/2"}
"""Factor for the intrinsics: how many times larger a picture they were made for."""
_ASPECTS = (4 / 3, 3 / 4)
_OFF_CENTRE = 0.3
"""Share of the picture by which a lens may sit off its middle, to be tried at all."""
_OTHER_DIRECTION: dict[Direction, Direction] = {
    "base_from_cam": "cam_from_base",
    "cam_from_base": "base_from_cam",
}
_OTHER_AXES: dict[CameraAxes, CameraAxes] = {"opencv": "opengl", "opengl": "opencv"}


def camera_hypotheses(camera: CameraInput, others: Sequence[CameraInput]) -> Iterator[Hypothesis]:
    """Yield what may be wrong with a camera; nothing where its lens or place is not declared.

    Parameters
    ----------
    camera : CameraInput
        As declared.
    others : sequence of CameraInput
        The other cameras of the episode, which it may have been taken for.
    """
    declared = declared_reading(camera)
    if declared is None:
        return
    yield from _frames(camera, declared)
    yield from _rotations(camera, declared)
    yield from _lengths(camera, declared)
    yield from _lenses(camera, declared)
    yield from _pictures(declared)
    yield from _swaps(declared, others)


def _posed(code: str, says: str, declared: CameraReading, pose: Float64Array) -> Hypothesis:
    return Hypothesis(code=code, says=says, camera=replace(declared, parent_from_cam=pose))


def _stated(camera: CameraInput, declared: CameraReading) -> Float64Array:
    """Return the declared place as it was written."""
    pose = declared.parent_from_cam
    if camera.stated_axes == "opengl":
        pose = pose @ np.diag([1.0, -1.0, -1.0, 1.0])
    return inverse(pose) if camera.stated_direction == "cam_from_base" else pose


def _read(stated: Float64Array, direction: Direction, axes: CameraAxes) -> Float64Array:
    return base_from_opencv_cam(stated, direction=direction, axes=axes)


def _frames(camera: CameraInput, declared: CameraReading) -> Iterator[Hypothesis]:
    stated = _stated(camera, declared)
    direction, axes = camera.stated_direction, camera.stated_axes
    other, turned = _OTHER_DIRECTION[direction], _OTHER_AXES[axes]
    says = f"the transform is {other}, not {direction}"
    yield _posed("pose_is_inverted", says, declared, _read(stated, other, axes))
    says = f"the camera's axes are {turned}, not {axes}"
    yield _posed("axes_are_other", says, declared, _read(stated, direction, turned))
    says = f"the transform is {other} with {turned} axes, not {direction} with {axes} axes"
    yield _posed(
        "pose_is_inverted_and_axes_are_other", says, declared, _read(stated, other, turned)
    )
    if declared.parent_link == "base":
        for degrees in (90, 180, 270):
            pose = turned_about_z(degrees) @ declared.parent_from_cam
            says = f"the robot's base is turned by {degrees} degrees"
            yield _posed(f"base_is_turned_by_{degrees}", says, declared, pose)


def _rotations(camera: CameraInput, declared: CameraReading) -> Iterator[Hypothesis]:
    stated = _stated(camera, declared)
    for code, says, rotation in (*_quaternions(stated[:3, :3]), *_eulers(stated[:3, :3])):
        meant = stated.copy()
        meant[:3, :3] = rotation
        pose = _read(meant, camera.stated_direction, camera.stated_axes)
        yield _posed(code, says, declared, pose)


def _quaternions(rotation: Float64Array) -> Iterator[tuple[str, str, Float64Array]]:
    w, x, y, z = _quaternion_wxyz(rotation)
    for numbers, order in (((w, x, y, z), "xyzw"), ((x, y, z, w), "wxyz")):
        meant = rotation_from_quaternion(numbers, order="xyzw" if order == "xyzw" else "wxyz")
        yield "quaternion_order_is_other", f"the quaternion's order is {order}", meant


def _quaternion_wxyz(rotation: Float64Array) -> tuple[float, float, float, float]:
    """Return the unit quaternion of a rotation, by its largest component."""
    trace = np.trace(rotation)
    squares = np.array([trace, *(2 * np.diag(rotation) - trace)]) + 1
    largest = int(np.argmax(squares))
    cross = rotation - rotation.T
    mixed = rotation + rotation.T
    rows = np.array(
        [
            [squares[0], cross[2, 1], cross[0, 2], cross[1, 0]],
            [cross[2, 1], squares[1], mixed[0, 1], mixed[0, 2]],
            [cross[0, 2], mixed[0, 1], squares[2], mixed[1, 2]],
            [cross[1, 0], mixed[0, 2], mixed[1, 2], squares[3]],
        ]
    )
    w, x, y, z = (rows[largest] / np.linalg.norm(rows[largest])).tolist()
    return w, x, y, z


def _eulers(rotation: Float64Array) -> Iterator[tuple[str, str, Float64Array]]:
    """Yield rotations whose angles were put together in another order."""
    for read_as, angles in (
        ("extrinsic", _fixed_xyz(rotation)),
        ("intrinsic", _moved_xyz(rotation)),
    ):
        readings = [
            ("xyz", "intrinsic" if read_as == "extrinsic" else "extrinsic"),
            ("zyx", "extrinsic"),
            ("zyx", "intrinsic"),
        ]
        for order, axes in readings:
            meant = rotation_from_euler_rad(
                angles, order=order, axes="extrinsic" if axes == "extrinsic" else "intrinsic"
            )
            says = f"the Euler angles are {order} {axes}, read as xyz {read_as}"
            yield "euler_order_is_other", says, meant


def _fixed_xyz(r: Float64Array) -> list[float]:
    pitch = -np.arcsin(np.clip(r[2, 0], -1, 1))
    return [float(np.arctan2(r[2, 1], r[2, 2])), float(pitch), float(np.arctan2(r[1, 0], r[0, 0]))]


def _moved_xyz(r: Float64Array) -> list[float]:
    pitch = np.arcsin(np.clip(r[0, 2], -1, 1))
    first, last = np.arctan2(-r[1, 2], r[2, 2]), np.arctan2(-r[0, 1], r[0, 0])
    return [float(first), float(pitch), float(last)]


def _lengths(camera: CameraInput, declared: CameraReading) -> Iterator[Hypothesis]:
    stated = _stated(camera, declared)
    for factor, unit in _LENGTH_UNITS.items():
        meant = stated.copy()
        meant[:3, 3] *= factor
        pose = _read(meant, camera.stated_direction, camera.stated_axes)
        yield _posed("position_is_in_other_unit", f"the position is in {unit}", declared, pose)


def _lenses(camera: CameraInput, declared: CameraReading) -> Iterator[Hypothesis]:
    width, height, lens = camera.width_px, camera.height_px, declared.intrinsics_px
    tried = [*_other_sizes(lens), *_other_orders(lens), *_other_aspects(lens, width, height)]
    for code, says, meant in tried:
        share = (2 * meant[:2, 2] + 1) / [width, height]
        if np.abs(share - 1).max() < 2 * _OFF_CENTRE and meant[0, 0] > 0 and meant[1, 1] > 0:
            reading = replace(declared, intrinsics_px=meant)
            yield Hypothesis(code=code, says=says, camera=reading)


def _other_sizes(lens: Float64Array) -> Iterator[tuple[str, str, Float64Array]]:
    for factor, size in _SIZE_FACTORS.items():
        # Any size will do: only the proportion of the two counts.
        meant = Pinhole(intrinsics_px=lens, width_px=12, height_px=12)
        side = round(12 * factor)
        resized = meant.resized(side, side).intrinsics_px
        says = f"the intrinsics are those of a picture {size} times as large"
        yield "intrinsics_are_of_other_size", says, resized


def _other_orders(lens: Float64Array) -> Iterator[tuple[str, str, Float64Array]]:
    fx, fy, cx, cy = lens[0, 0], lens[1, 1], lens[0, 2], lens[1, 2]
    for says, (a, b, c, d) in {
        "cx and cy are swapped": (fx, fy, cy, cx),
        "the intrinsics are in the order fx, cx, fy, cy": (fx, cx, fy, cy),
    }.items():
        meant = np.array([[a, 0, c], [0, b, d], [0, 0, 1.0]])
        yield "intrinsics_are_in_other_order", says, meant


def _other_aspects(
    lens: Float64Array, width: int, height: int
) -> Iterator[tuple[str, str, Float64Array]]:
    for row, aspect in ((row, aspect) for row in (0, 1) for aspect in _ASPECTS):
        meant = lens.copy()
        meant[row, row] *= aspect
        for centre in (meant[row, 2], ((width, height)[row] - 1) / 2):
            stretched = meant.copy()
            stretched[row, 2] = centre
            says = f"the picture is stretched {'across' if row == 0 else 'upwards'} by {aspect:.3g}"
            yield "picture_is_stretched", says, stretched


def _pictures(declared: CameraReading) -> Iterator[Hypothesis]:
    for flip, says in {
        Flip.MIRRORED: "the pictures are mirrored",
        Flip.UPSIDE_DOWN: "the pictures are upside down",
        Flip.TURNED: "the pictures are turned by 180 degrees",
    }.items():
        reading = replace(declared, flip=flip)
        yield Hypothesis(code=f"picture_is_{flip.value}", says=says, camera=reading)


def _swaps(declared: CameraReading, others: Sequence[CameraInput]) -> Iterator[Hypothesis]:
    for other in others:
        reading = declared_reading(other)
        if reading is not None:
            says = f"these are the pictures of the camera {other.name!r}"
            yield Hypothesis(code="cameras_are_swapped", says=says, camera=reading)
            pose_alone = replace(reading, intrinsics_px=declared.intrinsics_px)
            says = f"this is the place of the camera {other.name!r}"
            yield Hypothesis(code="camera_places_are_swapped", says=says, camera=pose_alone)
