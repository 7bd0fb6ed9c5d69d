"""docs/quality.md names every rule and threshold as the code has them, and each rule is broken."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest

import robot_data_platform.quality.rules
from robot_data_platform.quality.thresholds import THRESHOLDS, Threshold

NAMED = re.compile(
    r"(?:rule=|_(?:long_runs|run_finding|rest|copy_finding|gop_finding|holes|absent|apart)\(\s*)"
    r'"([a-z_]+)"'
)
OF_SIGNALS = re.compile(r'_rule\(signal, "([a-z_]+)"\)')
SUBJECTS = {"varies": ("state", "action"), "has_no_jumps": ("state",)}
"""Signals that a rule is asked of, where it is not of all."""


def rules_in_code() -> set[str]:
    """Return the rule of every finding that the package spells out."""
    folder = Path(robot_data_platform.quality.rules.__file__).parent
    source = "\n".join(path.read_text() for path in sorted(folder.glob("*.py")))
    of_signals = {
        f"{subject}_{predicate}"
        for predicate in OF_SIGNALS.findall(source)
        for subject in SUBJECTS.get(predicate, ("state", "action", "signal"))
    }
    return {*NAMED.findall(source), *of_signals}


@pytest.fixture(scope="module")
def page(repository: Path) -> str:
    return (repository / "docs" / "quality.md").read_text()


def rules_on(page: str) -> set[str]:
    cells = re.findall(r"^\| ([^|]*) \| (?:info|warn|fail)[^|]* \|", page, flags=re.MULTILINE)
    return {rule for cell in cells for rule in re.findall(r"`([a-z_]+)`", cell)}


def test_every_rule_is_described_and_no_other(page: str) -> None:
    assert rules_on(page) == rules_in_code()


def test_every_threshold_has_its_value_unit_and_reason(page: str) -> None:
    rows = re.findall(r"^\| `(\w+)` \| ([^|]+) \| ([^|]+) \| (.*) \|$", page, flags=re.MULTILINE)
    stated = {row[0]: row[1:] for row in rows if row[0] in THRESHOLDS.__slots__}
    expected = {field.name: _row(getattr(THRESHOLDS, field.name)) for field in fields(THRESHOLDS)}
    assert stated == expected


def _row(threshold: Threshold) -> tuple[str, str, str]:
    return f"{threshold.value:g}", threshold.unit, threshold.reason


def test_every_rule_is_broken_by_a_test(page: str, repository: Path) -> None:
    tests = "\n".join(
        path.read_text()
        for folder in ("quality", "compute")
        for path in (repository / "robot_data_platform_tests" / folder).glob("test_*.py")
        if path != Path(__file__)
    )
    of_any_signal = (
        re.sub("^(action|signal)_(is_(?!recorded).*)", r"state_\2", rule) for rule in rules_on(page)
    )
    assert [rule for rule in sorted(of_any_signal) if rule not in tests] == []
