"""DROID episodes: one folder each, with a trajectory, a video per camera, and a description."""

from __future__ import annotations

from robot_data_platform.formats.droid.dataset import DroidFormat

__all__ = ["DroidFormat"]
