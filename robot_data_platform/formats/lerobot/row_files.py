"""Rows of an episode in data files, found by the value of their ``episode_index`` column."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.parquet as pq

from robot_data_platform.core.source import Source
from robot_data_platform.formats.data_files import unreadable
from robot_data_platform.formats.file_memo import FileMemo
from robot_data_platform.formats.lerobot.episode_runs import EpisodeRuns, find_runs
from robot_data_platform.formats.parquet_files import checked, open_parquet, unpacked_bytes
from robot_data_platform.formats.vectors import is_numeric, to_int64

EPISODE = "episode_index"
MAX_SHARED_BYTES = 128 << 20
"""Decoded bytes of a row group up to which it is kept for the next episode in it."""
BATCH_ROWS = 4096
"""Rows decoded at a time from a larger row group."""
COUNTED_ROWS = 1 << 20
"""Rows of which the episodes' numbers are decoded at a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowGroup:
    """What the footer says of a row group."""

    num_rows: int
    num_bytes: int
    """Bytes in memory, at least."""
    first: float | None
    """Smallest ``episode_index``; None = the footer doesn't say."""
    last: float | None
    """Largest ``episode_index``."""

    def may_hold(self, episode_index: int) -> bool:
        """Return whether rows of an episode may be in it."""
        if self.first is None or self.last is None:
            return True
        return self.first <= episode_index <= self.last


@dataclass(frozen=True, slots=True, kw_only=True)
class DataFile:
    """A data file's footer."""

    schema: pa.Schema
    row_groups: tuple[RowGroup, ...]


@dataclass(frozen=True, slots=True)
class CutRows:
    """Decoded rows, and where the episode changes among them."""

    table: pa.Table
    runs: EpisodeRuns

    def rows_of(self, episode_index: int) -> pa.Table:
        """Return an episode's rows, in file order."""
        stretches = self.runs.stretches(episode_index)
        pieces = [self.table.slice(start, stop - start) for start, stop in stretches]
        return pa.concat_tables(pieces) if pieces else self.table.slice(0, 0)


_data_files: FileMemo[DataFile] = FileMemo(max_entries=8)
_shared_row_groups: FileMemo[CutRows] = FileMemo(max_entries=2)


def data_file(source: Source, relative: str) -> DataFile:
    """Return a data file's footer.

    Raises
    ------
    DataFaultError
        ``missing-file``; ``unreadable-file``: damaged, or without a column ``episode_index``.
    """
    return _data_files.get(source, (relative,), lambda: _read_footer(source, relative))


def is_picture_column(data_type: pa.DataType) -> bool:
    """Return whether a column holds encoded pictures."""
    return bool(
        pa.types.is_binary(data_type)
        or pa.types.is_large_binary(data_type)
        or (pa.types.is_struct(data_type) and data_type.get_field_index("bytes") >= 0)
    )


def rows_by_episode(source: Source, relative: str) -> dict[int, int]:
    """Return how many rows a data file has of each episode, by value.

    Row groups whose statistics name a single episode are not read.

    Raises
    ------
    DataFaultError
        As ``data_file``; ``shape-mismatch``: an ``episode_index`` is no whole number.
    """
    rows: dict[int, int] = {}
    for number, group in enumerate(data_file(source, relative).row_groups):
        if group.first is not None and group.first == group.last:
            counts = [(int(group.first), group.num_rows)]
        else:
            pieces = _batches(source, relative, number, [EPISODE], COUNTED_ROWS)
            counts = [count for piece in pieces for count in piece.runs.num_rows().items()]
        for episode, count in counts:
            rows[episode] = rows.get(episode, 0) + count
    return rows


def read_rows(
    source: Source, relative: str, episode_index: int, columns: Sequence[str]
) -> Iterator[pa.Table]:
    """Yield an episode's rows of a data file, in file order, piece by piece.

    Raises
    ------
    DataFaultError
        As ``rows_by_episode``.
    """
    file = data_file(source, relative)
    wanted = [name for name in file.schema.names if name in {*columns, EPISODE}]
    for number, group in enumerate(file.row_groups):
        if not group.may_hold(episode_index):
            continue
        if group.num_bytes <= MAX_SHARED_BYTES:
            yield _shared(source, relative, number, wanted).rows_of(episode_index)
        else:
            for rows in _batches(source, relative, number, wanted):
                yield rows.rows_of(episode_index)


def _read_footer(source: Source, relative: str) -> DataFile:
    with open_parquet(source, relative) as file:
        names = file.schema_arrow.names
        if EPISODE not in names:
            raise unreadable(
                source, relative, f"got columns {names}, expected {EPISODE} among them"
            )
        kind = file.schema_arrow.field(EPISODE).type
        if pa.types.is_nested(kind) or not is_numeric(kind):
            raise unreadable(source, relative, f"got {EPISODE} of type {kind}, expected numbers")
        leaves = [file.schema.column(i).path for i in range(len(file.schema))]
        groups = range(file.metadata.num_row_groups)
        return DataFile(
            schema=file.schema_arrow,
            row_groups=tuple(_row_group(file, g, leaves.index(EPISODE)) for g in groups),
        )


def _row_group(file: pq.ParquetFile, number: int, column: int) -> RowGroup:
    facts = file.metadata.row_group(number)
    statistics = facts.column(column).statistics
    is_known = statistics is not None and statistics.has_min_max
    return RowGroup(
        num_rows=facts.num_rows,
        num_bytes=unpacked_bytes(facts),
        first=statistics.min if is_known else None,
        last=statistics.max if is_known else None,
    )


def _shared(source: Source, relative: str, number: int, columns: Sequence[str]) -> CutRows:
    return _shared_row_groups.get(
        source,
        (relative,),
        lambda: _decode(source, relative, number, columns),
        detail=(number, *columns),
    )


def _decode(source: Source, relative: str, number: int, columns: Sequence[str]) -> CutRows:
    with open_parquet(source, relative) as file:
        return cut_rows(file.read_row_group(number, columns=list(columns)), relative)


def _batches(
    source: Source, relative: str, number: int, columns: Sequence[str], num_rows: int = BATCH_ROWS
) -> Iterator[CutRows]:
    with open_parquet(source, relative) as file:
        for batch in file.iter_batches(num_rows, row_groups=[number], columns=list(columns)):
            yield cut_rows(pa.Table.from_batches([batch]), relative)


def cut_rows(table: pa.Table, relative: str) -> CutRows:
    """Return rows cut where the episode changes, once their texts and lists are checked.

    Raises
    ------
    DataFaultError
        ``shape-mismatch``: an ``episode_index`` is no whole number.
    pyarrow.ArrowInvalid
        The table is damaged.
    """
    numbers = to_int64(checked(table)[EPISODE], f"{relative!r} column {EPISODE!r}")
    return CutRows(table, find_runs(numbers))
