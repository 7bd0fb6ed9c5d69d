"""What a profile states, laid over what the data says of itself."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from robot_data_platform.core.finding import Finding, Severity
from robot_data_platform.core.recording import ACTION, STATE, CameraStream, Recording, Signal
from robot_data_platform.errors import ErrorKind, InvalidInputError
from robot_data_platform.formats.profile import Joints, Profile


def apply_profile(recording: Recording, profile: Profile) -> Recording:
    """Return the recording with the profile's statements, and findings where the two differ.

    The values stay as recorded: units, signs and conventions are stated, never multiplied in.

    Raises
    ------
    InvalidInputError
        ``invalid-profile``: a camera is renamed to a name that another one has.
    """
    width = next((s.values.shape[1] for s in recording.signals if s.name == STATE), None)
    return replace(
        recording,
        signals=tuple(_with_joints(signal, profile.joints, width) for signal in recording.signals),
        cameras=_renamed(recording.cameras, profile),
        task=recording.task or profile.task,
        robot=profile.robot or recording.robot,
        findings=(
            *recording.findings,
            *_joint_findings(recording.signals, profile.joints),
            *_camera_findings(recording.cameras, profile),
        ),
    )


def _with_joints(signal: Signal, joints: Joints, width: int | None) -> Signal:
    if signal.name not in (STATE, ACTION) or signal.values.shape[1] != width:
        return signal
    fits = joints.names is not None and len(joints.names) == width
    return replace(
        signal,
        names=signal.names or (joints.names if fits else None),
        unit=signal.unit or joints.unit,
    )


def _joint_findings(signals: Iterable[Signal], joints: Joints) -> Iterable[Finding]:
    if joints.names is None:
        return
    for signal in signals:
        width = signal.values.shape[1]
        if signal.name == STATE and width != len(joints.names):
            got, expected = f"{width} dimensions", f"{len(joints.names)} of the profile's names"
        elif signal.name == STATE and signal.names and signal.names != joints.names:
            got, expected = f"{list(signal.names)}", f"the profile's {list(joints.names)}"
        else:
            continue
        yield _warning("joint_names_as_profile_states", signal.name, got, expected)


def _renamed(cameras: Iterable[CameraStream], profile: Profile) -> tuple[CameraStream, ...]:
    by_name: dict[str, CameraStream] = {}
    for camera in cameras:
        stated = profile.cameras.get(camera.name)
        name = (stated and stated.rename) or camera.name
        if name in by_name:
            raise InvalidInputError(
                f"The profile gives two cameras the name {name!r}: got it for {camera.name!r} too, "
                "expected one camera per name. Choose another `rename`.",
                kind=ErrorKind.INVALID_PROFILE,
                camera=camera.name,
            )
        by_name[name] = replace(camera, name=name)
    return tuple(by_name.values())


def _camera_findings(cameras: Iterable[CameraStream], profile: Profile) -> Iterable[Finding]:
    recorded = {camera.name for camera in cameras}
    for name in profile.cameras:
        if name not in recorded:
            got = f"cameras {sorted(recorded)}"
            yield _warning("cameras_as_profile_states", f"camera={name}", got, f"{name!r} too")


def _warning(rule: str, where: str, got: str, expected: str) -> Finding:
    return Finding(
        rule=rule,
        severity=Severity.WARN,
        message=f"{where} differs from the profile: got {got}, expected {expected}.",
        where=where,
    )
