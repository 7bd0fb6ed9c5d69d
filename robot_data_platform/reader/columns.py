"""Columns of rows as arrays, with a stated value where a row has none."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Array = npt.NDArray[np.generic]
Int64Array = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnValues:
    """One column of M rows that is not text."""

    values: Array
    """(M,) or (M, D); NaN, 0 or False where a row has no value."""
    is_missing: npt.NDArray[np.bool_] | None
    """(M,) where a row has no value; None where the value says so itself (NaN)."""

    def take(self, at: Int64Array) -> ColumnValues:
        """Return the values at some places, (N,) or (N, K)."""
        is_missing = None if self.is_missing is None else self.is_missing[at]
        return ColumnValues(values=self.values[at], is_missing=is_missing)


@dataclass(frozen=True, slots=True, kw_only=True)
class TextValues:
    """One column of text of M rows; rows share few texts."""

    code: npt.NDArray[np.int32]
    """(M,) which text each row has."""
    texts: list[str]
    """Empty where a row has none."""

    def take(self, at: Int64Array) -> TextValues:
        """Return the texts at some places, (N,)."""
        return TextValues(code=self.code[at], texts=self.texts)

    def to_list(self) -> list[str]:
        """Return the text of each row."""
        return [self.texts[code] for code in self.code.tolist()]


Values = ColumnValues | TextValues


def column_values(column: pa.ChunkedArray) -> Values:
    """Return a column's values: vectors and floats as they are, text by number.

    Null vectors and floats become NaN and null text becomes empty. Integers and booleans have no
    value that could say it, so they become 0 and False, and ``is_missing`` tells which.
    """
    kind = column.type
    if pa.types.is_string(kind):
        return _texts(column)
    if pa.types.is_fixed_size_list(kind):
        return ColumnValues(values=_vectors(column.combine_chunks()), is_missing=None)
    if pa.types.is_floating(kind):
        return ColumnValues(values=column.to_numpy(), is_missing=None)
    empty = pa.scalar(value=False if pa.types.is_boolean(kind) else 0, type=kind)
    is_missing = column.is_null().to_numpy()
    return ColumnValues(values=column.fill_null(empty).to_numpy(), is_missing=is_missing)


def _texts(column: pa.ChunkedArray) -> TextValues:
    encoded = column.fill_null("").combine_chunks().dictionary_encode()
    return TextValues(
        code=encoded.indices.to_numpy().astype(np.int32), texts=encoded.dictionary.to_pylist()
    )


def _vectors(column: pa.FixedSizeListArray) -> Array:
    width = column.type.list_size
    held: Array = column.flatten().to_numpy(zero_copy_only=False).reshape(-1, width)
    if not column.null_count:
        return held
    values: Array = np.full((len(column), width), np.nan, dtype=held.dtype)
    values[column.is_valid().to_numpy(zero_copy_only=False)] = held
    return values
