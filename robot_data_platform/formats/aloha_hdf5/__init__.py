"""ALOHA / ACT episodes: one HDF5 file each, pictures raw or as JPEG, and no clock."""

from __future__ import annotations

from robot_data_platform.formats.aloha_hdf5.dataset import AlohaHdf5Format

__all__ = ["AlohaHdf5Format"]
