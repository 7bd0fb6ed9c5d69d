"""Integer vectors of a safetensors file, which is all that LeRobot v1 needs of the format."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import cast

import numpy as np

from robot_data_platform.core.recording import Int64Array
from robot_data_platform.core.source import Source
from robot_data_platform.errors import DataFaultError
from robot_data_platform.formats.data_files import data_path, unreadable

MAX_HEADER_BYTES = 100 << 20
"""Longest header that the format allows."""
MAX_FILE_BYTES = 1 << 30
"""Two int64 per episode: enough for 67 million of them."""


def read_int64_vectors(source: Source, relative: str, *names: str) -> tuple[Int64Array, ...]:
    """Return some one-dimensional int64 tensors of a safetensors file, all of one length.

    Raises
    ------
    DataFaultError
        ``missing-file``; ``unreadable-file``: truncated, or a tensor is absent or of another kind.

    References
    ----------
    huggingface/safetensors, README.md, "Format".
    """
    path = data_path(source, relative)
    size_bytes = path.stat().st_size
    if size_bytes > MAX_FILE_BYTES:
        raise unreadable(source, relative, f"got {size_bytes} bytes, expected less than 2^30")
    data = path.read_bytes()
    stop = 8 + int.from_bytes(data[:8], "little")
    if not 8 < stop <= min(len(data), MAX_HEADER_BYTES):
        got = f"got a header up to byte {stop} of {len(data)}"
        raise unreadable(source, relative, f"{got}, expected a whole safetensors file")
    try:
        header = json.loads(data[8:stop])
        return _equally_long([_vector(header[name], data[stop:]) for name in names])
    except (ValueError, KeyError, TypeError, RecursionError) as err:
        raise _no_vectors(source, relative, err, names) from err


def _vector(stated: Mapping[str, object], content: bytes) -> Int64Array:
    start, stop = cast("list[int]", stated["data_offsets"])
    if stated["dtype"] != "I64" or stated["shape"] != [(stop - start) // 8] or start < 0:
        raise ValueError(f"dtype {stated['dtype']} and shape {stated['shape']}")
    if stop > len(content):
        raise ValueError(f"content up to byte {stop} of {len(content)}")
    return np.frombuffer(content[start:stop], dtype="<i8").astype(np.int64)


def _equally_long(vectors: Sequence[Int64Array]) -> tuple[Int64Array, ...]:
    if len({len(vector) for vector in vectors}) > 1:
        raise ValueError(f"lengths {[len(vector) for vector in vectors]}")
    return tuple(vectors)


def _no_vectors(
    source: Source, relative: str, err: Exception, names: tuple[str, ...]
) -> DataFaultError:
    got = f"got {type(err).__name__} {err}, expected int64 vectors {list(names)}"
    return unreadable(source, relative, got)
