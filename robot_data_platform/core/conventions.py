"""How an upload's numbers read: names, units, gripper, quaternions, rate; what may not be mixed.

Conventions are plain JSON values by subject (``control_hz``, ``observation_state.unit``); a subject
that is absent is not stated.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from robot_data_platform.core.alignment import rate_hz, row_clock
from robot_data_platform.core.recording import CameraStream, PictureSequence, Recording, Signal
from robot_data_platform.core.schema import CAMERA_PREFIX

RATE_TOLERANCE = 0.1
"""Share by which two control rates may differ: drift is smaller, the step from 25 to 30 Hz not."""

CONTROL_HZ, ROBOT = "control_hz", "robot"
GRIPPER_CONVENTION, GRIPPER_RANGE = "gripper.convention", "gripper.range"
QUATERNION_ORDER = "quaternion_order"
NAMES, UNIT, LIMITS, WIDTH = "names", "unit", "limits", "width"
"""Last parts of the subjects of a signal."""
IS_DEPTH, DEPTH_UNIT_M = "is_depth", "depth_unit_m"
"""Last parts of the subjects of a camera of depth maps."""

Conventions = Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One subject of which two uploads say different things."""

    subject: str
    got: object
    """What the one says; None = nothing."""
    expected: object
    """What the other says; None = nothing."""

    def __str__(self) -> str:
        """Return it with both values."""
        got, expected = ("nothing" if v is None else repr(v) for v in (self.got, self.expected))
        return f"{self.subject}: got {got}, expected {expected}"


def conventions_of(recording: Recording, stated: Conventions) -> dict[str, object]:
    """Return the conventions of an episode: what its streams carry, and what is ``stated``."""
    values = {**stated, ROBOT: recording.robot}
    if recording.signals:
        values[CONTROL_HZ] = rate_hz(row_clock(recording.signals).timestamp_ns)
    for signal in recording.signals:
        values |= {f"{signal.name}.{part}": value for part, value in _parts(signal).items()}
    for camera in recording.cameras:
        values |= _depth_parts(camera)
    return {subject: value for subject, value in values.items() if value is not None}


def _parts(signal: Signal) -> dict[str, object]:
    return {
        WIDTH: int(signal.values.shape[1]),
        NAMES: list(signal.names) if signal.names else None,
        UNIT: list(signal.units) if signal.units else signal.unit,
        LIMITS: [pair and list(pair) for pair in signal.limits] if signal.limits else None,
    }


def _depth_parts(camera: CameraStream) -> dict[str, object]:
    """Return what a camera's depth maps carry; of a video it is not known here that it has any."""
    prefix, unit_m = CAMERA_PREFIX + camera.name, camera.depth_unit_m
    is_depth = isinstance(camera.pictures, PictureSequence) and camera.pictures.is_depth
    known = is_depth or unit_m is not None
    return {f"{prefix}.{IS_DEPTH}": known or None, f"{prefix}.{DEPTH_UNIT_M}": unit_m}


def conflicts(mine: Conventions, other: Conventions) -> list[Difference]:
    """Return what both state, and differently: their numbers may not be mixed.

    Robots and limits may differ. A signal of another width is left to whoever makes its rows.
    """
    return [
        Difference(subject=subject, got=mine[subject], expected=other[subject])
        for subject in sorted(mine.keys() & other.keys())
        if not _may_differ(subject) and not _agree(subject, mine[subject], other[subject])
    ]


def doubts(mine: Conventions, other: Conventions) -> list[Difference]:
    """Return what one of the two states alone, of the signals that both have."""
    return [
        Difference(subject=subject, got=mine.get(subject), expected=other.get(subject))
        for subject in sorted(mine.keys() ^ other.keys())
        if not _may_differ(subject) and subject != CONTROL_HZ and _concerns(subject, mine, other)
    ]


def first_stated(uploads: Iterable[Conventions]) -> dict[str, object]:
    """Return each subject as the first of some uploads states it."""
    merged: dict[str, object] = {}
    for conventions in uploads:
        merged = {**conventions, **merged}
    return merged


def _may_differ(subject: str) -> bool:
    return subject == ROBOT or subject.endswith((f".{LIMITS}", f".{WIDTH}", f".{IS_DEPTH}"))


def _concerns(subject: str, mine: Conventions, other: Conventions) -> bool:
    """Return whether a subject is of a stream that both have, or of no stream."""
    stream, _, part = subject.rpartition(".")
    proof = {NAMES: WIDTH, UNIT: WIDTH, DEPTH_UNIT_M: IS_DEPTH}.get(part)
    return proof is None or all(f"{stream}.{proof}" in c for c in (mine, other))


def _agree(subject: str, mine: object, other: object) -> bool:
    if subject == CONTROL_HZ and isinstance(mine, int | float) and isinstance(other, int | float):
        return abs(mine - other) <= RATE_TOLERANCE * max(mine, other)
    if subject.endswith(f".{UNIT}"):
        return all(a == b or a is None or b is None for a, b in _paired(mine, other))
    if subject.endswith(f".{NAMES}"):
        return all(a == b for a, b in _paired(mine, other))
    return mine == other


def _paired(mine: object, other: object) -> list[tuple[object, object]]:
    """Return the values of each dimension; none where one has more of them than the other."""
    lists = [value for value in (mine, other) if isinstance(value, list)]
    width = len(lists[0]) if lists else 1
    pair = [value if isinstance(value, list) else [value] * width for value in (mine, other)]
    return list(zip(*pair, strict=True)) if len(pair[0]) == len(pair[1]) else []
