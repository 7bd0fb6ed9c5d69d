"""The limits that the page on faults states are those of the code."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

from robot_data_platform_tests.conftest import REPOSITORY

LIMIT = re.compile(r"^\| `(?P<module>[\w.]+)\.(?P<name>[A-Z_]+)` \| (?P<value>\d+)", re.MULTILINE)
PAGE: Path = REPOSITORY / "docs" / "faults.md"
STATED = LIMIT.findall(PAGE.read_text())


@pytest.mark.parametrize(("module", "name", "value"), STATED)
def test_a_limit_is_what_the_page_says(module: str, name: str, value: str) -> None:
    held = getattr(importlib.import_module(f"robot_data_platform.{module}"), name)
    assert held == int(value)


def test_the_page_states_all_of_them() -> None:
    assert len(STATED) == 11
