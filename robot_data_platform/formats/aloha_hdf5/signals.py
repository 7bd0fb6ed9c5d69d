"""Numeric datasets of an ALOHA file as signals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from robot_data_platform.core.recording import STATE, Int64Array, Signal
from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform.formats.aloha_hdf5.hdf5_files import check_size, datasets, group_at
from robot_data_platform.formats.names import column_name, unique_names

if TYPE_CHECKING:
    import h5py

OBSERVATIONS = "observations"
QPOS = "observations/qpos"
COMPRESS_LEN = "compress_len"
"""Lengths of padded JPEG rows; not needed, since a JPEG says itself where it ends."""


def vector_datasets(file: h5py.File, subject: str) -> tuple[dict[str, h5py.Dataset], list[str]]:
    """Return the numeric datasets by signal name, and the paths of all others."""
    in_root = {f"/{key}": d for key, d in datasets(file, subject) if key != COMPRESS_LEN}
    observed = datasets(group_at(file, OBSERVATIONS), subject)
    found = in_root | {f"/{OBSERVATIONS}/{key}": d for key, d in observed}
    numeric = {path: d for path, d in found.items() if _is_vector(d)}
    names = unique_names(numeric, _signal_name, subject)
    return {names[path]: d for path, d in numeric.items()}, sorted(found.keys() - numeric.keys())


def _is_vector(dataset: h5py.Dataset) -> bool:
    return dataset.dtype.kind in "fiub" and dataset.ndim in (1, 2)


def _signal_name(path: str) -> str:
    if path == f"/{QPOS}":
        return STATE
    group, _, key = path.removeprefix("/").rpartition("/")
    return f"observation_{column_name(key)}" if group == OBSERVATIONS else column_name(key)


def read_signal(name: str, dataset: h5py.Dataset, times: Int64Array, subject: str) -> Signal:
    """Return a dataset as a signal with one row per row of the episode.

    Raises
    ------
    DataFaultError
        ``row-mismatch``: it has another length than ``times``. ``shape-mismatch``: it declares
        an absurd size.
    """
    where = f"{subject} dataset {dataset.name!r}"
    if len(dataset) != len(times):
        raise DataFaultError(
            f"{where} has another length than /{QPOS}: got {len(dataset)} rows, expected "
            f"{len(times)}. Record the episode again, or drop it.",
            kind=ErrorKind.ROW_MISMATCH,
            dataset=str(dataset.name),
        )
    check_size(dataset.size * 8, where)
    values = dataset[()]
    single = values.dtype.kind == "b" or values.dtype.itemsize <= 2 or values.dtype == np.float32
    floats = values.astype(np.float32 if single else np.float64)
    return Signal(name=name, timestamp_ns=times, values=floats.reshape(len(times), -1))
