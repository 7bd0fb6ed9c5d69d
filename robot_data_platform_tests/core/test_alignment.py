"""Alignment against a slow model that looks at every sample for every row."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robot_data_platform.core.alignment import (
    MISSING_FRAME_FACTOR,
    NONE,
    hold,
    label_at,
    match_nearest,
    rate_hz,
    row_clock,
)
from robot_data_platform.core.recording import Interval, Signal


@st.composite
def clocks(draw: st.DrawFn, min_size: int = 0) -> np.ndarray:
    steps = draw(st.lists(st.integers(1, 50), min_size=min_size, max_size=30))
    return np.cumsum(np.array([draw(st.integers(-100, 100)), *steps], dtype=np.int64))


def signal(name: str, timestamp_ns: list[int]) -> Signal:
    values = np.zeros((len(timestamp_ns), 1), dtype=np.float32)
    return Signal(name=name, timestamp_ns=np.array(timestamp_ns, dtype=np.int64), values=values)


def slow_hold(row: int, samples: list[int]) -> int:
    step = int(np.median(np.diff(samples))) if len(samples) > 1 else 0
    if row > samples[-1] + step:
        return NONE
    return max((i for i, t in enumerate(samples) if t <= row), default=NONE)


def slow_nearest(row: int, frames: list[int]) -> int:
    best = min(range(len(frames)), key=lambda i: (abs(frames[i] - row), i))
    distance = abs(frames[best] - row)
    step = int(np.median(np.diff(frames))) if len(frames) > 1 else 0
    before = [t for t in frames if t < row]
    after = [t for t in frames if t >= row]
    if before and after and after[0] - before[-1] <= MISSING_FRAME_FACTOR * step:
        return best
    return best if 2 * distance <= step else NONE


@given(rows=clocks(), samples=clocks())
def test_holding_equals_looking_at_every_sample(rows: np.ndarray, samples: np.ndarray) -> None:
    expected = [slow_hold(int(row), samples.tolist()) for row in rows]
    assert hold(rows, samples).index.tolist() == expected


@given(rows=clocks(), samples=clocks())
def test_a_held_sample_is_never_from_the_future(rows: np.ndarray, samples: np.ndarray) -> None:
    assert (hold(rows, samples).offset_ns <= 0).all()


@given(rows=clocks(), frames=clocks())
def test_matching_equals_looking_at_every_picture(rows: np.ndarray, frames: np.ndarray) -> None:
    expected = [slow_nearest(int(row), frames.tolist()) for row in rows]
    assert match_nearest(rows, frames).index.tolist() == expected


@given(rows=clocks(), frames=clocks())
def test_an_offset_is_the_picture_time_minus_the_row_time(
    rows: np.ndarray, frames: np.ndarray
) -> None:
    match = match_nearest(rows, frames)
    got = (rows + match.offset_ns)[match.found]
    assert np.array_equal(got, frames[match.index[match.found]])


def test_rows_inside_a_gap_of_a_dropped_picture_have_none() -> None:
    frames = np.array([0, 33, 66, 132, 165], dtype=np.int64)
    rows = np.array([66, 80, 90, 99, 110, 120, 132], dtype=np.int64)
    assert match_nearest(rows, frames).index.tolist() == [2, 2, NONE, NONE, NONE, 3, 3]


def test_rows_outside_the_stream_have_no_picture() -> None:
    frames = np.array([100, 200, 300], dtype=np.int64)
    rows = np.array([40, 60, 340, 360], dtype=np.int64)
    assert match_nearest(rows, frames).index.tolist() == [NONE, 0, 2, NONE]


def test_a_jittering_camera_loses_no_row() -> None:
    rng = np.random.default_rng(0)
    frames = np.arange(100, dtype=np.int64) * 33_333_333 + rng.integers(-2_000_000, 2_000_000, 100)
    rows = np.arange(int(frames[0]), int(frames[-1]), 10_000_000)
    assert match_nearest(rows, frames).found.all()


def test_no_picture_at_all_gives_no_match() -> None:
    rows = np.array([1, 2], dtype=np.int64)
    assert not match_nearest(rows, np.empty(0, dtype=np.int64)).found.any()


def test_the_finest_signal_is_the_row_clock() -> None:
    slow, fast = signal("observation_state", [0, 20, 40]), signal("force", [0, 1, 2, 3])
    assert row_clock([slow, fast]) is fast


def test_among_equally_fine_signals_the_state_is_the_row_clock() -> None:
    state = signal("observation_state", [0, 10_002, 20_001])
    action = signal("action", [5, 10_000, 20_000])
    assert row_clock([action, state]) is state


def test_a_label_holds_from_its_start_up_to_before_its_end() -> None:
    rows = np.array([9, 10, 19, 20], dtype=np.int64)
    labels = label_at(rows, [Interval(start_ns=10, end_ns=20, value="human")])
    assert labels == [None, "human", "human", None]


@pytest.mark.parametrize(
    ("timestamp_ns", "expected"),
    [([], None), ([5], None), ([0, 20_000_000, 40_000_000], 50.0)],
    ids=["empty", "one sample", "50 Hz"],
)
def test_a_rate_is_measured_by_the_median_step(
    timestamp_ns: list[int], expected: float | None
) -> None:
    assert rate_hz(np.array(timestamp_ns, dtype=np.int64)) == expected
