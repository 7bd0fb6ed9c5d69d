"""Parquet files, read in bounded pieces; damage is told by file name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pyarrow as pa
import pyarrow.parquet as pq

from robot_data_platform.core.source import Source
from robot_data_platform.formats.arrow_names import column_names
from robot_data_platform.formats.data_files import data_path, unreadable

BUFFER_BYTES = 1 << 20
"""Read buffer per column: pages are read as they are decoded, not whole column chunks."""

MAX_TABLE_BYTES = 256 << 20
"""Most bytes of a table that is read whole, half of them or less as they are used: 40 values at
100 Hz last 2.3 hours."""


@contextmanager
def open_parquet(source: Source, relative: str) -> Iterator[pq.ParquetFile]:
    """Open a parquet file; damage that shows while it is read is told by its name too.

    Raises
    ------
    DataFaultError
        ``missing-file``; ``unreadable-file``: no footer, or damaged pages.
    """
    path = data_path(source, relative)
    try:
        with pq.ParquetFile(path, buffer_size=BUFFER_BYTES) as file:
            names = column_names(file.schema_arrow)
            if len(set(names)) < len(names):
                raise unreadable(source, relative, f"got columns {names}, expected each name once")
            yield file
    except (pa.ArrowException, OSError, UnicodeDecodeError) as err:
        raise unreadable(source, relative, f"got {err}, expected a whole parquet file") from err


def read_table(source: Source, relative: str, columns: Sequence[str] | None = None) -> pa.Table:
    """Return a parquet file, or some of its columns; what takes absurd memory is refused unread.

    Raises
    ------
    DataFaultError
        As ``open_parquet``; ``unreadable-file``: its values take more than ``MAX_TABLE_BYTES``.
    """
    with open_parquet(source, relative) as file:
        groups = range(file.metadata.num_row_groups)
        num_bytes = sum(unpacked_bytes(file.metadata.row_group(g), columns) for g in groups)
        if num_bytes > MAX_TABLE_BYTES:
            got = f"got {num_bytes} bytes of values, expected at most {MAX_TABLE_BYTES}"
            raise unreadable(source, relative, got)
        return checked(file.read(columns=columns))


def unpacked_bytes(group: pq.RowGroupMetaData, columns: Sequence[str] | None = None) -> int:
    """Return at least what a row group takes in memory, as its footer says.

    Values that repeat lie packed in a few bytes, so that sizes alone say nothing.
    """
    chunks = (group.column(number) for number in range(group.num_columns))
    return sum(
        max(8 * chunk.num_values, chunk.total_uncompressed_size)
        for chunk in chunks
        if columns is None or _is_of(chunk.path_in_schema, columns)
    )


def _is_of(path: str, columns: Sequence[str]) -> bool:
    return any(path == name or path.startswith(f"{name}.") for name in columns)


def checked(table: pa.Table) -> pa.Table:
    """Return a table whose texts are UTF-8, which reading a file does not see to.

    Raises
    ------
    pyarrow.ArrowInvalid
        It is damaged; inside ``open_parquet`` that becomes a ``DataFaultError``.
    """
    table.validate(full=True)
    return table
