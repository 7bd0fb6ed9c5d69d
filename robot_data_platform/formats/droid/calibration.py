"""Where the cameras of a DROID episode are, and through what lens they look.

A 6-vector of ``observation/camera_extrinsics`` is x, y, z in metres and three Euler angles in
radians, turned about the fixed axes x, y, z in this order (``"xyz"`` of SciPy). It takes points of
the camera (OpenCV axes) to the base of the robot; that of a camera on the arm changes with every
row, and its ``..._gripper_offset`` takes them to the frame of ``cartesian_position``.

References
----------
droid-dataset/droid: ``droid/calibration/calibration_utils.py``, ``droid/robot_env.py``,
``droid/misc/transformations.py``.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np

from robot_data_platform.core.calibration import ROBOT_BASE, CameraCalibration, first_known
from robot_data_platform.core.finding import Finding, Severity
from robot_data_platform.core.rotation import (
    Float64Array,
    rigid_transform,
    rotation_from_euler_rad,
)
from robot_data_platform.errors import InvalidInputError
from robot_data_platform.formats.droid.declared import Declared
from robot_data_platform.formats.hdf5_files import check_chunk
from robot_data_platform.formats.hdf5_members import dataset_at
from robot_data_platform.formats.hdf5_signals import check_signals

if TYPE_CHECKING:
    import h5py

EXTRINSICS = "observation/camera_extrinsics"
INTRINSICS = "observation/camera_intrinsics"
CONVENTION = (
    "x, y, z in m, then Euler angles in rad about the fixed axes x, y, z (SciPy 'xyz'); takes "
    "points of the camera, OpenCV axes, to the base of the robot, or to the gripper where it says "
    "gripper_offset"
)
GRIPPER = "gripper"
"""Frame of ``cartesian_position``: the flange of the arm, whatever gripper it carries."""
STILL_TOLERANCE = 1e-9
"""Largest change over the rows, in m, rad or pixels, of what does not change."""
DECLARED_TOLERANCE = 1e-6
"""Largest difference, in m or rad, of two extrinsics that are the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Vectors:
    """One dataset of calibrations: the first row, and whether it holds for the others."""

    path: str
    first: Float64Array
    is_still: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftView:
    """What the file says of the left view of one camera."""

    extrinsics: Vectors | None = None
    gripper_offset: Vectors | None = None
    intrinsics: Vectors | None = None

    @property
    def paths(self) -> list[str]:
        """The datasets that it was read from."""
        found = (self.extrinsics, self.gripper_offset, self.intrinsics)
        return [vectors.path for vectors in found if vectors is not None]

    @property
    def mount(self) -> Vectors | None:
        """The 6-vector that holds in every row, or None where there is none."""
        if self.gripper_offset is not None:
            return self.gripper_offset
        is_still = self.extrinsics is not None and self.extrinsics.is_still
        return self.extrinsics if is_still else None


def read_left_view(file: h5py.File, serial: str, num_rows: int, subject: str) -> LeftView:
    """Return what the file says of a camera's left view.

    Raises
    ------
    DataFaultError
        ``row-mismatch``, ``shape-mismatch``: calibrations of another length than the episode, or
        of an absurd size.
    """

    def vectors(path: str, shape: tuple[int, ...]) -> Vectors | None:
        dataset = dataset_at(file, path, subject)
        if dataset is None or dataset.dtype.kind != "f" or dataset.shape[1:] != shape:
            return None
        check_signals({path: dataset}, num_rows, subject)
        check_chunk(dataset, path)
        values = dataset[()].astype(np.float64)
        is_still = np.allclose(values, values[0], rtol=0, atol=STILL_TOLERANCE, equal_nan=True)
        return Vectors(path=path, first=values[0], is_still=is_still)

    return LeftView(
        extrinsics=vectors(f"{EXTRINSICS}/{serial}_left", (6,)),
        gripper_offset=vectors(f"{EXTRINSICS}/{serial}_left_gripper_offset", (6,)),
        intrinsics=vectors(f"{INTRINSICS}/{serial}_left", (3, 3)),
    )


