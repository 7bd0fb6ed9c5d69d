"""robomimic HDF5 files and their kin (robosuite, LIBERO, Isaac Lab): many demos in each."""

from __future__ import annotations

from robot_data_platform.formats.robomimic_hdf5.dataset import RobomimicHdf5Format

__all__ = ["RobomimicHdf5Format"]
