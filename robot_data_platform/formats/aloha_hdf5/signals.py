"""Numeric datasets of an ALOHA file, by the names of their signals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from robot_data_platform.core.finding import Finding
from robot_data_platform.core.recording import STATE
from robot_data_platform.formats.hdf5_members import datasets, group_at
from robot_data_platform.formats.hdf5_signals import left_out_dataset
from robot_data_platform.formats.names import column_name, unique_names

if TYPE_CHECKING:
    import h5py

OBSERVATIONS = "observations"
QPOS = "observations/qpos"
COMPRESS_LEN = "compress_len"
"""Lengths of padded JPEG rows; not needed, since a JPEG says itself where it ends."""


def vector_datasets(
    file: h5py.File, subject: str
) -> tuple[dict[str, h5py.Dataset], tuple[Finding, ...]]:
    """Return the numeric datasets by signal name, and findings on all others."""
    in_root = {f"/{key}": d for key, d in datasets(file, subject) if key != COMPRESS_LEN}
    observed = datasets(group_at(file, OBSERVATIONS), subject)
    found = in_root | {f"/{OBSERVATIONS}/{key}": d for key, d in observed}
    told = {path: left_out_dataset(path, d, None, subject) for path, d in found.items()}
    names = unique_names([p for p in found if told[p] is None], _signal_name, subject)
    others = tuple(finding for _, finding in sorted(told.items()) if finding is not None)
    return {name: found[path] for path, name in names.items()}, others


def _signal_name(path: str) -> str:
    if path == f"/{QPOS}":
        return STATE
    group, _, key = path.removeprefix("/").rpartition("/")
    return f"observation_{column_name(key)}" if group == OBSERVATIONS else column_name(key)
