"""Which statements contradict each other, and which only can't be compared."""

from __future__ import annotations

import numpy as np
import pytest

from robot_data_platform.core.conventions import (
    Conventions,
    conflicts,
    conventions_of,
    doubts,
    first_stated,
)
from robot_data_platform.core.recording import (
    CameraStream,
    EpisodeRef,
    PictureSequence,
    Recording,
    Signal,
)

UNIT, NAMES, WIDTH = (f"observation_state.{part}" for part in ("unit", "names", "width"))


def subjects(mine: Conventions, other: Conventions) -> list[str]:
    return [difference.subject for difference in conflicts(mine, other)]


def test_an_episode_states_what_its_signals_carry_and_what_is_given() -> None:
    state = Signal(
        name="observation_state",
        timestamp_ns=np.arange(3) * 20_000_000,
        values=np.zeros((3, 2)),
        names=("a", "b"),
        units=("rad", None),
        limits=((-1.0, 1.0), None),
    )
    recording = Recording(
        ref=EpisodeRef(source_key="e"), signals=(state,), cameras=(), task=None, robot="arm"
    )
    assert conventions_of(recording, {"quaternion_order": "wxyz"}) == {
        "robot": "arm",
        "quaternion_order": "wxyz",
        "control_hz": 50.0,
        WIDTH: 2,
        NAMES: ["a", "b"],
        UNIT: ["rad", None],
        "observation_state.limits": [[-1.0, 1.0], None],
    }


@pytest.mark.parametrize(
    ("subject", "mine", "other"),
    [
        (UNIT, "deg", "rad"),
        (UNIT, ["rad", "percent"], ["rad", "m"]),
        (UNIT, "rad", ["rad", "percent"]),
        (UNIT, ["rad", "percent"], "rad"),
        (NAMES, ["a", "b"], ["b", "a"]),
        (NAMES, ["a", "b"], ["a", "c"]),
        ("gripper.convention", "zero_is_open", "zero_is_closed"),
        ("gripper.range", [0.0, 1.0], [0.0, 0.08]),
        ("quaternion_order", "wxyz", "xyzw"),
        ("control_hz", 25.0, 30.0),
        ("control_hz", 50.0, 100.0),
    ],
)
def test_two_statements_that_differ_are_told_with_both_values(
    subject: str, mine: object, other: object
) -> None:
    (difference,) = conflicts({subject: mine}, {subject: other})
    assert (difference.subject, difference.got, difference.expected) == (subject, mine, other)
    assert str(difference) == f"{subject}: got {mine!r}, expected {other!r}"
    assert subjects({subject: other}, {subject: mine}) == [subject]


@pytest.mark.parametrize(
    ("subject", "mine", "other"),
    [
        (UNIT, "rad", ["rad", "rad"]),
        (UNIT, ["rad", None], ["rad", "percent"]),
        (UNIT, ["rad", "rad"], ["deg"]),
        (NAMES, ["a", "b"], ["a", "b", "c"]),
        ("control_hz", 18.35, 20.0),
        ("robot", "one", "other"),
        ("observation_state.limits", [[0, 1]], [[0, 2]]),
        (WIDTH, 2, 3),
    ],
)
def test_statements_that_may_stand_side_by_side_are_no_conflict(
    subject: str, mine: object, other: object
) -> None:
    assert subjects({subject: mine}, {subject: other}) == []


def test_what_one_leaves_unsaid_is_a_doubt_and_no_conflict() -> None:
    mine, other = {WIDTH: 2, UNIT: "rad"}, {WIDTH: 2, "quaternion_order": "wxyz"}
    assert conflicts(mine, other) == []
    told = {doubt.subject: (doubt.got, doubt.expected) for doubt in doubts(mine, other)}
    assert told == {UNIT: ("rad", None), "quaternion_order": (None, "wxyz")}


def test_a_signal_that_one_does_not_have_is_no_doubt() -> None:
    assert doubts({"action.width": 2, "action.unit": "rad", "action.names": ["a", "b"]}, {}) == []


@pytest.mark.parametrize("subject", ["robot", "control_hz", "observation_state.limits"])
def test_what_may_differ_may_be_unsaid(subject: str) -> None:
    assert doubts({WIDTH: 1, subject: 1}, {WIDTH: 1}) == []


def test_the_first_to_say_something_counts() -> None:
    assert first_stated([{"a": 1}, {"a": 2, "b": 3}]) == {"a": 1, "b": 3}


UNIT_M, IS_DEPTH = (f"observation_images_tof.{part}" for part in ("depth_unit_m", "is_depth"))


def depth_recording(*, is_depth: bool, unit_m: float | None) -> Recording:
    tof = CameraStream(
        name="tof",
        timestamp_ns=np.arange(1),
        pictures=PictureSequence(num_frames=1, read=lambda: iter(()), is_depth=is_depth),
        depth_unit_m=unit_m,
    )
    ref = EpisodeRef(source_key="e")
    return Recording(ref=ref, signals=(), cameras=(tof,), task=None, robot=None)


@pytest.mark.parametrize(
    ("is_depth", "unit_m", "stated"),
    [
        (False, None, {}),
        (True, None, {IS_DEPTH: True}),
        (True, 0.001, {IS_DEPTH: True, UNIT_M: 0.001}),
    ],
)
def test_an_episode_states_the_unit_of_its_depth(
    is_depth: bool, unit_m: float | None, stated: dict[str, object]
) -> None:
    assert conventions_of(depth_recording(is_depth=is_depth, unit_m=unit_m), {}) == stated


def test_units_of_depth_agree_exactly_or_not_at_all() -> None:
    assert subjects({UNIT_M: 0.001}, {UNIT_M: 0.001}) == []
    assert subjects({UNIT_M: 0.001}, {UNIT_M: 0.00101}) == [UNIT_M]


def test_a_unit_of_depth_is_a_doubt_only_between_cameras_of_depth() -> None:
    assert doubts({UNIT_M: 0.001, IS_DEPTH: True}, {}) == []
    (doubt,) = doubts({UNIT_M: 0.001, IS_DEPTH: True}, {IS_DEPTH: True})
    assert doubt.subject == UNIT_M
