"""Cameras of a recording as a profile names, times and calibrates them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from robot_data_platform.core.calibration import CameraCalibration, first_known
from robot_data_platform.core.finding import Finding, Severity
from robot_data_platform.core.recording import (
    CameraStream,
    Int64Array,
    PictureSequence,
    Recording,
    VideoSegment,
)
from robot_data_platform.errors import ErrorKind, InvalidInputError
from robot_data_platform.formats.camera_keys import Camera
from robot_data_platform.formats.differences import difference
from robot_data_platform.formats.profile import Profile

NS_PER_MS = 1_000_000
_INT64_END = 1 << 63
CALIBRATION_TOLERANCE = 1e-6
"""Share by which numbers of the data and of the profile may differ and still be the same."""


def with_cameras(
    recording: Recording, profile: Profile
) -> tuple[tuple[CameraStream, ...], tuple[Finding, ...]]:
    """Return the cameras with what the profile states of them, and findings.

    Pixels never change here, whatever the profile says of the lens.

    Raises
    ------
    InvalidInputError
        ``invalid-profile``: a camera is renamed to a name that another one has, or its times are
        shifted out of int64.
    """
    told = list(_absent(recording.cameras, profile))
    for camera in recording.cameras:
        told += _findings(camera, profile.cameras.get(camera.name, Camera()))
    return _renamed([_stated(camera, profile) for camera in recording.cameras], profile), tuple(
        told
    )


def _stated(camera: CameraStream, profile: Profile) -> CameraStream:
    stated = profile.cameras.get(camera.name, Camera())
    return replace(
        camera,
        timestamp_ns=_shifted(camera, stated.time_offset_ns or 0),
        calibration=first_known(camera.calibration, stated.calibration()),
        depth_unit_m=_depth_unit_m(camera, stated),
    )


def _depth_unit_m(camera: CameraStream, stated: Camera) -> float | None:
    """Return the unit of a camera's depth maps; of a video nobody knows yet that it has none."""
    if camera.depth_unit_m is not None:
        return camera.depth_unit_m
    return None if _is_colour(camera) else stated.depth_unit_m


def _is_colour(camera: CameraStream) -> bool:
    return isinstance(camera.pictures, PictureSequence) and not camera.pictures.is_depth


def _shifted(camera: CameraStream, offset_ns: int) -> Int64Array:
    times = camera.timestamp_ns
    if not offset_ns or not len(times):
        return times
    ends = [int(times.min()) + offset_ns, int(times.max()) + offset_ns]
    if not -_INT64_END <= ends[0] <= ends[1] < _INT64_END:
        raise InvalidInputError(
            f"Camera {camera.name!r} can't be shifted by {offset_ns} ns: got times {ends}, "
            "expected int64 nanoseconds. Correct `time_offset_ns` in the profile.",
            kind=ErrorKind.INVALID_PROFILE,
            camera=camera.name,
        )
    return times + np.int64(offset_ns)


def _renamed(cameras: Sequence[CameraStream], profile: Profile) -> tuple[CameraStream, ...]:
    by_name: dict[str, CameraStream] = {}
    for camera in cameras:
        name = profile.cameras.get(camera.name, Camera()).rename or camera.name
        if name in by_name:
            raise InvalidInputError(
                f"The profile gives two cameras the name {name!r}: got it for {camera.name!r} too, "
                "expected one camera per name. Choose another `rename`.",
                kind=ErrorKind.INVALID_PROFILE,
                camera=camera.name,
            )
        by_name[name] = replace(camera, name=name)
    return tuple(by_name.values())


def _absent(cameras: Sequence[CameraStream], profile: Profile) -> Iterator[Finding]:
    recorded = sorted(camera.name for camera in cameras)
    for name in profile.cameras:
        if name not in recorded:
            got = f"cameras {recorded}"
            yield difference("cameras_as_profile_states", f"camera={name}", got, f"{name!r} too")


def _findings(camera: CameraStream, stated: Camera) -> Iterator[Finding]:
    if stated.time_offset_ns:
        yield _shift_finding(camera, stated.time_offset_ns)
    if stated.channel_order is not None and not _is_colour(camera):
        expected = f"pictures that `channel_order: {stated.channel_order}` is about"
        got = "a video" if isinstance(camera.pictures, VideoSegment) else "depth maps"
        yield difference("channel_order_is_of_pictures", f"camera={camera.name}", got, expected)
    yield from _depth_findings(camera, stated.depth_unit_m)
    yield from _contradictions(camera, stated.calibration())


def _depth_findings(camera: CameraStream, stated_m: float | None) -> Iterator[Finding]:
    if stated_m is None:
        return
    place, said = f"camera={camera.name}", f"`depth_unit_m: {stated_m:g}`"
    if _is_colour(camera):
        expected = f"depth maps, which {said} is about"
        yield difference("depth_unit_is_of_depth", place, "colour pictures", expected)
    elif camera.depth_unit_m not in (None, stated_m):
        got = f"{camera.depth_unit_m:g} m per unit, which was kept"
        yield difference("depth_unit_as_profile_states", place, got, said)


def _shift_finding(camera: CameraStream, offset_ns: int) -> Finding:
    return Finding(
        rule="camera_times_are_shifted",
        severity=Severity.INFO,
        message=f"camera={camera.name}: {offset_ns} ns were added to its times, as the profile "
        "states.",
        where=f"camera={camera.name}",
        value=offset_ns / NS_PER_MS,
        unit="ms",
    )


def _contradictions(camera: CameraStream, stated: CameraCalibration | None) -> Iterator[Finding]:
    recorded = camera.calibration
    for key in ("intrinsics_px", "base_from_cam"):
        got, expected = getattr(recorded, key, None), getattr(stated, key, None)
        if got is None or expected is None:
            continue
        if not np.allclose(got, expected, rtol=CALIBRATION_TOLERANCE, atol=CALIBRATION_TOLERANCE):
            yield difference(
                "calibration_as_profile_states",
                f"camera={camera.name} {key}",
                f"{got.round(6).tolist()}, which was kept",
                f"{expected.round(6).tolist()}",
            )
