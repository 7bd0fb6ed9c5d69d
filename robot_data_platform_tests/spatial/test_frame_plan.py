from __future__ import annotations

import numpy as np
import pytest

from robot_data_platform.spatial.frame_plan import (
    MAX_MOTION_NS,
    PAIR_NS,
    joints_at,
    plan_frames,
    working_size,
)

FRAME_NS = np.arange(0, 6_000_000_000, 33_333_333, dtype=np.int64)
TURNING = np.array([True, False])


def test_joints_are_taken_between_rows_at_the_time_of_a_frame() -> None:
    found = joints_at(
        np.array([[0.0, 1.0], [1.0, 3.0]]), np.array([0, 100]), np.array([25, 100, 101]), TURNING
    )
    expected = np.array([[0.25, 1.5], [1, 3], [np.nan, np.nan]])
    np.testing.assert_allclose(found, expected)


def test_a_joint_that_turns_past_pi_does_not_turn_back() -> None:
    joints = np.array([[3.1, 0.0], [-3.1, 0.0]])
    (middle,) = joints_at(joints, np.array([0, 2]), np.array([1]), TURNING)
    assert middle[0] == pytest.approx(np.pi)


def test_times_of_many_digits_keep_their_nanoseconds() -> None:
    origin = 1_772_010_251_000_004_204
    rows = origin + np.array([0, 10_000_000])
    (found,) = joints_at(np.array([[0.0, 0], [1.0, 0]]), rows, rows[:1] + 1, TURNING)
    assert found[0] == pytest.approx(1e-7)


def test_pairs_are_a_tenth_of_a_second_apart_and_where_the_robot_moves() -> None:
    moving = (FRAME_NS > 2e9) & (FRAME_NS < 4e9)
    joints = np.cumsum(moving)[:, None] * [0.1, 0]
    plan = plan_frames(joints, FRAME_NS)
    gap = FRAME_NS[plan.pair_second] - FRAME_NS[plan.pair_first]
    assert ((gap >= PAIR_NS) & (gap < PAIR_NS + 33_333_334)).all()
    way = np.abs(joints[plan.pair_second] - joints[plan.pair_first]).sum(axis=1)
    assert (way > 0).sum() >= 3
    assert set(plan.pair_first) <= set(plan.single) <= set(plan.pictures)
    assert len(plan.pictures) <= 20


def test_frames_outside_the_rows_are_not_looked_at() -> None:
    joints = np.full((len(FRAME_NS), 1), np.nan)
    joints[30:60] = np.linspace(0, 1, 30)[:, None]
    plan = plan_frames(joints, FRAME_NS)
    assert plan.pictures.min() >= 30
    assert plan.pictures.max() < 60


@pytest.mark.parametrize("number", [0, 1, 3])
def test_short_episodes_have_short_plans(number: int) -> None:
    plan = plan_frames(np.zeros((number, 2)), FRAME_NS[:number])
    assert len(plan.pictures) <= number
    assert list(plan.motion) == list(range(number))


def test_motion_is_followed_through_a_bounded_stretch_with_the_most_of_it() -> None:
    frame_ns = np.arange(0, 120_000_000_000, 100_000_000, dtype=np.int64)
    joints = np.zeros((1200, 1))
    joints[700:900, 0] = np.linspace(0, 5, 200)
    plan = plan_frames(joints, frame_ns)
    assert frame_ns[plan.motion[-1]] - frame_ns[plan.motion[0]] <= MAX_MOTION_NS
    assert plan.motion.start <= 700 < 900 <= plan.motion.stop


@pytest.mark.parametrize(
    ("size", "expected"),
    [((1280, 720), (320, 180)), ((160, 120), (160, 120)), ((9000, 3), (320, 1))],
)
def test_pictures_are_measured_at_most_320_wide(
    size: tuple[int, int], expected: tuple[int, int]
) -> None:
    assert working_size(*size) == expected
