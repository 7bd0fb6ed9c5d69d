"""What people get wrong, one fault at a time, with the cause that has to be named."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from robot_data_platform.core.rotation import Float64Array
from robot_data_platform_tests.golden.reading import CAMERAS, Fault

transform = pytest.importorskip("scipy.spatial.transform", reason="SciPy is the truth")
Change = Callable[[Float64Array], Float64Array]
ARMS = {"panda": [list(range(7))], "aloha": [list(range(6)), list(range(7, 13))]}


def gross_faults(name: str) -> dict[str, tuple[Fault, str]]:
    """Return faults of a recording with their causes, by what is wrong."""
    first, second, wrist = CAMERAS[name]
    flipped = np.diag([1.0, -1.0, -1.0, 1.0])
    faults = {
        "inverse": (Fault(place={first: inverted}), "pose_is_inverted"),
        "inverse, wrist": (Fault(place={wrist: inverted}), "pose_is_inverted"),
        "OpenGL axes": (Fault(place={first: lambda p: p @ flipped}), "axes_are_other"),
        "OpenGL axes, wrist": (Fault(place={wrist: lambda p: p @ flipped}), "axes_are_other"),
        "wxyz as xyzw": (Fault(place={first: requaternioned(1)}), "quaternion_order_is_other"),
        "xyzw as wxyz": (Fault(place={second: requaternioned(-1)}), "quaternion_order_is_other"),
        "Euler axes": (Fault(place={first: reeulered("xyz", "XYZ")}), "euler_order_is_other"),
        "Euler order": (Fault(place={second: reeulered("xyz", "zyx")}), "euler_order_is_other"),
        "millimetres": (Fault(place={first: farther(1000)}), "position_is_in_other_unit"),
        "swapped cameras": (Fault(swap=(first, second)), "cameras_are_swapped"),
        "lens of twice the size": (Fault(lens={first: resized(2)}), "intrinsics_are_of_other_size"),
        "lens of half the size": (
            Fault(lens={second: resized(0.5)}),
            "intrinsics_are_of_other_size",
        ),
        "mirrored": (Fault(pictures={first: lambda v: v[:, :, ::-1]}), "picture_is_mirrored"),
        "turned": (Fault(pictures={second: lambda v: v[:, ::-1, ::-1]}), "picture_is_turned"),
        "reversed joints": (Fault(state=backwards(name)), "joint_order_is_other"),
        "swapped joints": (Fault(state=swapped(1, 2)), "joint_order_is_other"),
        "degrees as radians": (Fault(state=scaled(name, 180 / np.pi)), "joint_unit_is_other"),
        "radians as degrees": (Fault(state=scaled(name, np.pi / 180)), "joint_unit_is_other"),
    }
    for joint in (0, 1, 3, 5):
        faults[f"sign of joint {joint}"] = (Fault(state=negated(joint)), "joint_sign_is_other")
    if name == "aloha":
        sides = Fault(state=lambda s: np.concatenate([s[:, 7:], s[:, :7]], axis=1))
        faults["swapped arms"] = (sides, "arms_are_swapped")
    return faults


def inverted(pose: Float64Array) -> Float64Array:
    return np.asarray(np.linalg.inv(pose))


def moved(rng: np.random.Generator, *, shift_m: float, turn_deg: float) -> Change:
    """Return what moves a camera by so much, in a direction drawn at random."""
    shift, axis = (v / np.linalg.norm(v) for v in rng.standard_normal((2, 3)))
    motion = np.eye(4)
    motion[:3, :3] = transform.Rotation.from_rotvec(np.radians(turn_deg) * axis).as_matrix()
    motion[:3, 3] = shift_m * shift
    return lambda pose: np.asarray(pose @ motion)


def requaternioned(step: int) -> Change:
    """Return what reads a quaternion with its real part at the other end."""

    def change(pose: Float64Array) -> Float64Array:
        numbers = transform.Rotation.from_matrix(pose[:3, :3]).as_quat()
        rotation = transform.Rotation.from_quat(np.roll(numbers, step))
        return _turned(pose, rotation.as_matrix())

    return change


def reeulered(meant: str, read: str) -> Change:
    """Return what reads Euler angles in another order."""

    def change(pose: Float64Array) -> Float64Array:
        angles = transform.Rotation.from_matrix(pose[:3, :3]).as_euler(meant)
        return _turned(pose, transform.Rotation.from_euler(read, angles).as_matrix())

    return change


def _turned(pose: Float64Array, rotation_matrix: Float64Array) -> Float64Array:
    changed = pose.copy()
    changed[:3, :3] = rotation_matrix
    return changed


def farther(factor: float) -> Change:
    def change(pose: Float64Array) -> Float64Array:
        changed = pose.copy()
        changed[:3, 3] *= factor
        return changed

    return change


def resized(factor: float) -> Change:
    def change(lens: Float64Array) -> Float64Array:
        changed = lens.copy()
        changed[:2, :2] *= factor
        changed[:2, 2] = (lens[:2, 2] + 0.5) * factor - 0.5
        return changed

    return change


def backwards(name: str) -> Change:
    def change(state: Float64Array) -> Float64Array:
        changed = state.copy()
        for arm in ARMS[name]:
            changed[:, arm] = state[:, arm[::-1]]
        return changed

    return change


def swapped(first: int, second: int) -> Change:
    def change(state: Float64Array) -> Float64Array:
        changed = state.copy()
        changed[:, [first, second]] = state[:, [second, first]]
        return changed

    return change


def scaled(name: str, factor: float) -> Change:
    def change(state: Float64Array) -> Float64Array:
        changed = state.copy()
        for arm in ARMS[name]:
            changed[:, arm] *= factor
        return changed

    return change


def negated(joint: int) -> Change:
    def change(state: Float64Array) -> Float64Array:
        changed = state.copy()
        changed[:, joint] *= -1
        return changed

    return change
