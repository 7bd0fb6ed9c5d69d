"""What importing the reader loads, in a fresh interpreter."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PLATFORM = ("boto3", "dagster", "great_expectations", "pandas", "ray", "torch")
DEFERRED = ("av", "lance")
"""Loaded when a dataset is opened; lance takes pandas along where that is installed."""


def test_importing_the_reader_loads_nothing_that_reading_may_need(repository: Path) -> None:
    code = f"""
import sys
from robot_data_platform.reader import RobotLanceDataset, read_frame
print([name for name in {(*PLATFORM, *DEFERRED)!r} if name in sys.modules])
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=repository, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
