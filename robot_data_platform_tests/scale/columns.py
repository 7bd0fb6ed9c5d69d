"""Arrow columns of many rows at once, for tables that no Python loop could fill."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa


def filled(
    schema: pa.Schema, columns: Mapping[str, object], row: Mapping[str, object], num_rows: int
) -> pa.Table:
    """Return a table of stated columns; the others have the values of ``row`` in every row."""
    arrays = [
        _column(columns[field.name], field)
        if field.name in columns
        else pa.repeat(pa.scalar(row.get(field.name), field.type), num_rows)
        for field in schema
    ]
    return pa.Table.from_arrays(arrays, schema=schema)


def _column(values: object, field: pa.Field) -> pa.Array:
    return values if isinstance(values, pa.Array) else pa.array(values, field.type)


def lists(values: pa.Array, lengths: npt.NDArray[np.integer] | Sequence[int]) -> pa.ListArray:
    """Return values cut into lists of the given lengths."""
    offsets = np.concatenate(([0], np.cumsum(lengths))).astype(np.int32)
    return pa.ListArray.from_arrays(offsets, values)


def structs(kind: pa.DataType, members: Mapping[str, pa.Array]) -> pa.StructArray:
    """Return structs of a type from the arrays of its fields."""
    fields = [kind.field(position) for position in range(kind.num_fields)]
    arrays = [members[field.name].cast(field.type) for field in fields]
    return pa.StructArray.from_arrays(arrays, fields=fields)


def hex_texts(rng: np.random.Generator, count: int, num_bytes: int) -> pa.StringArray:
    """Return random texts of hex digits, as digests look."""
    text = rng.bytes(count * num_bytes).hex()
    offsets = np.arange(count + 1, dtype=np.int32) * (2 * num_bytes)
    return pa.StringArray.from_buffers(count, pa.py_buffer(offsets), pa.py_buffer(text.encode()))
