"""Joints are ordered, converted and limited as the profile says, and every change is told."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robot_data_platform.core.finding import Severity
from robot_data_platform.core.recording import EpisodeRef, FloatArray, Recording, Signal
from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform.formats.profile import load_profile
from robot_data_platform.formats.statements import apply_profile
from robot_data_platform_tests.formats.reading import by_rule, signal

STATE, ACTION = "observation_state", "action"
BY_ALPHABET = ("elbow", "gripper", "shoulder", "waist")
"""As a robot's driver publishes them."""
RECORDED = np.array([[10, 20, 30, 40], [11, 21, 31, 41]], dtype=np.float32)
FROM_WAIST = "[waist, shoulder, elbow, gripper]"
RECORDED_FROM_WAIST = [[40, 30, 10, 20], [41, 31, 11, 21]]


def of(name: str, values: FloatArray = RECORDED, names: tuple[str, ...] | None = None) -> Signal:
    times = np.arange(len(values), dtype=np.int64)
    return Signal(name=name, timestamp_ns=times, values=values, names=names)


def stated(profile: str, *signals: Signal) -> Recording:
    """Return a recording of some signals with a profile laid over it."""
    recording = Recording(
        ref=EpisodeRef(source_key="take_3"), signals=signals, cameras=(), task=None, robot=None
    )
    return apply_profile(recording, load_profile(profile))


def test_joints_are_put_in_the_profiles_order_by_name() -> None:
    found = stated(f"joints: {{order: {FROM_WAIST}}}", of(STATE, names=BY_ALPHABET))
    state = signal(found, STATE)
    assert state.names == ("waist", "shoulder", "elbow", "gripper")
    np.testing.assert_array_equal(state.values, RECORDED_FROM_WAIST)
    told = by_rule(found.findings)["joints_as_profile_orders"]
    assert told.severity is Severity.INFO
    assert str(list(BY_ALPHABET)) in told.message


def test_an_order_may_leave_joints_out_and_rename_them() -> None:
    found = stated("joints: {order: {base: waist, hand: gripper}}", of(STATE, names=BY_ALPHABET))
    state = signal(found, STATE)
    assert state.names == ("base", "hand")
    np.testing.assert_array_equal(state.values, [[40, 20], [41, 21]])


def test_every_signal_with_these_names_is_ordered_and_others_are_not() -> None:
    effort = of("observation_effort", names=BY_ALPHABET)
    force = of("observation_force", names=("x", "y", "z", "w"))
    found = stated(f"joints: {{order: {FROM_WAIST}}}", of(STATE, names=BY_ALPHABET), effort, force)
    np.testing.assert_array_equal(signal(found, "observation_effort").values, RECORDED_FROM_WAIST)
    assert signal(found, "observation_force") is force


def test_an_action_without_names_follows_the_state_of_its_width() -> None:
    found = stated(f"joints: {{order: {FROM_WAIST}}}", of(STATE, names=BY_ALPHABET), of(ACTION))
    np.testing.assert_array_equal(signal(found, ACTION).values, RECORDED_FROM_WAIST)


def test_an_action_of_other_names_is_left_in_its_order_with_a_warning() -> None:
    action = of(ACTION, names=("a", "b", "c", "d"))
    found = stated(f"joints: {{order: {FROM_WAIST}}}", of(STATE, names=BY_ALPHABET), action)
    np.testing.assert_array_equal(signal(found, ACTION).values, RECORDED)
    assert [f.where for f in found.findings if f.severity is Severity.WARN] == [ACTION]


def test_names_of_the_profile_make_an_order_possible_where_the_data_has_none() -> None:
    names = f"names: {list(BY_ALPHABET)}"
    found = stated(f"joints: {{order: {FROM_WAIST}, {names}}}", of(STATE))
    np.testing.assert_array_equal(signal(found, STATE).values, RECORDED_FROM_WAIST)


@pytest.mark.parametrize(
    ("names", "got"),
    [
        (None, "no names"),
        (("elbow", "gripper", "shoulder", "base"), "'base'"),
        (("elbow", "waist", "shoulder", "waist"), "'waist', 'shoulder', 'waist'"),
    ],
    ids=["unnamed", "one is missing", "one is there twice"],
)
def test_a_state_that_can_not_be_ordered_is_refused(
    names: tuple[str, ...] | None, got: str
) -> None:
    with pytest.raises(DataFaultError) as caught:
        stated("joints: {order: [waist, elbow]}", of(STATE, names=names))
    assert caught.value.kind is ErrorKind.METADATA_CONTRADICTION
    assert "'take_3'" in str(caught.value)
    assert got in str(caught.value)


@given(st.permutations(BY_ALPHABET))
def test_any_order_gives_each_joint_its_own_values(order: list[str]) -> None:
    state = signal(stated(f"joints: {{order: {order}}}", of(STATE, names=BY_ALPHABET)), STATE)
    for name, column in zip(state.names or (), state.values.T, strict=True):
        np.testing.assert_array_equal(column, RECORDED[:, BY_ALPHABET.index(name)])


def test_each_dimension_may_have_its_own_unit() -> None:
    found = stated("joints: {unit: [rad, percent, rad, rad]}", of(STATE), of(ACTION))
    for name in (STATE, ACTION):
        assert signal(found, name).unit is None
        assert signal(found, name).units == ("rad", "percent", "rad", "rad")


def test_a_list_of_equal_units_is_one_unit() -> None:
    state = signal(stated("joints: {unit: [rad, rad, rad, rad]}", of(STATE)), STATE)
    assert (state.unit, state.units) == ("rad", None)


