"""Checks of a camera's declared place and lens; no picture is needed.

They take the numbers as declared, before anything makes a rotation of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from robot_data_platform.core.finding import Finding, Severity
from robot_data_platform.core.rotation import Float64Array
from robot_data_platform.spatial.judgement import judged, not_measured
from robot_data_platform.spatial.thresholds import SpatialThresholds

_NEAREST_M = 0.02
"""Nearer to the base's origin than this, a camera would stand inside the robot."""
_USUAL_SCALES = (1 / 4, 1 / 3, 1 / 2, 2 / 3, 3 / 2, 2.0, 3.0, 4.0)
"""Factors between the picture sizes that one camera offers."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DeclaredCamera:
    """A camera as its data or its profile declares it; None = not declared."""

    name: str
    base_from_cam: Float64Array | None
    """(4, 4), metres, OpenCV axes, as it was computed from what is declared."""
    intrinsics_px: Float64Array | None
    """(3, 3), the centre of the first pixel at (0, 0)."""
    width_px: int
    """Of the pictures that the data holds."""
    height_px: int


def check_camera(camera: DeclaredCamera, limits: SpatialThresholds) -> list[Finding]:
    """Return what can't be right in a camera's declared place and lens."""
    where = f"camera={camera.name}"
    place, lens = camera.base_from_cam, camera.intrinsics_px
    return [
        *(
            [not_measured("camera_pose_is_rigid", where, "no place of the camera is declared")]
            if place is None
            else _pose(place, where, limits)
        ),
        *(
            [not_measured("intrinsics_fit_picture", where, "no intrinsics are declared")]
            if lens is None
            else _lens(camera, lens, where, limits)
        ),
    ]


def _pose(pose: Float64Array, where: str, limits: SpatialThresholds) -> Iterator[Finding]:
    if pose.shape != (4, 4) or not np.isfinite(pose).all():
        yield _wrong(
            "camera_pose_is_rigid", where, f"got a pose of shape {pose.shape} or not finite"
        )
        return
    rotation = pose[:3, :3]
    deviation = float(np.abs(rotation @ rotation.T - np.eye(3)).max())
    yield from judged(
        "camera_rotation_is_orthonormal",
        where,
        deviation,
        limits.rotation_deviation,
        f"The camera's rotation is off from orthonormal by {deviation:.3g}, expected rounding.",
    )
    determinant = float(np.linalg.det(rotation))
    if determinant <= 0:
        yield _wrong(
            "camera_rotation_is_right_handed",
            where,
            f"The camera's rotation has the determinant {determinant:.3g}, expected 1: an axis is "
            "mirrored",
        )
    yield from _distance(pose[:3, 3], where, limits)


def _distance(xyz_m: Float64Array, where: str, limits: SpatialThresholds) -> Iterator[Finding]:
    distance = float(np.linalg.norm(xyz_m))
    hint = " These may be millimetres." if distance > limits.camera_distance_m.fail else ""
    rule = "camera_distance_is_plausible"
    yield from judged(
        rule,
        where,
        distance,
        limits.camera_distance_m,
        f"The camera is {distance:.3g} m from what it is mounted on, expected at most "
        f"{limits.camera_distance_m.ok} m.{hint}",
    )
    if distance < _NEAREST_M:
        yield _wrong(
            rule, where, f"The camera is {distance:.3g} m from the origin, within the robot"
        )


def _lens(
    camera: DeclaredCamera, lens: Float64Array, where: str, limits: SpatialThresholds
) -> Iterator[Finding]:
    if lens.shape != (3, 3) or not np.isfinite(lens).all() or min(lens[0, 0], lens[1, 1]) <= 0:
        got = lens.tolist()
        yield _wrong(
            "intrinsics_are_plausible", where, f"got {got}, expected positive focal lengths"
        )
        return
    ratio = abs(float(lens[0, 0] / lens[1, 1]) - 1)
    yield from judged(
        "focal_lengths_agree",
        where,
        ratio,
        limits.focal_ratio,
        f"fx and fy are {lens[0, 0]:.4g} and {lens[1, 1]:.4g} px, {ratio:.1%} apart, expected "
        "square pixels: the picture was stretched, or the numbers are in another order.",
    )
    yield from _fits_picture(camera, lens, where, limits)


def _fits_picture(
    camera: DeclaredCamera, lens: Float64Array, where: str, limits: SpatialThresholds
) -> Iterator[Finding]:
    declared_size = 2 * lens[:2, 2] + 1
    size = np.array([camera.width_px, camera.height_px])
    deviation = float(np.abs(declared_size / size - 1).max())
    scale = scale_of_other_size(lens, camera.width_px, camera.height_px)
    hint = f" They fit a picture of {scale:.3g} times the size." if scale else ""
    yield from judged(
        "intrinsics_fit_picture",
        where,
        deviation,
        limits.principal_point,
        f"The principal point ({lens[0, 2]:.1f}, {lens[1, 2]:.1f}) px is the middle of a picture "
        f"of {declared_size[0]:.0f}x{declared_size[1]:.0f}, got {size[0]}x{size[1]}.{hint}",
    )


def scale_of_other_size(lens: Float64Array, width_px: int, height_px: int) -> float | None:
    """Return the usual factor of another picture size that intrinsics fit; None = none does."""
    declared = 2 * lens[:2, 2] + 1
    for scale in _USUAL_SCALES:
        if np.abs(declared / (scale * np.array([width_px, height_px])) - 1).max() < 0.1:
            return scale
    return None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SessionPose:
    """The declared place of a physical camera in one episode of a session."""

    serial: str
    """Of the device, not of its name in the data."""
    episode: str
    base_from_cam: Float64Array
    """(4, 4), metres."""


def same_camera_stays_put(poses: Iterable[SessionPose], limits: SpatialThresholds) -> list[Finding]:
    """Return where the declared place of a camera changes within a session.

    Parameters
    ----------
    poses : iterable of SessionPose
        Of one session, in the order of its episodes.
    limits : SpatialThresholds
        The limits.
    """
    by_serial: dict[str, list[SessionPose]] = defaultdict(list)
    for pose in poses:
        by_serial[pose.serial].append(pose)
    return [
        finding
        for of_one in by_serial.values()
        for earlier, later in pairwise(of_one)
        for finding in _moved(earlier, later, limits)
    ]


def _moved(
    earlier: SessionPose, later: SessionPose, limits: SpatialThresholds
) -> Iterator[Finding]:
    shift_m, turn_deg = difference(earlier.base_from_cam, later.base_from_cam)
    where = f"camera serial={later.serial} episode={later.episode}"
    text = (
        f"Since episode {earlier.episode!r} the declared camera moved by {100 * shift_m:.1f} cm "
        f"and {turn_deg:.1f} deg, expected none within a session: one of the two is wrong."
    )
    shifted = judged("same_camera_stays_put", where, shift_m, limits.session_shift_m, text)
    turned = judged("same_camera_stays_put", where, turn_deg, limits.session_turn_deg, text)
    yield from (shifted or turned)


def difference(first: Float64Array, second: Float64Array) -> tuple[float, float]:
    """Return how far two poses are apart, in metres and in degrees."""
    turn = first[:3, :3].T @ second[:3, :3]
    cosine = np.clip((np.trace(turn) - 1) / 2, -1, 1)
    shift = float(np.linalg.norm(first[:3, 3] - second[:3, 3]))
    return shift, float(np.degrees(np.arccos(cosine)))


def robot_is_in_view(
    share: npt.NDArray[np.float64], where: str, limits: SpatialThresholds
) -> list[Finding]:
    """Return whether the declared camera sees the robot at all.

    Parameters
    ----------
    share : ndarray of float64, shape (T,)
        Share of the robot's surface points that fall into the picture, by row.
    where : str
        The camera.
    limits : SpatialThresholds
        The limits.
    """
    if not len(share):
        return [not_measured("robot_is_in_view", where, "there are no rows")]
    usual = float(np.median(share))
    return judged(
        "robot_is_in_view",
        where,
        usual,
        limits.in_view,
        f"{usual:.1%} of the robot falls into the picture, expected more than "
        f"{limits.in_view.ok:.0%}: the camera's place, its axes or its lens may be wrong.",
    )


def _wrong(rule: str, where: str, what: str) -> Finding:
    return Finding(rule=rule, severity=Severity.FAIL, message=f"{what}.", where=where)
