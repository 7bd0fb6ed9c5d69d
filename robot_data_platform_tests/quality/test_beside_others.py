"""Rules on an episode beside others of its task and of earlier uploads."""

from __future__ import annotations

import numpy as np
import pytest

from robot_data_platform.core.finding import Severity
from robot_data_platform.quality.rules.drift import SignalRange, range_is_as_before
from robot_data_platform.quality.rules.meaning import (
    instructions_fit_task,
    length_is_usual,
    task_is_stated,
)
from robot_data_platform.quality.thresholds import THRESHOLDS

OTHERS_S = np.array([9.0, 10, 11, 12, 10, 9.5, 10.5, 13])


@pytest.mark.parametrize("length_s", [4.0, 10, 25])
def test_an_attempt_of_another_length_is_none(length_s: float) -> None:
    assert length_is_usual(length_s, OTHERS_S, THRESHOLDS) == []


@pytest.mark.parametrize(("length_s", "how"), [(1.0, "shorter"), (60.0, "longer")])
def test_an_attempt_that_was_broken_off_or_left_running_is_told(length_s: float, how: str) -> None:
    (finding,) = length_is_usual(length_s, OTHERS_S, THRESHOLDS)
    assert how in finding.message
    assert finding.value == pytest.approx(max(length_s / 10.25, 10.25 / length_s), rel=0.01)


def test_a_task_of_few_episodes_has_no_usual_length() -> None:
    assert length_is_usual(1.0, OTHERS_S[:7], THRESHOLDS) == []


def test_lengths_that_vary_by_themselves_are_no_outliers() -> None:
    assert length_is_usual(100.0, np.geomspace(1, 60, 20), THRESHOLDS) == []


def signal_range(low: list[float], high: list[float]) -> SignalRange:
    return SignalRange(name="observation_state", low=np.array(low), high=np.array(high))


BEFORE = signal_range([-1, -1, 0], [1, 2, 0])


@pytest.mark.parametrize(
    ("low", "high"), [([-1, -1, 0], [1, 2, 0]), ([-2, 0, 0], [2, 3, 1]), ([0, 0, 5], [0, 0, 5])]
)
def test_a_range_like_the_others_is_none(low: list[float], high: list[float]) -> None:
    assert range_is_as_before(signal_range(low, high), BEFORE, THRESHOLDS) == []


def test_degrees_after_radians_are_told() -> None:
    degrees = signal_range([-57.3, -57.3, 0], [57.3, 114.6, 0])
    (finding,) = range_is_as_before(degrees, BEFORE, THRESHOLDS)
    assert (finding.severity, finding.where) == (Severity.WARN, "observation_state[0,1]")


def test_a_zero_that_was_moved_is_told_as_a_note() -> None:
    moved = signal_range([-1, 6, 0], [1, 7, 0])
    (finding,) = range_is_as_before(moved, BEFORE, THRESHOLDS)
    assert (finding.severity, finding.where) == (Severity.INFO, "observation_state[1]")


def test_the_first_upload_has_nothing_to_be_held_against() -> None:
    assert range_is_as_before(BEFORE, None, THRESHOLDS) == []


@pytest.mark.parametrize("task", ["pick up the test tube", "把毛巾叠好", "Insert peg 3"])
def test_a_task_in_words_is_stated(task: str) -> None:
    assert task_is_stated(task, []) == []


@pytest.mark.parametrize("task", [None, "", "  ", "N/A", "dummy", "Describe your task here", "42"])
def test_a_placeholder_states_no_task(task: str | None) -> None:
    assert len(task_is_stated(task, [])) == 1


def test_an_instruction_states_the_task_too() -> None:
    assert task_is_stated(None, ["fold the towel"]) == []


def test_instructions_in_other_forms_of_the_same_words_fit() -> None:
    assert instructions_fit_task("Fold the towel", ["folding towels, away from you"]) == []
