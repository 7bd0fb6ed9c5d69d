"""Small robomimic HDF5 files: every value names its own demo and row."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import h5py
import numpy as np
import numpy.typing as npt

from robot_data_platform_tests.formats.coded_video import coded_picture

ROWS = 10
JOINTS = 3
DEFAULT_POSE = np.array([0.5, -1.25, 2.0], dtype=np.float32)


def actions(demo: int, num_rows: int = ROWS) -> npt.NDArray[np.float64]:
    """(N, 2) within -1..1: a hundredth of the row, and of the demo."""
    rows = np.arange(num_rows, dtype=np.float64) / 100
    return np.stack([rows, np.full(num_rows, demo / 100)], axis=1)


def joints(demo: int, num_rows: int = ROWS) -> npt.NDArray[np.float32]:
    """(N, 3) float32 that bend from row to row, so that no other shift fits."""
    rows = np.arange(num_rows, dtype=np.float32)
    return np.stack([np.sin(rows), np.cos(rows * 2), rows / 10 + demo], axis=1)


def write_file(
    path: Path, demos: Sequence[int], num_rows: int = ROWS, env_args: object = None
) -> Path:
    """Write demos as robosuite has them: actions, flat simulator states, low-dimensional obs."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with h5py.File(path, "w") as file:
        data = file.create_group("data")
        data.attrs["total"] = num_rows * len(demos)
        stated = {"env_kwargs": {"control_freq": 20, "robots": ["Panda"]}}
        data.attrs["env_args"] = json.dumps(stated if env_args is None else env_args)
        for demo in demos:
            group = data.create_group(f"demo_{demo}")
            group.attrs["num_samples"] = num_rows
            group["actions"] = actions(demo, num_rows)
            group["states"] = np.repeat(actions(demo, num_rows), 4, axis=1)
            group["obs/robot0_joint_pos"] = joints(demo, num_rows)
            group["obs/robot0_eef_quat"] = np.tile([0.0, 0.0, 0.0, 1.0], (num_rows, 1))
            group["rewards"] = np.arange(num_rows, dtype=np.float64)
    return path


def write_isaac(path: Path, demos: Sequence[int], lag: int = 1) -> Path:
    """Write demos as Isaac Lab has them: observations relative, and ``lag`` rows after states."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with h5py.File(path, "w") as file:
        data = file.create_group("data")
        data.attrs["total"] = ROWS * len(demos)
        data.attrs["env_args"] = json.dumps({"sim_args": {"dt": 0.01, "decimation": 5}})
        for demo in demos:
            group = data.create_group(f"demo_{demo}")
            group.attrs["num_samples"] = ROWS
            group.attrs["success"] = True
            times = joints(demo, ROWS + 2)
            absolute, before = times[1 : 1 + ROWS], times[1 - lag : 1 - lag + ROWS]
            group["actions"] = actions(demo)
            group["obs/joint_pos"] = before - DEFAULT_POSE
            group["states/articulation/robot/joint_position"] = absolute
            group["states/rigid_object/cube/root_pose"] = np.zeros((ROWS, 7), np.float32)
            group["initial_state/articulation/robot/joint_position"] = times[:1]
    return path


def add_pictures(
    path: Path, demo: int, camera: str, codes: Sequence[int], **storage: object
) -> None:
    """Add (T, H, W, 3) uint8 pictures to a demo's observations."""
    pictures = np.stack([coded_picture(code) for code in codes])
    with h5py.File(path, "a") as file:
        file.create_dataset(f"data/demo_{demo}/obs/{camera}", data=pictures, **storage)


def edit(path: Path, member: str, data: object) -> None:
    """Put a dataset in place of another, or of none."""
    with h5py.File(path, "a") as file:
        if member in file:
            del file[member]
        file[member] = data
