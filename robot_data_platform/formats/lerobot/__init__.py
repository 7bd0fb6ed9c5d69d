"""LeRobot v2.0, v2.1 and v3.0: rows, tasks and pictures found by value, never by position."""

from __future__ import annotations

from robot_data_platform.formats.lerobot.dataset import LeRobotFormat

__all__ = ["LeRobotFormat"]
