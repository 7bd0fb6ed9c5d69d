from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robot_data_platform.core.time_base import (
    NS_PER_S,
    frame_index_to_ns,
    rate_fraction,
    seconds_to_ns,
    ticks_to_ns,
)
from robot_data_platform.errors import DataFaultError, ErrorKind, InvalidInputError

TIME_BASES = [
    Fraction(1, 90_000),
    Fraction(1, 15_360),
    Fraction(1001, 30_000),
    Fraction(1, NS_PER_S),
    Fraction(1, 2**31 - 1),
    Fraction(999, 2**31 - 1),
    Fraction(2**31 - 1, 2**31 - 3),
    Fraction(3600),
]


def rounded_half_up(value: Fraction) -> int:
    return math.floor(value + Fraction(1, 2))


@given(
    ticks=st.lists(st.integers(-(2**40), 2**40), max_size=20), time_base=st.sampled_from(TIME_BASES)
)
def test_ticks_become_the_nearest_nanosecond(ticks: list[int], time_base: Fraction) -> None:
    limit = (2**63 - 1) // math.ceil(time_base * NS_PER_S)
    ticks = [t for t in ticks if abs(t) < limit]
    found = ticks_to_ns(np.array(ticks, dtype=np.int64), time_base)
    assert found.dtype == np.int64
    assert found.tolist() == [rounded_half_up(t * time_base * NS_PER_S) for t in ticks]


@given(ticks=st.lists(st.integers(-(2**62), 2**62)), numerator=st.integers(1, 2**31 - 1))
def test_no_time_base_that_a_container_can_state_overflows(
    ticks: list[int], numerator: int
) -> None:
    time_base = Fraction(numerator, 2**31 - 1)
    exact = [rounded_half_up(t * time_base * NS_PER_S) for t in ticks]
    try:
        found = ticks_to_ns(np.array(ticks, dtype=np.int64), time_base)
    except DataFaultError:
        assert max(map(abs, exact)) >= 2**63 - 2 * NS_PER_S * numerator
    else:
        assert found.tolist() == exact


@pytest.mark.parametrize("time_base", [Fraction(1, 90_000), Fraction(999, 2**31 - 1)])
def test_a_time_beyond_int64_nanoseconds_is_told(time_base: Fraction) -> None:
    with pytest.raises(DataFaultError, match=str(2**62)) as caught:
        ticks_to_ns(np.array([0, 2**62]), time_base)
    assert caught.value.kind is ErrorKind.METADATA_CONTRADICTION


def test_no_time_stamp_given_by_ffmpeg_is_a_time() -> None:
    with pytest.raises(DataFaultError, match="292 years"):
        ticks_to_ns(np.array([-(2**63)]), Fraction(1, 90_000))


def test_ticks_beyond_the_exact_floats_stay_apart() -> None:
    ticks = np.arange(2**53, 2**53 + 4)
    assert ticks_to_ns(ticks, Fraction(1, NS_PER_S)).tolist() == ticks.tolist()


def test_frames_at_thirty_hertz_are_a_third_of_a_nanosecond_off_at_most() -> None:
    assert frame_index_to_ns(np.array([0, 1, 2, 3, 30]), 30).tolist() == [
        0,
        33_333_333,
        66_666_667,
        100_000_000,
        NS_PER_S,
    ]


def test_frames_of_a_broadcast_rate_do_not_drift() -> None:
    an_hour = 30_000 * 3600 // 1001
    ns = frame_index_to_ns(np.array([an_hour]), 30_000 / 1001)
    assert ns.tolist() == [rounded_half_up(Fraction(an_hour * 1001 * NS_PER_S, 30_000))]


@pytest.mark.parametrize(
    ("rate", "fraction"),
    [
        (30, Fraction(30)),
        (30.0, Fraction(30)),
        (12.5, Fraction(25, 2)),
        (30_000 / 1001, Fraction(30_000, 1001)),
        (24_000 / 1001, Fraction(24_000, 1001)),
        (29.97, Fraction(2997, 100)),
        (Fraction(60_000, 1001), Fraction(60_000, 1001)),
        (1 / 3, Fraction(1, 3)),
    ],
)
def test_a_rate_becomes_the_fraction_that_was_meant(
    rate: float | Fraction, fraction: Fraction
) -> None:
    assert rate_fraction(rate) == fraction


@pytest.mark.parametrize("rate", [0, -30, math.nan, math.inf, 1e-9])
def test_a_rate_that_is_none_is_refused(rate: float) -> None:
    with pytest.raises(InvalidInputError, match="rate_hz") as caught:
        frame_index_to_ns(np.arange(3), rate)
    assert caught.value.kind is ErrorKind.INVALID_ARGUMENT


@given(st.lists(st.integers(-(2**40), 2**40), max_size=20))
def test_seconds_written_as_decimals_become_those_nanoseconds(microseconds: list[int]) -> None:
    seconds = np.array([us / 1e6 for us in microseconds], dtype=np.float64)
    assert seconds_to_ns(seconds).tolist() == [us * 1000 for us in microseconds]


def test_float32_seconds_are_taken_at_their_own_value() -> None:
    seconds = np.array([0.1, 13.733333], dtype=np.float32)
    assert seconds_to_ns(seconds).tolist() == [
        round(Fraction(float(value)) * NS_PER_S) for value in seconds
    ]


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 1e10])
def test_seconds_that_are_no_time_are_told_with_their_row(value: float) -> None:
    with pytest.raises(DataFaultError, match=r"Row 1 ") as caught:
        seconds_to_ns(np.array([0.0, value, math.nan]))
    assert caught.value.kind is ErrorKind.TIME_NOT_INCREASING
    assert caught.value.facts == {"row": 1}
