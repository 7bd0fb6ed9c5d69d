"""RLDS datasets as TensorFlow Datasets writes them: one record of a tfrecord file an episode."""

from __future__ import annotations

from robot_data_platform.formats.rlds.dataset import RldsFormat

__all__ = ["RldsFormat"]
