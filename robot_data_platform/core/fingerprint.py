"""Fingerprints: canonical bytes of a value, and their sha256.

Equal values have equal digests on every machine and in every release of this code: what is stored
is compared by them. The canonical form writes, for each value, a tag of its type, its length where
it has one, and its bytes, so no two values share a form. The order of keys and of columns, the
chunking of a table, and whatever lies in the buffer below a null are no part of a value.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from robot_data_platform.errors import ErrorKind, InvalidInputError


def digest(value: object) -> str:
    """Return the sha256, in hex, of a plain value.

    Parameters
    ----------
    value : object
        None, bool, int, float, str, bytes, lists or tuples (which are the same) and mappings with
        text keys, nested to any depth. Floats count by ``repr``: 1 and 1.0 differ, and so do 0.0
        and -0.0; one NaN equals another.

    Raises
    ------
    InvalidInputError
        ``invalid-argument``: a value or key of another type.

    Examples
    --------
    >>> digest({"a": 1, "b": [2.5, None]}) == digest({"b": (2.5, None), "a": 1})
    True
    """
    hasher = hashlib.sha256()
    for piece in _pieces(value):
        hasher.update(piece)
    return hasher.hexdigest()


def table_digest(table: pa.Table) -> str:
    """Return the sha256, in hex, of an Arrow table by value.

    Column names, types, nulls and values count, and so does the order of rows. The order of
    columns, chunks, metadata, dictionary encoding and the width of offsets (``string`` or
    ``large_string``) don't. Floats count by their bits.

    Raises
    ------
    InvalidInputError
        ``invalid-argument``: a column type that tables of a lake don't have.
    """
    hasher = hashlib.sha256()
    for name in sorted(table.column_names):
        for piece in (*_pieces(name), *_array_pieces(_whole(table.column(name)))):
            hasher.update(piece)
    return hasher.hexdigest()


def _pieces(value: object) -> Iterator[bytes]:
    if isinstance(value, Mapping):
        yield b"{%d:" % len(value)
        for key in sorted(value, key=_text_key):
            yield from _pieces(key)
            yield from _pieces(value[key])
    elif isinstance(value, list | tuple):
        yield b"[%d:" % len(value)
        for item in value:
            yield from _pieces(item)
    else:
        tag, data = _scalar(value)
        yield b"%c%d:" % (tag, len(data))
        yield data


def _text_key(key: object) -> str:
    if not isinstance(key, str):
        raise _unsupported(f"key {key!r} of type {type(key).__name__}", "text keys")
    return key


def _scalar(value: object) -> tuple[bytes, bytes]:
    match value:
        case None:
            return b"n", b""
        case bool():
            return b"t", b"1" if value else b"0"
        case int():
            return b"i", int.__repr__(value).encode()
        case float():  # numpy's float64 is one, with a repr of its own
            return b"f", float.__repr__(value).encode()
        case str():
            return b"s", value.encode("utf-8", "surrogatepass")
        case bytes():
            return b"b", value
    raise _unsupported(
        f"value of type {type(value).__name__}",
        "None, bool, int, float, str, bytes, and lists and mappings of them",
    )


def _whole(column: pa.ChunkedArray) -> pa.Array:
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    combined = column.combine_chunks()
    return combined.combine_chunks() if isinstance(combined, pa.ChunkedArray) else combined


def _array_pieces(array: pa.Array) -> Iterator[bytes]:
    """Yield type, validity and values of an array, the slots of nulls as zeros or not at all."""
    kind = array.type
    yield from _pieces([_kind_name(kind), len(array)])
    yield np.packbits(array.is_valid().to_numpy(zero_copy_only=False)).tobytes()
    if pa.types.is_struct(kind):
        for position in range(kind.num_fields):
            yield from _pieces(kind.field(position).name)
            yield from _array_pieces(pc.struct_field(array, position))
    elif _is_list(kind):
        yield _fixed_bytes(pc.list_value_length(array).cast(pa.int64()))
        yield from _array_pieces(pc.list_flatten(array))
    elif _is_bytes(kind):
        yield _fixed_bytes(pc.binary_length(array).cast(pa.int64()))
        yield _text_bytes(array)
    else:
        yield _fixed_bytes(array)


def _is_list(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)
    )


def _is_bytes(kind: pa.DataType) -> bool:
    return _kind_name(kind) in {"string", "binary"}


def _kind_name(kind: pa.DataType) -> str:
    """Return the type's name without what is no part of a value."""
    if _is_list(kind):
        return f"list[{kind.list_size}]" if pa.types.is_fixed_size_list(kind) else "list"
    if pa.types.is_struct(kind):
        return f"struct[{kind.num_fields}]"
    return str(kind).removeprefix("large_")


def _text_bytes(array: pa.Array) -> bytes:
    """Return the values of a text or bytes array back to back."""
    binary = _kind_name(array.type) == "binary"
    large = array.drop_null().cast(pa.large_binary() if binary else pa.large_string())
    _, offsets, data = large.buffers()
    if not len(large) or data is None:
        return b""
    bounds = np.frombuffer(offsets, dtype=np.int64)[large.offset : large.offset + len(large) + 1]
    return bytes(data.slice(bounds[0], bounds[-1] - bounds[0]))


def _fixed_bytes(array: pa.Array) -> bytes:
    kind = array.type
    if pa.types.is_null(kind):
        return b""
    if pa.types.is_boolean(kind):
        return np.packbits(array.fill_null(False).to_numpy(zero_copy_only=False)).tobytes()
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_temporal(kind)):
        raise _unsupported(f"column of type {kind}", "numbers, times, text, bytes, lists, structs")
    if pa.types.is_temporal(kind):
        array = array.cast(pa.int64() if kind.bit_width == 64 else pa.int32())
    return bytes(array.fill_null(0).to_numpy(zero_copy_only=False).tobytes())


def _unsupported(what: str, expected: str) -> InvalidInputError:
    return InvalidInputError(
        f"A {what} has no fingerprint: expected {expected}. Convert it first.",
        kind=ErrorKind.INVALID_ARGUMENT,
    )
