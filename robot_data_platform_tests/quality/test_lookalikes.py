"""What looks like a breach of a rule and is none, and breaches beside each other."""

from __future__ import annotations

import numpy as np

from robot_data_platform_tests.quality.arrays import (
    CONTROL_HZ,
    NUM_FRAMES,
    NUM_ROWS,
    WINDOW,
    EpisodeArrays,
    faultless_episode,
    findings_of,
)

STATE = "observation_state"


def freeze(episode: EpisodeArrays, start: int, stop: int) -> None:
    """Let a camera's frames of a half-open range look as after coding of one picture."""
    camera = episode.cameras["b"]
    camera.change[start + 1 : stop] = 2
    camera.window_change[start + WINDOW : stop] = 2.5


def test_an_angle_that_wraps_is_no_jump() -> None:
    episode = faultless_episode()
    turning = np.linspace(0, 4 * np.pi, NUM_ROWS)
    episode.signals[STATE][:, 0] = (turning + np.pi) % (2 * np.pi) - np.pi
    assert findings_of(episode) == []


def test_an_angle_in_degrees_that_wraps_is_no_jump() -> None:
    episode = faultless_episode()
    episode.signals[STATE] *= 90
    turning = np.linspace(0, 720, NUM_ROWS)
    episode.signals[STATE][:, 0] = (turning + 180) % 360 - 180
    episode.units[STATE] = "deg"
    assert findings_of(episode) == []


def test_a_gripper_that_is_a_switch_makes_no_jump() -> None:
    episode = faultless_episode()
    episode.signals[STATE][:, 3] = np.arange(NUM_ROWS) // 150 % 2
    assert findings_of(episode) == []


def test_a_start_from_rest_is_no_jump() -> None:
    episode = faultless_episode()
    resting = np.zeros(200)
    moving = 1 - np.cos(np.linspace(0, np.pi, 200))
    episode.signals[STATE][:, 1] = np.concatenate([resting, moving])
    assert findings_of(episode) == []


def test_a_freeze_while_the_robot_rests_is_no_finding() -> None:
    episode = faultless_episode(pause_s=(1.3, 2.0))
    freeze(episode, 40, 60)
    assert findings_of(episode) == []


def test_a_repeated_frame_is_no_freeze() -> None:
    episode = faultless_episode()
    episode.cameras["b"].change[::3] = 0
    assert findings_of(episode) == []


def test_a_camera_that_does_not_see_the_moving_arm_is_not_frozen() -> None:
    episode = faultless_episode()
    time_s = np.arange(NUM_ROWS) / CONTROL_HZ
    is_left = (time_s > 2)[:, None]
    state = episode.signals[STATE]
    left, right = state[:, :2].copy(), state[:, 2:].copy()
    episode.signals[STATE] = np.hstack(
        [np.where(is_left, left, left[200]), np.where(is_left, right[200], right)]
    )
    freeze(episode, 0, 60)
    assert findings_of(episode) == []


def test_a_jump_after_a_still_run_tells_a_freeze_though_few_joints_moved() -> None:
    episode = faultless_episode()
    still = np.zeros((NUM_ROWS, 3))
    episode.signals[STATE] = np.hstack([episode.signals[STATE][:, :1], still]).astype(np.float32)
    freeze(episode, 0, 60)
    episode.cameras["b"].change[60] = 60
    found = [f.where for f in findings_of(episode) if f.rule != "state_varies"]
    assert found == ["camera=b frames 0..59"]


def test_a_camera_frozen_throughout_is_found() -> None:
    episode = faultless_episode()
    freeze(episode, 0, NUM_FRAMES)
    (finding,) = findings_of(episode)
    assert finding.where == "camera=b frames 0..119"


def test_a_freeze_too_short_to_hide_motion_is_no_finding() -> None:
    episode = faultless_episode()
    freeze(episode, 40, 40 + WINDOW)
    assert findings_of(episode) == []


def test_a_freeze_is_found_whatever_the_value_that_is_not_finite() -> None:
    episode = faultless_episode()
    freeze(episode, 40, 60)
    episode.signals[STATE][150, 0] = np.nan
    rules = {finding.rule for finding in findings_of(episode)}
    assert rules == {"state_is_finite", "picture_changes_while_moving"}


def test_noise_of_a_resting_robot_is_no_motion() -> None:
    episode = faultless_episode()
    rng = np.random.default_rng(0)
    episode.signals[STATE][:] = rng.normal(0, 0.02, episode.signals[STATE].shape)
    freeze(episode, 0, NUM_FRAMES)
    assert {finding.rule for finding in findings_of(episode)} == {"robot_moves"}


def test_an_encoder_that_flickers_at_rest_is_no_motion() -> None:
    episode = faultless_episode()
    rng = np.random.default_rng(0)
    episode.signals[STATE][:] = rng.integers(2040, 2044, episode.signals[STATE].shape)
    freeze(episode, 0, NUM_FRAMES)
    assert {finding.rule for finding in findings_of(episode)} == {"robot_moves"}


def test_joints_that_hardly_show_in_the_pictures_prove_no_freeze() -> None:
    episode = faultless_episode()
    episode.cameras["b"].window_change[:] = 8
    freeze(episode, 40, 60)
    assert findings_of(episode) == []


def test_pictures_that_could_not_be_decoded_are_not_judged() -> None:
    episode = faultless_episode()
    camera = episode.cameras["b"]
    camera.percentiles[24:48] = np.nan
    camera.change[24:49] = np.nan
    camera.window_change[24:64] = np.nan
    assert findings_of(episode) == []