def test_units_are_those_of_the_stored_order() -> None:
    units = "[rad, rad, rad, percent]"
    found = stated(f"joints: {{order: {FROM_WAIST}, unit: {units}}}", of(STATE, names=BY_ALPHABET))
    state = signal(found, STATE)
    assert dict(zip(state.names or (), state.units or (), strict=True))["gripper"] == "percent"


def test_degrees_are_stored_as_radians_where_the_profile_declares_it() -> None:
    degrees = np.array([[0, 90, 180, -45]], dtype=np.float32)
    found = stated("joints: {unit: deg, stored_as: {unit: rad}}", of(STATE, degrees))
    state = signal(found, STATE)
    np.testing.assert_allclose(state.values, [[0, 1.5707963, 3.1415927, -0.7853982]], rtol=1e-6)
    assert state.unit == "rad"
    assert state.values.dtype == np.float32
    told = by_rule(found.findings)["joints_as_profile_converts"]
    assert "recorded in deg and is stored in rad" in told.message


def test_only_the_joints_in_degrees_are_turned_into_radians() -> None:
    values = np.array([[180.0, 55.0]])
    profile = "joints: {unit: [deg, percent], stored_as: {unit: [rad, percent]}}"
    state = signal(stated(profile, of(STATE, values)), STATE)
    np.testing.assert_allclose(state.values, np.array([[np.pi, 55.0]]))
    assert state.units == ("rad", "percent")


def test_a_scale_and_a_shift_of_each_joint_convert_ticks_and_turn_a_gripper_round() -> None:
    ticks = np.array([[0, 0.25], [2048, 1.0]])
    scale, shift = [2 * np.pi / 4096, -1.0], [-np.pi, 1.0]
    profile = (
        f"joints: {{unit: [ticks, null], stored_as: {{unit: [rad, null], scale: {scale}, "
        f"shift: {shift}}}}}"
    )
    state = signal(stated(profile, of(STATE, ticks)), STATE)
    np.testing.assert_allclose(state.values, np.array([[-np.pi, 0.75], [0, 0]]), atol=1e-12)


def test_an_action_of_another_width_is_left_as_recorded_with_a_warning() -> None:
    narrow = of(ACTION, RECORDED[:, :2])
    found = stated("joints: {unit: deg, stored_as: {unit: rad}}", of(STATE), narrow)
    assert signal(found, ACTION) is narrow
    told = by_rule(found.findings)["action_is_converted_with_state"]
    assert (told.severity, told.where) == (Severity.WARN, ACTION)


def test_limits_of_the_data_are_converted_with_the_values() -> None:
    opening = Signal(
        name=STATE,
        timestamp_ns=np.arange(2),
        values=RECORDED[:, :2],
        limits=((0.0, 100.0), None),
    )
    profile = "joints: {stored_as: {scale: [-1, 2], shift: [100, 0]}}"
    assert signal(stated(profile, opening), STATE).limits == ((0.0, 100.0), None)
    doubled = "joints: {stored_as: {scale: [-2, 2], shift: [100, 0]}}"
    assert signal(stated(doubled, opening), STATE).limits == ((-100.0, 100.0), None)


def test_nothing_is_converted_unless_it_is_declared() -> None:
    state = signal(stated("joints: {unit: deg}", of(STATE)), STATE)
    np.testing.assert_array_equal(state.values, RECORDED)
    assert state.unit == "deg"


def test_a_conversion_of_another_number_of_dimensions_is_refused() -> None:
    with pytest.raises(DataFaultError, match=r"got 4 dimensions.*stored_as") as caught:
        stated("joints: {stored_as: {scale: [1, 2]}}", of(STATE))
    assert caught.value.kind is ErrorKind.SHAPE_MISMATCH


def test_a_unit_of_the_data_that_has_no_factor_is_refused() -> None:
    in_metres = Signal(name=STATE, timestamp_ns=np.arange(2), values=RECORDED, unit="m")
    with pytest.raises(DataFaultError, match="got m in the data"):
        stated("joints: {unit: deg, stored_as: {unit: rad}}", in_metres)


def test_a_unit_of_the_data_wins_and_the_profiles_is_told() -> None:
    in_metres = Signal(name=STATE, timestamp_ns=np.arange(2), values=RECORDED, unit="m")
    found = stated("joints: {unit: rad}", in_metres)
    assert signal(found, STATE).unit == "m"
    assert "joint_unit_as_profile_states" in by_rule(found.findings)


def test_limits_go_with_the_state_and_an_action_of_its_width() -> None:
    limits = "[[-1, 1], null, [0, 4095], null]"
    found = stated(f"joints: {{limits: {limits}}}", of(STATE), of(ACTION), of("observation_force"))
    expected = ((-1, 1), None, (0, 4095), None)
    assert signal(found, STATE).limits == expected == signal(found, ACTION).limits
    assert signal(found, "observation_force").limits is None


def test_the_range_of_a_gripper_limits_its_dimension() -> None:
    profile = "gripper: {range: [0, 0.08], joints: [gripper]}"
    found = stated(profile, of(STATE, names=BY_ALPHABET))
    assert signal(found, STATE).limits == (None, (0, 0.08), None, None)


def test_a_gripper_joint_that_the_data_lacks_is_told() -> None:
    found = stated("gripper: {range: [0, 1], joints: [claw]}", of(STATE, names=BY_ALPHABET))
    assert "'claw'" in by_rule(found.findings)["gripper_as_profile_states"].message


@pytest.mark.parametrize("key", ["unit: [rad, rad]", "sign: [1, -1]", "limits: [[0, 1]]"])
def test_a_list_of_another_length_is_told_and_not_used(key: str) -> None:
    found = stated(f"joints: {{{key}}}", of(STATE))
    assert "got 4 dimensions" in by_rule(found.findings)["joints_as_profile_states"].message
    state = signal(found, STATE)
    assert (state.unit, state.units, state.limits) == (None, None, None)
