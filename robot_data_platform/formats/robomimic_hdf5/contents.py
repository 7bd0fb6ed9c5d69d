"""What each dataset of a demo becomes: a signal, a camera, metadata, or nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from robot_data_platform.core.finding import Finding, Severity
from robot_data_platform.core.recording import ACTION, STATE
from robot_data_platform.formats.hdf5_signals import (
    MAX_WIDTH,
    is_row_numeric,
    left_out_dataset,
    row_width,
)
from robot_data_platform.formats.names import column_name, unique_names
from robot_data_platform.formats.robomimic_hdf5.demos import ACTIONS

if TYPE_CHECKING:
    import h5py

OBS, NEXT_OBS, INITIAL_STATE = "obs/", "next_obs/", "initial_state/"


@dataclass(slots=True, kw_only=True)
class Contents:
    """The datasets of one demo by what they become."""

    signals: dict[str, h5py.Dataset] = field(default_factory=dict)
    """By signal name."""
    cameras: dict[str, h5py.Dataset] = field(default_factory=dict)
    """By camera key; some may hold something else than pictures."""
    metadata: dict[str, str] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)


def sort_contents(
    dataset_by_path: Mapping[str, h5py.Dataset], state: str | None, num_rows: int, subject: str
) -> Contents:
    """Return what each dataset becomes.

    Parameters
    ----------
    dataset_by_path : mapping
        Datasets by their path in the demo.
    state : str or None
        Path of the one that is the robot's state.
    num_rows : int
        Rows of the demo.
    subject : str
        The episode, for messages.

    Raises
    ------
    DataFaultError
        ``metadata-contradiction``: two datasets get the same name.
    """
    contents = Contents()
    numeric = {}
    for path, dataset in dataset_by_path.items():
        if path.startswith(NEXT_OBS):
            continue
        if path.startswith(INITIAL_STATE) and _is_small(dataset):
            contents.metadata[path] = json.dumps(dataset[()].tolist())
        elif _is_picture_like(path, dataset):
            contents.cameras[path.removeprefix(OBS)] = dataset
        elif told := left_out_dataset(
            path, dataset, None if _is_required(path, state) else num_rows, subject
        ):
            contents.findings.append(told)
        else:
            numeric[path] = dataset
    contents.findings += _next_obs(dataset_by_path, subject)
    names = unique_names(numeric, lambda path: _signal_name(path, state), subject)
    contents.signals = {names[path]: dataset for path, dataset in numeric.items()}
    return contents


def _is_small(dataset: h5py.Dataset) -> bool:
    return is_row_numeric(dataset) and len(dataset) == 1 and row_width(dataset) <= MAX_WIDTH


def _is_picture_like(path: str, dataset: h5py.Dataset) -> bool:
    is_map = path.startswith(OBS) and row_width(dataset) > MAX_WIDTH
    return bool(dataset.ndim >= 3 and (dataset.dtype in (np.uint8, np.uint16) or is_map))


def _is_required(path: str, state: str | None) -> bool:
    """Return whether a dataset of another length than the actions refuses the demo."""
    return path.startswith(OBS) or path in (ACTIONS, state)


def _signal_name(path: str, state: str | None) -> str:
    if path == ACTIONS:
        return ACTION
    if path == state:
        return STATE
    if path.startswith(OBS):
        return f"observation_{column_name(path.removeprefix(OBS))}"
    return column_name(path)


def _next_obs(dataset_by_path: Mapping[str, h5py.Dataset], subject: str) -> list[Finding]:
    repeated = [path for path in dataset_by_path if path.startswith(NEXT_OBS)]
    if not repeated:
        return []
    finding = Finding(
        rule="columns_are_read",
        severity=Severity.INFO,
        message=f"{subject}: {len(repeated)} datasets below 'next_obs' were left out: they are "
        "those of 'obs' one row later.",
        where="next_obs",
        value=len(repeated),
        unit="datasets",
    )
    return [finding]
