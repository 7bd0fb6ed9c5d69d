"""An empty small lake."""

from __future__ import annotations

from pathlib import Path

import pytest

from robot_data_platform_tests.curation.small_lake import SmallLake


@pytest.fixture
def small(tmp_path: Path) -> SmallLake:
    """A lake without episodes; its dataset is ``aloha``."""
    return SmallLake(str(tmp_path / "lake"))
