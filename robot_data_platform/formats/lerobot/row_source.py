"""Where the rows of one episode are read from: files of a dataset, or a table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from robot_data_platform.core.source import Source
from robot_data_platform.formats.lerobot.arrow_streams import mapped_stream, stream_rows
from robot_data_platform.formats.lerobot.row_files import data_file, read_rows, rows_by_episode

if TYPE_CHECKING:
    import pyarrow as pa

ARROW_SUFFIX = ".arrow"
"""Ends the names of Arrow streams, which version 1 keeps its rows in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowSource:
    """One episode's rows, read as often as they are asked for."""

    names: tuple[str, ...]
    """The files, or the table, for messages."""
    fields: tuple[pa.Field, ...]
    """Every column that some of them have, once."""
    read: Callable[[Sequence[str]], Iterator[tuple[str, pa.Table]]]
    """Yields the rows piece by piece with the name of what each comes from, in stored order; takes
    the wanted columns, of which some may be absent."""


def rows_of_files(source: Source, files: Sequence[str], episode_index: int) -> RowSource:
    """Return the rows of an episode in some parquet files or Arrow streams.

    Raises
    ------
    DataFaultError
        ``missing-file``, ``unreadable-file``: one of the files can't be opened.
    """

    def read(columns: Sequence[str]) -> Iterator[tuple[str, pa.Table]]:
        for relative in files:
            read_file = stream_rows if relative.endswith(ARROW_SUFFIX) else read_rows
            for piece in read_file(source, relative, episode_index, columns):
                yield relative, piece

    schemas = [schema_of_file(source, relative) for relative in files]
    fields = {field.name: field for schema in reversed(schemas) for field in schema}
    return RowSource(names=tuple(files), fields=tuple(fields.values()), read=read)


def schema_of_file(source: Source, relative: str) -> pa.Schema:
    """Return the columns of a parquet file or Arrow stream."""
    if relative.endswith(ARROW_SUFFIX):
        return mapped_stream(source, relative).table.schema
    return data_file(source, relative).schema


def count_rows(source: Source, relative: str) -> dict[int, int]:
    """Return how many rows a parquet file or Arrow stream has of each episode, by value."""
    if relative.endswith(ARROW_SUFFIX):
        return mapped_stream(source, relative).runs.num_rows()
    return rows_by_episode(source, relative)
