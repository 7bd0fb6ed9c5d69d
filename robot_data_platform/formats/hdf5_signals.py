"""Numeric HDF5 datasets as signals with one row per row of the episode."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from robot_data_platform.core.finding import Finding, Severity
from robot_data_platform.core.recording import FloatArray, Int64Array, Signal
from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform.formats.hdf5_files import check_chunk, check_size

if TYPE_CHECKING:
    import h5py

MAX_WIDTH = 1024
"""Most values of one row that become a signal; what has more is a map or a cloud of points."""
_FLOAT64_BYTES = 8


def is_vector(dataset: h5py.Dataset) -> bool:
    """Return whether a dataset holds a number, or a flat row of numbers, per row."""
    return is_row_numeric(dataset) and dataset.ndim <= 2


def is_row_numeric(dataset: h5py.Dataset) -> bool:
    """Return whether a dataset holds numbers by row: as many in each, and at least one."""
    return dataset.dtype.kind in "fiub" and dataset.ndim >= 1 and 0 not in dataset.shape[1:]


def row_width(dataset: h5py.Dataset) -> int:
    """Return how many values a dataset has per row."""
    return math.prod((dataset.shape or ())[1:])


def check_signals(dataset_by_name: Mapping[str, h5py.Dataset], num_rows: int, subject: str) -> None:
    """Refuse datasets that can't be read as the signals of an episode; none is read.

    Raises
    ------
    DataFaultError
        ``row-mismatch``: a dataset has another length than the episode. ``shape-mismatch``: they
        declare an absurd size.
    """
    for dataset in dataset_by_name.values():
        check_length(dataset, num_rows, subject)
        check_chunk(dataset, f"{subject} dataset {dataset.name!r}")
    num_values = sum(math.prod(dataset.shape) for dataset in dataset_by_name.values())
    check_size(num_values * _FLOAT64_BYTES, f"{subject}: one of its signals")


def read_signals(
    dataset_by_name: Mapping[str, h5py.Dataset], times: Int64Array
) -> tuple[Signal, ...]:
    """Return checked datasets as signals; what has more dimensions is laid flat, row by row."""
    return tuple(
        Signal(name=name, timestamp_ns=times, values=as_floats(dataset[()], len(times)))
        for name, dataset in dataset_by_name.items()
    )


def check_length(dataset: h5py.Dataset, num_rows: int, subject: str) -> None:
    """Refuse a dataset that is longer or shorter than the episode.

    Raises
    ------
    DataFaultError
        ``row-mismatch``: names both lengths.
    """
    if len(dataset) != num_rows:
        raise DataFaultError(
            f"{subject} dataset {dataset.name!r} has another length than the episode: got "
            f"{len(dataset)} rows, expected {num_rows}. Record the episode again, or drop it.",
            kind=ErrorKind.ROW_MISMATCH,
            dataset=str(dataset.name),
        )


def left_out_dataset(
    path: str, dataset: h5py.Dataset, num_rows: int | None, subject: str
) -> Finding | None:
    """Return the finding that a dataset can't become a signal, or None where it can.

    Parameters
    ----------
    path : str
        How messages name it.
    dataset : h5py.Dataset
        The dataset.
    num_rows : int or None
        Rows of the episode, where a dataset of another length is left out; None = it is not.
    subject : str
        The episode, for the message.

    Raises
    ------
    DataFaultError
        ``shape-mismatch``: one row declares an absurd size.
    """
    check_size(dataset.dtype.itemsize * row_width(dataset), f"{subject} dataset {path!r} row")
    is_long = num_rows is not None and dataset.ndim > 0 and len(dataset) != num_rows
    if not is_row_numeric(dataset):
        why = "it holds no numbers by row"
    elif row_width(dataset) > MAX_WIDTH:
        why = f"got {row_width(dataset)} values per row, expected at most {MAX_WIDTH}"
    elif is_long:
        why = f"got {len(dataset)} rows, expected {num_rows} as the episode has"
    else:
        return None
    return Finding(
        rule="columns_are_read",
        severity=Severity.WARN if is_long else Severity.INFO,
        message=f"{subject}: dataset {path!r} was left out: {why}.",
        where=path,
    )


def as_floats(values: npt.NDArray[np.generic], num_rows: int) -> FloatArray:
    """Return numbers as (N, D) float32 where it holds them all, else float64."""
    single = (
        values.dtype.kind == "b"
        or values.dtype.itemsize <= np.dtype(np.float16).itemsize
        or values.dtype == np.float32
    )
    if single:
        return np.asarray(values, dtype=np.float32).reshape(num_rows, -1)
    return np.asarray(values, dtype=np.float64).reshape(num_rows, -1)
