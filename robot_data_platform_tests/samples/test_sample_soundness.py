"""Nothing in the samples looks defective but what TRUTH.json says is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from robot_data_platform_tests.samples.reading import (
    TRUTH,
    Facts,
    Pictures,
    episode_pictures,
    is_cut_video,
    state_and_action,
)

STILL_GREY_LEVELS = 0.4
"""Two pictures that differ by less on average show the same."""
LONGEST_STILL_S = 0.2


def _motions() -> list[Any]:
    return [
        pytest.param(dataset, facts, id=facts["name"])
        for dataset, dataset_facts in TRUTH.items()
        for facts in dataset_facts["episodes"]
    ]


@pytest.mark.parametrize(("dataset", "facts"), _motions())
def test_an_arm_never_rests_for_half_a_second(dataset: str, facts: Facts) -> None:
    _, action = state_and_action(dataset, facts)
    speed = np.abs(np.diff(action, axis=0)).max(axis=1) * facts["control_hz"]  # rad/s
    window = facts["control_hz"] // 2
    fastest = np.lib.stride_tricks.sliding_window_view(speed, window).max(axis=1)
    assert fastest.min() > 0.1


@pytest.mark.parametrize(("dataset", "facts"), _motions())
def test_a_state_follows_its_action_without_jumps(dataset: str, facts: Facts) -> None:
    state, action = state_and_action(dataset, facts)
    assert np.nanmax(np.abs(action - state)) < 0.25
    assert np.nanmax(np.abs(np.diff(state, axis=0))) * facts["control_hz"] < 6.5


@pytest.mark.parametrize(("dataset", "facts"), _motions())
def test_every_joint_moves(dataset: str, facts: Facts) -> None:
    state, _ = state_and_action(dataset, facts)
    assert np.nanmin(np.nanmax(state, axis=0) - np.nanmin(state, axis=0)) > 0.05


@pytest.mark.parametrize(("dataset", "facts"), _motions())
def test_a_camera_stands_still_only_where_the_truth_says_so(dataset: str, facts: Facts) -> None:
    longest_s = {}
    for camera, stream in facts["cameras"].items():
        if not is_cut_video(facts, camera):
            still = _longest_still(episode_pictures(dataset, facts, camera))
            longest_s[camera] = still / stream["fps"]
    frozen = facts["defect"] if facts["defect"] and "first_frame" in facts["defect"] else None
    expected = {frozen["camera"]} if frozen else set()
    assert {name for name, still_s in longest_s.items() if still_s > LONGEST_STILL_S} == expected
    if frozen:
        assert longest_s[frozen["camera"]] == pytest.approx((frozen["frames"] - 1) / 30, abs=0.04)


@pytest.mark.parametrize(("dataset", "facts"), _motions())
def test_no_picture_is_black_or_overexposed(dataset: str, facts: Facts) -> None:
    for camera in facts["cameras"]:
        if not is_cut_video(facts, camera):
            pictures = episode_pictures(dataset, facts, camera)
            brightness = pictures.mean(axis=(1, 2))
            assert 60 < brightness.min() <= brightness.max() < 190
            assert (pictures > 250).mean(axis=(1, 2)).max() < 0.05


def _longest_still(pictures: Pictures) -> int:
    """Return how many pictures in a row, at most, are like the one before."""
    change = np.abs(np.diff(pictures.astype(np.int16), axis=0)).mean(axis=(1, 2))
    longest = run = 0
    for is_still in change < STILL_GREY_LEVELS:
        run = run + 1 if is_still else 0
        longest = max(longest, run)
    return longest
