"""Recordings of robot messages: MCAP files, rosbag2 and ROS 1 bags."""

from __future__ import annotations

from robot_data_platform.formats.ros.dataset import McapFormat, Rosbag1Format, Rosbag2Format

__all__ = ["McapFormat", "Rosbag1Format", "Rosbag2Format"]
