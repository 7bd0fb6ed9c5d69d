"""Which joints are under way in a window of frames."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from robot_data_platform.quality.motion import moved_in_windows
from robot_data_platform.quality.rules.values import SignalRows
from robot_data_platform.quality.runs import Bools
from robot_data_platform.quality.thresholds import THRESHOLDS

ROW_NS = np.arange(400, dtype=np.int64) * 10_000_000
FRAME_NS = np.arange(120, dtype=np.int64) * 100_000_000 // 3
TIME_S = ROW_NS / 1e9
WINDOW = 15


def moved(*joints: npt.NDArray[np.float64], frame_ns: npt.NDArray[np.int64] = FRAME_NS) -> Bools:
    values = np.stack(joints, axis=1).astype(np.float32)
    signal = SignalRows(
        name="observation_state",
        values=values,
        is_present=np.ones(len(values), np.bool_),
        names=None,
        units=(None,) * values.shape[1],
    )
    return moved_in_windows(signal, ROW_NS, frame_ns, WINDOW, THRESHOLDS)


def test_a_joint_moves_in_the_windows_that_hold_its_motion() -> None:
    ramp = np.clip(TIME_S - 2, 0, 1)
    (first,), (last,) = (np.flatnonzero(moved(ramp)[:, 0])[[at]] for at in (0, -1))
    assert FRAME_NS[first + WINDOW] == pytest.approx(2.05e9, abs=4e7)
    assert FRAME_NS[last] == pytest.approx(2.95e9, abs=4e7)


@pytest.mark.parametrize("scale", [1.0, 57.3, 4096.0])
def test_the_unit_makes_no_difference(scale: float) -> None:
    joint = np.sin(2 * np.pi * 0.4 * TIME_S)
    assert (moved(scale * joint) == moved(joint)).all()


def test_a_joint_beside_a_far_larger_motion_stands_still() -> None:
    big, small = np.sin(TIME_S), 0.02 * np.sin(5 * TIME_S)
    assert moved(big, small).any(axis=0).tolist() == [True, False]


@pytest.mark.parametrize("sigma", [0.001, 0.05, 5.0])
def test_noise_is_no_motion(sigma: float) -> None:
    noise = np.random.default_rng(0).normal(0, sigma, len(ROW_NS))
    assert not moved(noise).any()


def test_motion_is_seen_through_noise() -> None:
    noise = np.random.default_rng(0).normal(0, 0.01, len(ROW_NS))
    assert moved(np.sin(2 * np.pi * 0.5 * TIME_S) + noise).mean() > 0.9


def test_values_that_are_not_finite_are_left_out() -> None:
    joint = np.sin(2 * np.pi * 0.4 * TIME_S)
    broken = joint.copy()
    broken[[5, 77, 300]] = np.nan, np.inf, -np.inf
    assert (moved(broken) == moved(joint)).all()


def test_a_joint_without_a_finite_value_stands_still() -> None:
    assert not moved(np.full(len(ROW_NS), np.nan)).any()


def test_frames_outside_the_rows_see_no_motion() -> None:
    late = FRAME_NS + int(ROW_NS[-1]) + 1
    assert not moved(TIME_S, frame_ns=late).any()


def test_a_stream_shorter_than_a_window_has_none() -> None:
    assert moved(TIME_S, frame_ns=FRAME_NS[:WINDOW]).shape == (0, 1)
