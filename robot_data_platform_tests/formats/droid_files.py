"""Small DROID episodes: every value and picture names its own row; times as recorders have them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import h5py
import numpy as np
import numpy.typing as npt

from robot_data_platform_tests.formats.coded_video import write_video

ROWS = 8
STEP_MS = 67
START_MS = 1_688_831_848_123
"""A Saturday in July 2023."""
LATENCY_MS = 41
"""What ZED recorders take off the arrival."""
WRIST, EXT1, EXT2 = "16787047", "22008760", "24400334"
SERIAL_BY_ROLE = {"wrist": WRIST, "ext1": EXT1, "ext2": EXT2}
EXT1_VECTOR = [0.25, 0.5, 0.75, np.pi / 2, 0.0, np.pi / 2]
EXT2_VECTOR = [0.3, -0.6, 0.4, -1.9, 0.1, -0.7]
OFFSET_VECTOR = [-0.07, 0.03, 0.02, -0.3, 0.0, -1.57]
INTRINSICS = [[522.5, 0.0, 640.5], [0.0, 523.5, 360.5], [0.0, 0.0, 1.0]]
UUID = "AUTOLab+0d4edc83+2023-07-08-08h-57m-28s"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """One episode."""

    num_rows: int = ROWS
    cameras: Mapping[str, Sequence[int]] = field(
        default_factory=lambda: {WRIST: range(ROWS), EXT1: range(ROWS), EXT2: range(ROWS)}
    )
    """Codes of the pictures by the video's name."""
    attributes: Mapping[str, object] = field(
        default_factory=lambda: {"success": True, "robot_serial_number": "panda-295341-1325480"}
    )


def joint_positions(num_rows: int = ROWS) -> npt.NDArray[np.float64]:
    """(N, 7) row in the first joint, then 0.1 to 0.6."""
    rows = np.tile(np.arange(7) / 10, (num_rows, 1))
    rows[:, 0] = np.arange(num_rows)
    return rows


def row_ms(num_rows: int = ROWS) -> npt.NDArray[np.int64]:
    """(N,) when the state of each step was asked for."""
    return START_MS + STEP_MS * np.arange(num_rows, dtype=np.int64)


def write_trajectory(path: Path, plan: Plan) -> None:
    """Write ``trajectory.h5`` as droid's TrajectoryWriter lays it out."""
    rows, ms = joint_positions(plan.num_rows), row_ms(plan.num_rows)
    with h5py.File(path, "w") as file:
        for key, value in plan.attributes.items():
            file.attrs[key] = value
        state, action = file.create_group("observation/robot_state"), file.create_group("action")
        state["joint_positions"] = rows
        state["gripper_position"] = np.arange(plan.num_rows) / 100
        state["cartesian_position"] = rows[:, :6] + 0.25
        state["prev_command_successful"] = np.ones(plan.num_rows, dtype=bool)
        action["joint_position"] = rows + 0.5
        action["gripper_position"] = np.arange(plan.num_rows) / 50
        action["robot_state/joint_positions"] = rows + 0.001
        file["observation/controller_info/movement_enabled"] = np.ones(plan.num_rows, dtype=bool)
        times = file.create_group("observation/timestamp")
        times["robot_state/read_start"], times["robot_state/read_end"] = ms, ms + 2
        times["robot_state/robot_timestamp_seconds"] = ms // 1000
        times["control/step_start"] = ms - 1
        times["skip_action"] = np.arange(plan.num_rows) == 0
        for serial in SERIAL_BY_ROLE.values():
            times[f"cameras/{serial}_frame_received"] = ms + 20
            times[f"cameras/{serial}_estimated_capture"] = ms + 20 - LATENCY_MS
            write_calibration(file, serial, plan.num_rows)


def write_calibration(file: h5py.File, serial: str, num_rows: int) -> None:
    """Write where a camera is; the wrist's moves from row to row."""
    vector = {WRIST: OFFSET_VECTOR, EXT1: EXT1_VECTOR, EXT2: EXT2_VECTOR}[serial]
    vectors = np.tile(vector, (num_rows, 1))
    extrinsics = file.require_group("observation/camera_extrinsics")
    if serial == WRIST:
        extrinsics[f"{serial}_left_gripper_offset"] = vectors
        vectors = vectors + np.arange(num_rows)[:, None] / 100
    extrinsics[f"{serial}_left"] = vectors
    extrinsics[f"{serial}_right"] = vectors
    file[f"observation/camera_intrinsics/{serial}_left"] = np.tile(INTRINSICS, (num_rows, 1, 1))
    file[f"observation/camera_type/{serial}"] = np.full(num_rows, int(serial != WRIST))


def metadata(**changes: object) -> dict[str, object]:
    """Return what droid's post-processing writes of an episode."""
    serials = {f"{role}_cam_serial": serial for role, serial in SERIAL_BY_ROLE.items()}
    return {
        "uuid": UUID,
        "lab": "AUTOLab",
        "success": True,
        "current_task": "Do any task",
        "trajectory_length": ROWS,
        **serials,
        "wrist_cam_extrinsics": OFFSET_VECTOR,
        "ext1_cam_extrinsics": EXT1_VECTOR,
        "ext2_cam_extrinsics": EXT2_VECTOR,
        **changes,
    }


def write_episode(
    folder: Path, plan: Plan | None = None, described: Mapping[str, object] | None = None
) -> Path:
    """Write an episode's folder; ``described`` is its JSON file, an empty one = none."""
    plan, described = plan or Plan(), metadata() if described is None else described
    folder.mkdir(parents=True, exist_ok=True)
    write_trajectory(folder / "trajectory.h5", plan)
    for name, codes in plan.cameras.items():
        write_video(folder / "recordings" / "MP4" / f"{name}.mp4", codes, fps=60)
    if described:
        (folder / f"metadata_{UUID}.json").write_text(json.dumps(described))
    return folder
