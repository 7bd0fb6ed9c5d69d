"""Arrow columns of numbers, nested or not, as plain (N, D) arrays."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from robot_data_platform.core.recording import FloatArray
from robot_data_platform.errors import DataFaultError, ErrorKind

_NARROW_BITS = 16
_MAX_EXACT_FLOAT = 1 << 53


def is_numeric(data_type: pa.DataType) -> bool:
    """Return whether a column holds numbers or booleans, as scalars or in lists of any depth."""
    while _is_list(data_type):
        data_type = data_type.value_type
    return pa.types.is_boolean(data_type) or _is_number(data_type)


def to_matrix(column: pa.ChunkedArray, where: str) -> FloatArray:
    """Return a numeric column with one row per row of the table; nested lists are laid flat.

    Parameters
    ----------
    column : ChunkedArray, length N
        Scalars, or lists (fixed or variable) of any depth whose rows have the same size.
    where : str
        File and column, for the message.

    Returns
    -------
    ndarray of float32 or float64, shape (N, D)
        float64 where the source has it, or integers of over 16 bits; null becomes NaN.

    Raises
    ------
    DataFaultError
        ``shape-mismatch``: two rows have different widths; the message names the row. It holds
        something else than numbers.
    """
    if not is_numeric(column.type):
        raise _mismatch(where, f"type {column.type}", "numbers")
    combined = column.combine_chunks()
    if isinstance(combined, pa.ChunkedArray):  # no chunk at all
        combined = pa.array([], column.type)
    if isinstance(combined, pa.ExtensionArray):
        combined = combined.storage
    return _matrix(combined, where)


def to_int64(
    column: pa.ChunkedArray, where: str, absent: int | None = None
) -> npt.NDArray[np.int64]:
    """Return a column of whole numbers, however they are typed, as int64.

    Parameters
    ----------
    column : ChunkedArray, length N
        Numbers.
    where : str
        File and column, for the message.
    absent : int, optional
        What stands for null; without it, null is refused.

    Raises
    ------
    DataFaultError
        ``shape-mismatch``: a value is not a whole number, or null; the message names the row.
    """
    column = _known(column)
    if absent is not None and _is_number(column.type):
        column = pc.fill_null(column, absent)
    if not _is_number(column.type):
        raise _mismatch(where, f"type {column.type}", "whole numbers")
    if column.null_count:
        row = int(np.flatnonzero(column.is_null().to_numpy())[0])
        raise _mismatch(where, f"null at row {row}", "a whole number in every row")
    values = column.to_numpy()
    odd = np.flatnonzero(~_is_whole(values))
    if len(odd):
        row = int(odd[0])
        raise _mismatch(where, f"{values[row]} at row {row}", "a whole number in every row")
    whole: npt.NDArray[np.int64] = values.astype(np.int64)
    return whole


def to_float64(column: pa.ChunkedArray, where: str) -> npt.NDArray[np.float64]:
    """Return a column of single numbers as float64; null becomes NaN.

    Raises
    ------
    DataFaultError
        ``shape-mismatch``: it holds something else.
    """
    column = _known(column)
    if not _is_number(column.type):
        raise _mismatch(where, f"type {column.type}", "one number in every row")
    values: npt.NDArray[np.float64] = column.cast(pa.float64(), safe=False).to_numpy()
    return values


def _known(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column that has a type: one of nulls alone may have none."""
    return column.cast(pa.int64()) if pa.types.is_null(column.type) else column


def _is_whole(values: npt.NDArray[np.number]) -> npt.NDArray[np.bool_]:
    if values.dtype.kind == "f":
        return np.asarray((np.rint(values) == values) & (np.abs(values) <= _MAX_EXACT_FLOAT))
    return np.asarray(values <= np.iinfo(np.int64).max)


def _matrix(array: pa.Array, where: str) -> FloatArray:
    if not _is_list(array.type):
        return _floats(array)[:, None]
    is_valid = array.is_valid().to_numpy(zero_copy_only=False)
    present = array.drop_null()
    width = _common_width(present, np.flatnonzero(is_valid), where)
    inner = _matrix(present.flatten(), where)
    rows = inner.reshape(len(present), width * inner.shape[1])
    if is_valid.all():
        return rows
    out = np.full((len(array), rows.shape[1]), np.nan, dtype=rows.dtype)
    out[is_valid] = rows
    return out


def _common_width(present: pa.Array, rows: npt.NDArray[np.intp], where: str) -> int:
    if not len(present):
        return 0
    widths = pc.list_value_length(present).to_numpy()
    odd = np.flatnonzero(widths != widths[0])
    if len(odd):
        got = f"{int(widths[odd[0]])} values at row {int(rows[odd[0]])}"
        raise _mismatch(where, got, f"{int(widths[0])} as in row {int(rows[0])}")
    return int(widths[0])


def _floats(array: pa.Array) -> FloatArray:
    data_type = array.type
    narrow = pa.types.is_boolean(data_type) or data_type.bit_width <= _NARROW_BITS
    single = narrow or pa.types.is_float32(data_type)
    floats = array.cast(pa.float32() if single else pa.float64(), safe=False)
    out: FloatArray = floats.to_numpy(zero_copy_only=False)
    return out


def _is_list(data_type: pa.DataType) -> bool:
    return bool(
        pa.types.is_list(data_type)
        or pa.types.is_large_list(data_type)
        or pa.types.is_fixed_size_list(data_type)
    )


def _is_number(data_type: pa.DataType) -> bool:
    return bool(pa.types.is_integer(data_type) or pa.types.is_floating(data_type))


def _mismatch(where: str, got: str, expected: str) -> DataFaultError:
    return DataFaultError(
        f"{where} has the wrong shape: got {got}, expected {expected}. "
        "Correct the file, or drop the episode.",
        kind=ErrorKind.SHAPE_MISMATCH,
        where=where,
    )
