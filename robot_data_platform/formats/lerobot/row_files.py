"""Rows of an episode in data files, found by the value of their ``episode_index`` column."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from robot_data_platform.core.source import Source
from robot_data_platform.formats.data_files import unreadable
from robot_data_platform.formats.file_memo import FileMemo
from robot_data_platform.formats.parquet_files import open_parquet
from robot_data_platform.formats.vectors import to_int64

EPISODE = "episode_index"
MAX_SHARED_BYTES = 128 << 20
"""Decoded bytes of a row group up to which it is kept for the next episode in it."""
BATCH_ROWS = 4096
"""Rows decoded at a time from a larger row group."""

_shared_row_groups: FileMemo[pa.Table] = FileMemo(max_entries=2)


def rows_by_episode(source: Source, relative: str) -> dict[int, int]:
    """Return how many rows a data file has of each episode, by value.

    Row groups whose statistics name a single episode are not read.

    Raises
    ------
    DataFaultError
        ``unreadable-file``: damaged, or without a column ``episode_index``.
    """
    rows: dict[int, int] = {}
    with open_parquet(source, relative) as file:
        column = _episode_column(file, source, relative)
        for group in range(file.metadata.num_row_groups):
            for episode, count in _group_counts(file, group, column, relative):
                rows[episode] = rows.get(episode, 0) + count
    return rows


def read_rows(
    source: Source, relative: str, episode_index: int, columns: Sequence[str]
) -> Iterator[pa.Table]:
    """Yield an episode's rows of a data file, in file order, piece by piece.

    Raises
    ------
    DataFaultError
        ``unreadable-file``: damaged, or without a column ``episode_index``.
    """
    with open_parquet(source, relative) as file:
        column = _episode_column(file, source, relative)
        wanted = [name for name in file.schema_arrow.names if name in {*columns, EPISODE}]
        for group in range(file.metadata.num_row_groups):
            span = _span(file, group, column)
            if span is None or span[0] <= episode_index <= span[1]:
                for piece in _pieces(source, relative, file, group, wanted):
                    yield piece.filter(pc.equal(piece[EPISODE], episode_index))


def file_schema(source: Source, relative: str) -> pa.Schema:
    """Return the Arrow schema of a data file."""
    with open_parquet(source, relative) as file:
        return file.schema_arrow


def _episode_column(file: pq.ParquetFile, source: Source, relative: str) -> int:
    names = file.schema_arrow.names
    if EPISODE not in names:
        raise unreadable(source, relative, f"got columns {names}, expected {EPISODE} among them")
    paths = [file.schema.column(i).path for i in range(len(file.schema))]
    return paths.index(EPISODE)


def _span(file: pq.ParquetFile, group: int, column: int) -> tuple[float, float] | None:
    facts = file.metadata.row_group(group).column(column).statistics
    if facts is None or not facts.has_min_max:
        return None
    return facts.min, facts.max


def _group_counts(
    file: pq.ParquetFile, group: int, column: int, relative: str
) -> Iterator[tuple[int, int]]:
    span = _span(file, group, column)
    num_rows = file.metadata.row_group(group).num_rows
    if span is not None and span[0] == span[1]:
        yield int(span[0]), num_rows
        return
    values = file.read_row_group(group, columns=[EPISODE])[EPISODE]
    episodes, counts = np.unique(_episodes(values, relative), return_counts=True)
    yield from zip(episodes.tolist(), counts.tolist(), strict=True)


def _episodes(column: pa.ChunkedArray, relative: str) -> npt.NDArray[np.int64]:
    return to_int64(column, f"{relative!r} column {EPISODE}")


def _pieces(
    source: Source, relative: str, file: pq.ParquetFile, group: int, columns: list[str]
) -> Iterator[pa.Table]:
    if file.metadata.row_group(group).total_byte_size <= MAX_SHARED_BYTES:
        yield _shared_row_groups.get(
            source,
            (relative,),
            lambda: file.read_row_group(group, columns=columns),
            detail=(group, *columns),
        )
        return
    for batch in file.iter_batches(BATCH_ROWS, row_groups=[group], columns=columns):
        yield pa.Table.from_batches([batch])
