"""Rawlog: a folder per episode with signals, videos, time stamps and events as plain files."""

from __future__ import annotations

from robot_data_platform.formats.rawlog.dataset import RawlogFormat

__all__ = ["RawlogFormat"]
