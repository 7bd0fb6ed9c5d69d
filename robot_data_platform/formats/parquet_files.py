"""Parquet files, read in bounded pieces; damage is told by file name."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pyarrow as pa
import pyarrow.parquet as pq

from robot_data_platform.core.source import Source
from robot_data_platform.formats.data_files import data_path, unreadable

BUFFER_BYTES = 1 << 20
"""Read buffer per column: pages are read as they are decoded, not whole column chunks."""


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
            names = file.schema_arrow.names
            if len(set(names)) < len(names):
                raise unreadable(source, relative, f"got columns {names}, expected each name once")
            yield file
    except (pa.ArrowException, OSError, UnicodeDecodeError) as err:
        raise unreadable(source, relative, f"got {err}, expected a whole parquet file") from err


def read_table(source: Source, relative: str) -> pa.Table:
    """Return a whole parquet file."""
    with open_parquet(source, relative) as file:
        return checked(file.read())


def checked(table: pa.Table) -> pa.Table:
    """Return a table whose texts are UTF-8, which reading a file does not see to.

    Raises
    ------
    pyarrow.ArrowInvalid
        It is damaged; inside ``open_parquet`` that becomes a ``DataFaultError``.
    """
    table.validate(full=True)
    return table
