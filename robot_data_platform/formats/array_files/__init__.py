"""Episodes as named arrays in one file: pickles of NumPy arrays, and npz archives."""

from __future__ import annotations

from robot_data_platform.formats.array_files.dataset import NpzFormat, PickleFormat

__all__ = ["NpzFormat", "PickleFormat"]
