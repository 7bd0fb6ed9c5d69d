"""``python -m robot_data_platform_tests.deploy``: the deployment check, with its times."""

from __future__ import annotations

import sys
import time

from robot_data_platform_tests.deploy.check import run_check
from robot_data_platform_tests.deploy.stack import say

if __name__ == "__main__":
    began = time.monotonic()
    steps = run_check()
    for step, seconds in steps.items():
        say(f"{seconds:6.1f} s  {step}")
    say(f"{time.monotonic() - began:6.1f} s  in all")
    sys.exit(0)
