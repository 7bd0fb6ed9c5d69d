"""Command line: renders the recordings named, or all: pictures, truth and masks of the robot."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from robot_data_platform_tests.golden.generate import record, robots

DATA = Path(__file__).parents[1] / "data"
SEED = 20260301
ROBOTS = {"panda": robots.panda, "aloha": robots.aloha}


def main() -> None:
    """Make the recordings anew; what is in the way is removed."""
    wanted = sys.argv[1:] or list(ROBOTS)
    for robot in (ROBOTS[name](SEED) for name in wanted):
        folder = DATA / robot.name
        shutil.rmtree(folder, ignore_errors=True)
        record.write(folder, robot, SEED)
        size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
        sys.stdout.write(f"{folder}: {size / 1e6:.2f} MB\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
