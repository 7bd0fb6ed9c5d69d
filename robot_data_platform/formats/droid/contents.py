"""What each dataset of a DROID trajectory becomes: a signal, or nothing."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from robot_data_platform.core.finding import Finding, Severity
from robot_data_platform.core.recording import ACTION, STATE
from robot_data_platform.formats.droid.calibration import EXTRINSICS, INTRINSICS, LeftView
from robot_data_platform.formats.droid.cameras import CAMERA_TYPE
from robot_data_platform.formats.droid.clock import TIMESTAMP
from robot_data_platform.formats.hdf5_signals import left_out_dataset
from robot_data_platform.formats.names import column_name, unique_names
from robot_data_platform.formats.natural_order import shortened

if TYPE_CHECKING:
    import h5py

STATE_PATH = "observation/robot_state/joint_positions"
ACTION_PATH = "action/joint_position"
SKIP_ACTION = f"{TIMESTAMP}/skip_action"
"""Whether the arm did not follow the action; no time, wherever it lies."""
ROBOT_GROUPS = ("observation/robot_state/", "action/")
"""Groups of which a dataset of another length refuses the episode."""
FACTS = (f"{TIMESTAMP}/", f"{EXTRINSICS}/", f"{INTRINSICS}/", f"{CAMERA_TYPE}/")
"""Groups that clocks and cameras are read from."""
UNITS = {STATE: "rad", ACTION: "rad", "observation_joint_velocities": "rad/s"}
"""Units that the layout fixes (droid, franka/robot.py)."""


@dataclass(slots=True, kw_only=True)
class Contents:
    """The datasets of one trajectory by what they become."""

    signals: dict[str, h5py.Dataset] = field(default_factory=dict)
    """By signal name."""
    findings: list[Finding] = field(default_factory=list)


def sort_contents(
    dataset_by_path: Mapping[str, h5py.Dataset], num_rows: int, subject: str
) -> Contents:
    """Return the datasets that are signals; `left_out_facts` tells of clocks and calibrations.

    Raises
    ------
    DataFaultError
        ``metadata-contradiction``: two datasets get the same name.
    """
    contents = Contents()
    numeric = {}
    for path, dataset in dataset_by_path.items():
        if path.startswith(FACTS) and path != SKIP_ACTION:
            continue
        is_robots = path.startswith(ROBOT_GROUPS)
        told = left_out_dataset(path, dataset, None if is_robots else num_rows, subject)
        if told is not None:
            contents.findings.append(told)
        else:
            numeric[path] = dataset
    names = unique_names(numeric, _signal_name, subject)
    contents.signals = {names[path]: dataset for path, dataset in numeric.items()}
    return contents


def moving_cameras(
    dataset_by_path: Mapping[str, h5py.Dataset], view_by_camera: Mapping[str, LeftView]
) -> dict[str, h5py.Dataset]:
    """Return the extrinsics that change from row to row, by the name of their signal."""
    moving = {
        name: view.extrinsics.path
        for name, view in view_by_camera.items()
        if view.extrinsics is not None and not view.extrinsics.is_still
    }
    return {
        f"observation_camera_extrinsics_{name}": dataset_by_path[path]
        for name, path in moving.items()
    }


def left_out_facts(
    dataset_by_path: Mapping[str, h5py.Dataset], used: Collection[str], subject: str
) -> tuple[Finding, ...]:
    """Return a finding that names the times and calibrations which nothing was read from."""
    left = [
        path
        for path in sorted(dataset_by_path)
        if path.startswith((f"{TIMESTAMP}/", f"{EXTRINSICS}/", f"{INTRINSICS}/"))
        and path not in {*used, SKIP_ACTION}
    ]
    if not left:
        return ()
    finding = Finding(
        rule="columns_are_read",
        severity=Severity.INFO,
        message=f"{subject}: {len(left)} datasets were left out: times and calibrations besides "
        f"those that were taken, such as {shortened(left, 3)}.",
        where="observation",
        value=len(left),
        unit="datasets",
    )
    return (finding,)


def _signal_name(path: str) -> str:
    if path in (STATE_PATH, ACTION_PATH):
        return STATE if path == STATE_PATH else ACTION
    if path == SKIP_ACTION:
        return "observation_skip_action"
    return column_name(path.replace("observation/robot_state/", "observation/"))
