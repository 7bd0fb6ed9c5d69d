from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robot_data_platform.core.window import clamp_window, nominal_rate_hz, window_steps
from robot_data_platform.errors import ErrorKind, InvalidInputError

RATES_HZ = st.sampled_from([10.0, 12.5, 15.0, 30000 / 1001, 30.0, 50.0, 100.0, 1000 / 7, 500.0])


def steps_at(rate_hz: float, seconds: list[float], tolerance_s: float = 1e-4) -> list[int]:
    steps: list[list[int]] = window_steps(
        seconds, np.array([rate_hz]), tolerance_s, "action"
    ).tolist()
    return steps[0]


@given(rate_hz=RATES_HZ, steps=st.lists(st.integers(-5000, 5000), min_size=1, max_size=20))
def test_seconds_that_are_whole_row_periods_become_those_rows(
    rate_hz: float, steps: list[int]
) -> None:
    assert steps_at(rate_hz, [float(step / Fraction(rate_hz)) for step in steps]) == steps


@given(
    rate_hz=st.sampled_from([10.0, 12.5, 30.0, 50.0, 100.0, 500.0]),
    step=st.integers(-500, 500),
    off=st.floats(0.11, 0.49),
)
def test_an_offset_further_off_the_grid_than_the_tolerance_is_refused(
    rate_hz: float, step: int, off: float
) -> None:
    with pytest.raises(InvalidInputError) as caught:
        steps_at(rate_hz, [0.0, (step + off) / rate_hz], tolerance_s=0.1 / rate_hz)
    assert caught.value.kind is ErrorKind.WINDOW_OFF_GRID


@given(rate_hz=RATES_HZ, step=st.integers(-500, 500), off=st.floats(-0.09, 0.09))
def test_an_offset_within_the_tolerance_takes_the_nearest_row(
    rate_hz: float, step: int, off: float
) -> None:
    assert steps_at(rate_hz, [(step + off) / rate_hz], tolerance_s=0.1 / rate_hz) == [step]


def test_a_clock_measured_a_little_off_its_nominal_rate_keeps_the_nominal_grid() -> None:
    assert steps_at(99.7, [-2.0, 0.0, 0.01, 1.0]) == [-200, 0, 1, 100]


def test_each_rate_gets_steps_of_its_own() -> None:
    steps = window_steps([0.1, 0.2], np.array([30.0, 50.0]), 1e-4, "action")
    assert steps.tolist() == [[3, 6], [5, 10]]


def test_a_rate_far_from_a_whole_number_is_its_own_nominal_rate() -> None:
    assert nominal_rate_hz(np.array([12.5, 100.9])).tolist() == [12.5, 101.0]


def test_the_refusal_names_key_offset_period_and_tolerance() -> None:
    with pytest.raises(InvalidInputError, match=r"'action'.*0\.013 s.*1\.300 rows at 100 Hz") as e:
        steps_at(100.0, [0.013])
    assert "multiple of 0.010000 s within tolerance_s=0.0001" in str(e.value)


@pytest.mark.parametrize("seconds", [float("nan"), float("inf"), 1e30])
def test_an_offset_that_no_episode_can_hold_is_off_the_grid(seconds: float) -> None:
    with pytest.raises(InvalidInputError) as caught:
        steps_at(30.0, [seconds])
    assert caught.value.kind is ErrorKind.WINDOW_OFF_GRID


def test_an_empty_window_is_refused() -> None:
    with pytest.raises(InvalidInputError) as caught:
        steps_at(30.0, [])
    assert caught.value.kind is ErrorKind.INVALID_ARGUMENT


@given(
    lengths=st.lists(st.integers(1, 30), min_size=1, max_size=5),
    steps=st.lists(st.integers(-40, 40), min_size=1, max_size=8),
)
def test_a_window_repeats_the_edge_row_of_its_own_episode_and_says_so(
    lengths: list[int], steps: list[int]
) -> None:
    bounds = np.cumsum([0, *lengths])
    row = np.arange(bounds[-1])
    episode = np.repeat(np.arange(len(lengths)), lengths)
    rows, is_pad = clamp_window(row, bounds[episode], bounds[episode + 1], np.array(steps))
    for n in row.tolist():
        for k, step in enumerate(steps):
            inside = [m for m in row.tolist() if episode[m] == episode[n]]
            distance = {m: abs(m - n - step) for m in inside}
            assert rows[n, k] == min(inside, key=distance.__getitem__)
            assert is_pad[n, k] == (n + step not in inside)


def test_each_row_may_have_steps_of_its_own() -> None:
    row, start, stop = np.array([0, 10]), np.array([0, 10]), np.array([10, 20])
    rows, is_pad = clamp_window(row, start, stop, np.array([[1, 2], [3, 6]]))
    assert rows.tolist() == [[1, 2], [13, 16]]
    assert not is_pad.any()
