"""Random access to robot data for training: rows, windows and decoded pictures."""

from robot_data_platform.reader.dataset import RobotLanceDataset
from robot_data_platform.reader.error_counts import read_errors
from robot_data_platform.reader.frame import read_frame
from robot_data_platform.reader.samplers import (
    GopBlockSampler,
    SequentialSampler,
    ShuffleSampler,
)

__all__ = [
    "GopBlockSampler",
    "RobotLanceDataset",
    "SequentialSampler",
    "ShuffleSampler",
    "read_errors",
    "read_frame",
]