def calibration_of(
    view: LeftView, camera: str, subject: str
) -> tuple[CameraCalibration | None, tuple[Finding, ...]]:
    """Return the calibration of a view, and findings on what can't be one."""
    calibration = None
    doubts = list(_changes(view, camera, subject))
    for part in (_lens, _place):
        try:
            calibration = first_known(calibration, part(view))
        except InvalidInputError as err:
            doubts.append(_unusable(str(err), camera, subject))
    return calibration, tuple(doubts)


def _lens(view: LeftView) -> CameraCalibration | None:
    if view.intrinsics is None:
        return None
    return CameraCalibration(intrinsics_px=view.intrinsics.first, intrinsics_origin="data")


def _place(view: LeftView) -> CameraCalibration | None:
    if view.mount is None:
        return None
    return CameraCalibration(
        base_from_cam=transform_of(view.mount.first),
        parent_frame=ROBOT_BASE if view.gripper_offset is None else GRIPPER,
        pose_origin="data",
        stated_direction="base_from_cam",
        stated_axes="opencv",
        stated_rotation="euler xyz extrinsic rad",
    )


def transform_of(vector: Float64Array) -> Float64Array:
    """Return the (4, 4) transform that a 6-vector of DROID stands for.

    Raises
    ------
    InvalidInputError
        ``invalid-argument``: not finite.
    """
    rotation = rotation_from_euler_rad(vector[3:], order="xyz", axes="extrinsic")
    return rigid_transform(rotation, vector[:3])


def declared_findings(
    declared: Declared, view: LeftView, role: str, subject: str
) -> tuple[Finding, ...]:
    """Return a finding where the JSON file states other extrinsics than the trajectory."""
    stated = _six_numbers(declared.fields.get(f"{role}_cam_extrinsics"))
    if view.extrinsics is None or stated is None or not np.isfinite(view.extrinsics.first).all():
        return ()
    differences = np.abs(np.array(stated, dtype=np.float64) - view.extrinsics.first)
    if float(differences.max()) <= DECLARED_TOLERANCE:
        return ()
    finding = Finding(
        rule="extrinsics_as_declared",
        severity=Severity.WARN,
        message=f"{subject}: camera {role!r} is elsewhere than declared: got "
        f"{view.extrinsics.first.tolist()} in row 0 of {view.extrinsics.path!r}, expected {stated} "
        "of the JSON file. The former was taken.",
        where=f"camera={role}",
        value=float(np.linalg.norm(differences[:3])),
        threshold=DECLARED_TOLERANCE,
        unit="m",
    )
    return (finding,)


def _changes(view: LeftView, camera: str, subject: str) -> Iterator[Finding]:
    for vectors in (view.gripper_offset, view.intrinsics):
        if vectors is not None and not vectors.is_still:
            yield _warning(
                "calibration_is_constant",
                f"{subject}: {vectors.path!r} of camera {camera!r} changes from row to row: got "
                "several calibrations, expected one. That of row 0 was taken.",
                camera,
            )


def _unusable(why: str, camera: str, subject: str) -> Finding:
    message = f"{subject}: calibration of camera {camera!r} was left out: {why}"
    return _warning("calibration_is_readable", message, camera)


def _warning(rule: str, message: str, camera: str) -> Finding:
    return Finding(rule=rule, severity=Severity.WARN, message=message, where=f"camera={camera}")


def _six_numbers(value: object) -> list[float] | None:
    numbers = value if isinstance(value, list) else []
    is_vector = len(numbers) == 6 and all(_is_finite(number) for number in numbers)
    return [float(number) for number in numbers] if is_vector else None


def _is_finite(value: object) -> bool:
    """Return whether a JSON value is a number that a float holds."""
    return type(value) in (int, float) and abs(cast("float", value)) <= sys.float_info.max
