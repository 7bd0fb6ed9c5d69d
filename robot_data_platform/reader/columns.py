"""Columns of Arrow as arrays, with a stated value where a row has none."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Array = npt.NDArray[np.generic]


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnValues:
    """One column of M rows."""

    values: Array | list[str]
    """(M,) or (M, D); NaN, 0, False or empty text where a row has no value."""
    is_missing: npt.NDArray[np.bool_] | None
    """(M,) where a row has no value; None where the value says so itself (NaN, empty text)."""


def column_values(column: pa.ChunkedArray) -> ColumnValues:
    """Return a column's values: vectors and floats as they are, text as a list.

    Null vectors and floats become NaN and null text becomes empty. Integers and booleans have no
    value that could say it, so they become 0 and False, and ``is_missing`` tells which.
    """
    kind = column.type
    if pa.types.is_string(kind):
        return ColumnValues(values=[text or "" for text in column.to_pylist()], is_missing=None)
    if pa.types.is_fixed_size_list(kind):
        return ColumnValues(values=_vectors(column.combine_chunks()), is_missing=None)
    if pa.types.is_floating(kind):
        return ColumnValues(values=column.to_numpy(), is_missing=None)
    empty = pa.scalar(value=False if pa.types.is_boolean(kind) else 0, type=kind)
    is_missing = column.is_null().to_numpy()
    return ColumnValues(values=column.fill_null(empty).to_numpy(), is_missing=is_missing)


def _vectors(column: pa.FixedSizeListArray) -> Array:
    width = column.type.list_size
    held: Array = column.flatten().to_numpy(zero_copy_only=False).reshape(-1, width)
    if not column.null_count:
        return held
    values: Array = np.full((len(column), width), np.nan, dtype=held.dtype)
    values[column.is_valid().to_numpy(zero_copy_only=False)] = held
    return values
