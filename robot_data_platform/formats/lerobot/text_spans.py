"""Columns of texts, or of their numbers, as labels by time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from robot_data_platform.core.recording import Int64Array, Interval

if TYPE_CHECKING:
    import pyarrow as pa


def spans_of_numbers(
    numbers: Int64Array, timestamp_ns: Int64Array, text_by_number: Mapping[int, str]
) -> tuple[Interval, ...]:
    """Return one interval for each run of rows with the same number, where that has a text.

    Parameters
    ----------
    numbers, timestamp_ns : ndarray of int64, shape (N,)
        Number and time of each row.
    text_by_number : mapping
        Texts; runs of other numbers get no interval.
    """
    if len(numbers) == 0:
        return ()
    is_start = np.append(True, np.diff(numbers) != 0)
    starts = np.flatnonzero(is_start)
    ends = [*timestamp_ns[starts[1:]].tolist(), int(timestamp_ns[-1]) + 1]
    runs = zip(timestamp_ns[starts].tolist(), ends, numbers[starts].tolist(), strict=True)
    return tuple(
        Interval(start_ns=start, end_ns=end, value=text_by_number[number])
        for start, end, number in runs
        if number in text_by_number
    )


def spans_of_texts(column: pa.ChunkedArray, timestamp_ns: Int64Array) -> tuple[Interval, ...]:
    """Return one interval for each run of rows with the same text; null and empty have none."""
    encoded = column.combine_chunks().dictionary_encode()
    numbers = encoded.indices.fill_null(-1).to_numpy().astype(np.int64)
    texts = enumerate(encoded.dictionary.to_pylist())
    return spans_of_numbers(numbers, timestamp_ns, {n: text for n, text in texts if text})
