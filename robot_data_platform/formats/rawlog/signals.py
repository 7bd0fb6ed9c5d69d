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
from robot_data_platform.formats.parquet_files import read_table
from robot_data_platform.formats.rawlog_keys import RawSignal
from robot_data_platform.formats.timing import check_increasing, check_rows, integer_times
from robot_data_platform.formats.vectors import is_numeric, to_matrix

NATIVE = RawSignal(path="signals/*")
"""How a table is read unless a profile says otherwise."""
MAX_CSV_BYTES = 512 << 20
"""Larger tables are refused unread: 40 values at 100 Hz last 2 hours."""
NS_PER_UNIT = {"ns": 1, "us": 1_000, "ms": 1_000_000}
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


def read_signal(source: Source, relative: str, name: str, layout: RawSignal = NATIVE) -> Signal:
    """Return one signal from its parquet or csv file.

    Parameters
    ----------
    source, relative : Source, str
        The file.
    name : str
        Name of the signal.
    layout : RawSignal
        Which columns hold what. Where it names those of the values, each may have several numbers
        a row; without, every column is one dimension.

    Raises
    ------
    DataFaultError
        ``missing-file``, ``unreadable-file``; ``shape-mismatch``: no column besides the time, or
        one that holds no numbers; ``time-not-increasing``: times that aren't int64 nanoseconds,
        or don't increase; ``no-rows``.
    """
    is_csv = relative.endswith(".csv")
    table = _read_csv(source, relative, layout) if is_csv else read_table(source, relative)
    subject = f"Signal {relative!r} of {source.label!r}"
    dimensions = [column for column in table.column_names if column != layout.time]
    dimensions = dimensions if layout.values is None else list(layout.values)
    if not dimensions or not {layout.time, *dimensions} <= set(table.column_names):
        wanted = "one per dimension" if layout.values is None else f"{dimensions}"
        got = f"got columns {table.column_names}, expected {layout.time} and {wanted}"
        raise unreadable(source, relative, got)
    times = _times(table[layout.time], NS_PER_UNIT[layout.time_unit], subject)
    is_flat = layout.values is None
    columns = [_numbers(table, column, subject, is_flat=is_flat) for column in dimensions]
    values = _stacked(columns)
    return Signal(
        name=name,
        timestamp_ns=times,
        values=values,
        names=tuple(dimensions) if values.shape[1] == len(dimensions) else None,
    )


def _read_csv(source: Source, relative: str, layout: RawSignal) -> pa.Table:
    path = data_path(source, relative)
    num_bytes = path.stat().st_size
    if num_bytes > MAX_CSV_BYTES:
        got = f"got {num_bytes} bytes, expected at most {MAX_CSV_BYTES}"
        raise unreadable(source, relative, got)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            header = next(csv.reader(file), []) if layout.columns is None else layout.columns
        # Times are read as text: a float, or an integer beyond int64, must not pass as a number.
        types = {name: pa.float64() for name in header} | {layout.time: pa.string()}
        return pyarrow.csv.read_csv(
            path,
            read_options=pyarrow.csv.ReadOptions(column_names=layout.columns),
            convert_options=pyarrow.csv.ConvertOptions(column_types=types),
        )
    except (pa.ArrowException, UnicodeDecodeError, csv.Error) as err:
        raise unreadable(source, relative, f"got {err}, expected a table of numbers") from err


def _times(column: pa.ChunkedArray, ns_per_unit: int, subject: str) -> Int64Array:
    check_rows(len(column), subject)
    if column.null_count:
        row = int(np.flatnonzero(column.is_null().to_numpy())[0])
        raise _no_time(subject, f"no time at row {row}", row)
    if pa.types.is_timestamp(column.type):
        column, ns_per_unit = _nanoseconds(column, subject), 1
    elif pa.types.is_string(column.type):
        column = _parsed(column, subject)
    times = integer_times(column.to_numpy(), subject)
    farthest = np.iinfo(np.int64).max // ns_per_unit
    if max(abs(int(times.max())), abs(int(times.min()))) > farthest:
        raise _no_time(subject, f"a time beyond {farthest} units of {ns_per_unit} ns", 0)
    check_increasing(times * ns_per_unit, subject)
    return times * ns_per_unit


def _nanoseconds(column: pa.ChunkedArray, subject: str) -> pa.ChunkedArray:
    try:
        return column.cast(pa.timestamp("ns", column.type.tz)).cast(pa.int64())
    except pa.ArrowInvalid as err:
        raise _no_time(subject, str(err), 0) from err


def _parsed(column: pa.ChunkedArray, subject: str) -> pa.ChunkedArray:
    is_integer = pc.match_substring_regex(column, _INTEGER).to_numpy()
    for row in np.flatnonzero(~is_integer)[:1].tolist():
        raise _no_time(subject, f"{column[row].as_py()!r} at row {row}", row)
    try:
        return column.cast(pa.int64())
    except pa.ArrowInvalid as err:
        raise _no_time(subject, str(err), 0) from err


def _numbers(table: pa.Table, name: str, subject: str, *, is_flat: bool) -> FloatArray:
    if not is_numeric(table.schema.field(name).type):
        raise _wrong_column(subject, name, f"type {table.schema.field(name).type}")
    matrix = to_matrix(table[name], f"{subject} column {name!r}")
    if is_flat and matrix.shape[1] != 1:
        raise _wrong_column(subject, name, f"{matrix.shape[1]} values per row")
    return matrix


def _stacked(columns: Sequence[FloatArray]) -> FloatArray:
    stacked = np.concatenate(columns, axis=1)
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
