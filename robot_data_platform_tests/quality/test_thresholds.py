"""Thresholds explain themselves and name the rules' version."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest

from robot_data_platform.quality.thresholds import (
    RULES_VERSION,
    THRESHOLDS,
    Threshold,
    Thresholds,
    rules_version,
)
from robot_data_platform_tests.quality.arrays import faultless_episode, findings_of


@pytest.mark.parametrize("name", [field.name for field in fields(Thresholds)])
def test_a_threshold_has_a_unit_and_a_reason(name: str) -> None:
    threshold: Threshold = getattr(THRESHOLDS, name)
    assert threshold.unit
    assert len(threshold.reason) > 20


def test_equal_thresholds_have_an_equal_version() -> None:
    assert rules_version(Thresholds()) == RULES_VERSION


def test_another_value_is_another_version() -> None:
    assert rules_version(replace(THRESHOLDS, gap=Threshold(100, "ms", "x"))) != RULES_VERSION


def test_another_reason_is_the_same_version() -> None:
    gap = replace(THRESHOLDS.gap, reason="another wording of the same limit")
    assert rules_version(replace(THRESHOLDS, gap=gap)) == RULES_VERSION


def test_other_thresholds_judge_the_same_measurements_anew() -> None:
    strict = replace(THRESHOLDS, camera_spread=Threshold(0, "ms", "for this test"))
    rules = {finding.rule for finding in findings_of(faultless_episode(), strict)}
    assert rules == {"cameras_start_together", "cameras_end_together"}
