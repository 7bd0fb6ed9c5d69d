"""Signal tables of a rawlog episode: integer nanoseconds and one column per dimension."""

from __future__ import annotations

import csv
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from robot_data_platform.core.recording import ACTION, STATE, FloatArray, Int64Array, Signal
from robot_data_platform.core.source import Source
from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform.formats.data_files import data_path, unreadable
from robot_data_platform.formats.names import column_name
from robot_data_platform.formats.parquet_files import checked, open_parquet
from robot_data_platform.formats.timing import (
    MAX_ROWS,
    check_increasing,
    check_rows,
    integer_times,
)
from robot_data_platform.formats.vectors import is_numeric, to_matrix

TIME = "timestamp_ns"
_INTEGER = r"^[+-]?\d+$"


def signal_name(stem: str) -> str:
    """Return the signal name of a table's file name.

    Examples
    --------
    >>> signal_name("action"), signal_name("state"), signal_name("gripper_force")
    ('action', 'observation_state', 'observation_gripper_force')
    """
    name = column_name(stem)
    if name in (ACTION, STATE) or name.startswith("observation_"):
        return name
    return f"observation_{name}"


def read_signal(source: Source, relative: str, name: str) -> Signal:
    """Return one signal from its parquet or csv file.

    Raises
    ------
    DataFaultError
        ``missing-file``, ``unreadable-file``; ``shape-mismatch``: no column besides the time, or
        one that holds no numbers; ``time-not-increasing``: times that aren't int64 nanoseconds,
        or don't increase; ``no-rows``.
    """
    table = _read_csv(source, relative) if relative.endswith(".csv") else _read(source, relative)
    subject = f"Signal {relative!r} of {source.label!r}"
    dimensions = [column for column in table.column_names if column != TIME]
    if not dimensions or TIME not in table.column_names:
        got = f"got columns {table.column_names}, expected {TIME} and one per dimension"
        raise unreadable(source, relative, got)
    times = _times(table[TIME], subject)
    columns = [_dimension(table, column, subject) for column in dimensions]
    return Signal(
        name=name,
        timestamp_ns=times,
        values=_stacked(columns),
        names=tuple(dimensions),
    )


def _read(source: Source, relative: str) -> pa.Table:
    with open_parquet(source, relative) as file:
        if file.metadata.num_rows > MAX_ROWS:
            got = f"got {file.metadata.num_rows} rows, expected at most {MAX_ROWS}"
            raise unreadable(source, relative, got)
        return checked(file.read())


def _read_csv(source: Source, relative: str) -> pa.Table:
    path = data_path(source, relative)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            header = next(csv.reader(file), [])
        # Times are read as text: a float, or an integer beyond int64, must not pass as a number.
        types = {name: pa.float64() for name in header} | {TIME: pa.string()}
        options = pyarrow.csv.ConvertOptions(column_types=types)
        return pyarrow.csv.read_csv(path, convert_options=options)
    except (pa.ArrowException, UnicodeDecodeError, csv.Error) as err:
        raise unreadable(source, relative, f"got {err}, expected a table of numbers") from err


def _times(column: pa.ChunkedArray, subject: str) -> Int64Array:
    check_rows(len(column), subject)
    if column.null_count:
        row = int(np.flatnonzero(column.is_null().to_numpy())[0])
        raise _no_time(subject, f"no time at row {row}", row)
    if pa.types.is_string(column.type):
        column = _parsed(column, subject)
    times = integer_times(column.to_numpy(), subject)
    check_increasing(times, subject)
    return times


def _parsed(column: pa.ChunkedArray, subject: str) -> pa.ChunkedArray:
    is_integer = pc.match_substring_regex(column, _INTEGER).to_numpy()
    for row in np.flatnonzero(~is_integer)[:1].tolist():
        raise _no_time(subject, f"{column[row].as_py()!r} at row {row}", row)
    try:
        return column.cast(pa.int64())
    except pa.ArrowInvalid as err:
        raise _no_time(subject, str(err), 0) from err


def _dimension(table: pa.Table, name: str, subject: str) -> FloatArray:
    if not is_numeric(table.schema.field(name).type):
        raise _wrong_column(subject, name, f"type {table.schema.field(name).type}")
    matrix = to_matrix(table[name], f"{subject} column {name!r}")
    if matrix.shape[1] != 1:
        raise _wrong_column(subject, name, f"{matrix.shape[1]} values per row")
    return matrix[:, 0]


def _stacked(columns: Sequence[FloatArray]) -> FloatArray:
    stacked = np.column_stack(columns)
    if stacked.dtype == np.float32:
        return stacked.astype(np.float32, copy=False)
    return stacked.astype(np.float64, copy=False)


def _wrong_column(subject: str, name: str, got: str) -> DataFaultError:
    return DataFaultError(
        f"{subject} column {name!r} is no dimension: got {got}, expected one number per row. "
        "Write one column per dimension.",
        kind=ErrorKind.SHAPE_MISMATCH,
        column=name,
    )


def _no_time(subject: str, got: str, row: int) -> DataFaultError:
    return DataFaultError(
        f"{subject} has a time that is no int64: got {got}, expected integer nanoseconds. "
        "Write the clock's integers as they are.",
        kind=ErrorKind.TIME_NOT_INCREASING,
        row=row,
    )
