"""Joints of a recording as a profile names, orders, converts and limits them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from robot_data_platform.core.finding import Finding
from robot_data_platform.core.recording import ACTION, STATE, Recording, Signal
from robot_data_platform.formats.differences import difference
from robot_data_platform.formats.joint_keys import Gripper, Joints
from robot_data_platform.formats.joint_order import in_order
from robot_data_platform.formats.joint_units import (
    Limits,
    conversion_findings,
    converted,
    unit_of_each,
    with_stated_unit,
)
from robot_data_platform.formats.profile import Profile


def with_joints(
    recording: Recording, profile: Profile
) -> tuple[tuple[Signal, ...], tuple[Finding, ...]]:
    """Return the signals with what the profile states of joints, and findings.

    It speaks of the state and of an action of the same width; `joints.order` of every signal with
    these names.

    Raises
    ------
    DataFaultError
        ``metadata-contradiction``, ``shape-mismatch``: a declared order or conversion does not fit.
    """
    subject, joints = f"Episode {recording.ref.source_key!r}", profile.joints
    told = list(_name_findings(recording.signals, joints))
    width = _state_width(recording.signals)
    signals = tuple(_named(signal, joints, width) for signal in recording.signals)
    if joints.order is not None:
        signals, of_order = in_order(signals, joints.order, subject)
        told += of_order
    width = _state_width(signals)
    stored = []
    for signal in signals:
        is_joints = signal.name in (STATE, ACTION) and signal.values.shape[1] == width
        new, of_signal = _stated(signal, profile, subject) if is_joints else (signal, [])
        stored.append(new)
        told += of_signal
        if signal.name == ACTION and joints.stored_as is not None and not is_joints:
            told.append(_not_converted(signal, width))
    return tuple(stored), tuple(told)


def _state_width(signals: Sequence[Signal]) -> int | None:
    return next((s.values.shape[1] for s in signals if s.name == STATE), None)


def _named(signal: Signal, joints: Joints, width: int | None) -> Signal:
    is_joints = signal.name in (STATE, ACTION) and signal.values.shape[1] == width
    fits = joints.names is not None and len(joints.names) == width
    return replace(signal, names=signal.names or joints.names) if is_joints and fits else signal


def _stated(signal: Signal, profile: Profile, subject: str) -> tuple[Signal, list[Finding]]:
    stored_as = profile.joints.stored_as
    measured = with_stated_unit(signal, profile.joints)
    new = measured if stored_as is None else converted(measured, stored_as, subject)
    told = [*_findings(signal, profile), *conversion_findings(measured, new, subject)]
    return replace(new, limits=_limits(new, profile)), told


def _not_converted(action: Signal, width: int | None) -> Finding:
    expected = f"the {width} of the state, which alone is converted"
    got = f"{action.values.shape[1]} dimensions"
    return difference("action_is_converted_with_state", action.name, got, expected)


def _limits(signal: Signal, profile: Profile) -> Limits | None:
    """Return the stated limits, a gripper's range among them; the data's own win."""
    names = signal.names or ()
    stated = profile.joints.limits
    width = signal.values.shape[1]
    limits = list(stated if stated and len(stated) == width else (None,) * width)
    for name in profile.gripper.joints:
        if name in names:
            position = names.index(name)
            limits[position] = limits[position] or profile.gripper.range
    return signal.limits or (tuple(limits) if any(limits) else None)


def _findings(signal: Signal, profile: Profile) -> Iterator[Finding]:
    """Yield where the profile does not fit a signal, as recorded but in the profile's order."""
    yield from _unit_findings(signal, profile.joints)
    if signal.name == STATE:
        yield from _length_findings(signal, profile.joints)
        yield from _gripper_findings(signal, profile.gripper)


def _name_findings(signals: Sequence[Signal], joints: Joints) -> Iterator[Finding]:
    for signal in signals:
        width = signal.values.shape[1]
        if joints.names is None or signal.name != STATE:
            continue
        if width != len(joints.names):
            got, expected = f"{width} dimensions", f"{len(joints.names)} of the profile's names"
        elif signal.names and signal.names != joints.names:
            got, expected = f"{list(signal.names)}", f"the profile's {list(joints.names)}"
        else:
            continue
        yield difference("joint_names_as_profile_states", signal.name, got, expected)


def _unit_findings(signal: Signal, joints: Joints) -> Iterator[Finding]:
    recorded = unit_of_each(signal)
    stated = unit_of_each(with_stated_unit(replace(signal, unit=None, units=None), joints))
    if any(recorded) and any(stated) and recorded != stated:
        got, expected = f"{list(recorded)}", f"the profile's {list(stated)}"
        yield difference("joint_unit_as_profile_states", signal.name, got, expected)


def _length_findings(signal: Signal, joints: Joints) -> Iterator[Finding]:
    width = signal.values.shape[1]
    for key in ("unit", "sign", "offset", "limits"):
        stated = getattr(joints, key)
        if isinstance(stated, tuple) and len(stated) != width:
            expected = f"the {len(stated)} of `joints.{key}`, which is not used"
            yield difference(
                "joints_as_profile_states", signal.name, f"{width} dimensions", expected
            )


def _gripper_findings(signal: Signal, gripper: Gripper) -> Iterator[Finding]:
    absent = [name for name in gripper.joints if name not in (signal.names or ())]
    if absent:
        names = list(signal.names) if signal.names else "no names"
        yield difference("gripper_as_profile_states", signal.name, str(names), f"{absent} too")
