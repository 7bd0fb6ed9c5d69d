"""Where each row of the chosen episodes is, in the order in which a reader numbers them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform.reader.episodes import EpisodeSet
from robot_data_platform.reader.place import Place
from robot_data_platform.storage.predicate import in_range
from robot_data_platform.storage.table import LakeTable

Int64Array = npt.NDArray[np.int64]

_COLUMNS = ["episode_index", "frame_index", "timestamp_ns"]
NO_ROW = np.iinfo(np.uint64).max
"""Row id that Lance never gives."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowIndex:
    """Rows by position: episodes in ascending order, rows of each in order of time."""

    row_id: npt.NDArray[np.uint64]
    """(N,) Lance's stable row id of each row."""
    timestamp_ns: Int64Array
    """(N,) time of each row, on the recording's clock."""
    start: Int64Array
    """(E + 1,) position of each episode's first row, and N."""

    def __len__(self) -> int:
        return len(self.row_id)

    def episode_number(self, position: Int64Array) -> Int64Array:
        """Return the episode, as a position in its `EpisodeSet`, that each row belongs to."""
        return np.searchsorted(self.start, position, side="right").astype(np.int64) - 1


def first_positions(episodes: EpisodeSet) -> Int64Array:
    """Return the position of each episode's first row, and the number of rows, (E + 1,)."""
    return np.concatenate(([0], np.cumsum(episodes.num_rows))).astype(np.int64)


def positions_of(table: pa.Table, episodes: EpisodeSet, start: Int64Array) -> Int64Array:
    """Return the position of each row of a table, (M,); -1 of rows of episodes not chosen.

    Rows that are numbered past the end of their episode get its end, which is no row of it.

    Parameters
    ----------
    table : pyarrow.Table
        Rows with ``episode_index`` and ``frame_index``.
    episodes : EpisodeSet
        The chosen episodes.
    start : ndarray of int64, shape (E + 1,)
        Their first positions, as `RowIndex` has them.
    """
    number = episodes.number_of(table["episode_index"].to_numpy())
    position = start[number] + table["frame_index"].to_numpy()
    return np.where(number < 0, -1, np.minimum(position, start[number + 1]))


def scan_rows(frames: LakeTable, episodes: EpisodeSet, place: Place) -> RowIndex:
    """Return the index of the chosen episodes' rows, by one scan of three narrow columns.

    Raises
    ------
    DataFaultError
        ``row-mismatch``: an episode's rows are not numbered 0, 1, 2 ... up to what ``episodes``
        says it has.
    """
    start = first_positions(episodes)
    # One place more, where rows past the end of the last episode go.
    row_id = np.full(start[-1] + 1, NO_ROW, dtype=np.uint64)
    timestamp_ns = np.zeros(start[-1] + 1, dtype=np.int64)
    num_rows = 0
    for table, position in chosen_parts(frames, _COLUMNS, episodes, start):
        row_id[position] = table["_rowid"].to_numpy()
        timestamp_ns[position] = table["timestamp_ns"].to_numpy()
        num_rows += len(position)
    if num_rows != start[-1] or (row_id[:-1] == NO_ROW).any():
        raise _not_numbered(frames, episodes, place)
    return RowIndex(row_id=row_id[:-1], timestamp_ns=timestamp_ns[:-1], start=start)


def chosen_parts(
    frames: LakeTable, columns: Sequence[str], episodes: EpisodeSet, start: Int64Array
) -> Iterator[tuple[pa.Table, Int64Array]]:
    """Yield the rows of the chosen episodes with their positions, a batch at a time.

    All at once would take the memory twice.

    Parameters
    ----------
    frames : LakeTable
        The table of rows.
    columns : sequence of str
        Of them ``episode_index`` and ``frame_index``; ``_rowid`` is there besides.
    episodes, start
        As `positions_of` takes them.
    """
    # Through an index, nearly all rows take longer than all of them without it.
    is_most = 2 * int(start[-1]) > frames.count_rows()
    where = None if is_most else where_rows(episodes)
    for batch in frames.batches(columns, where, with_row_id=True):
        table = pa.Table.from_batches([batch])
        position = positions_of(table, episodes, start)
        if position.size and position.min() < 0:
            table = table.filter(pa.array(position >= 0))
            position = position[position >= 0]
        if len(position):
            yield table, position


def where_rows(episodes: EpisodeSet) -> str:
    """Return a predicate that holds for all rows of the chosen episodes, and for few others."""
    if not len(episodes):
        return "false"
    first, last = int(episodes.episode_index[0]), int(episodes.episode_index[-1])
    return in_range("episode_index", first, last + 1)


def _not_numbered(frames: LakeTable, episodes: EpisodeSet, place: Place) -> DataFaultError:
    """Return the error for the first episode whose rows are not numbered as they should be."""
    parts = chosen_parts(frames, _COLUMNS[:2], episodes, first_positions(episodes))
    tables = [table for table, _ in parts]
    none = np.zeros(0, dtype=np.int64)
    index, frame_index = (
        np.concatenate([none, *(table[name].to_numpy() for table in tables)])
        for name in _COLUMNS[:2]
    )
    number = episodes.number_of(index)
    for wrong, num_rows in enumerate(episodes.num_rows.tolist()):
        found = np.sort(frame_index[number == wrong])
        if not np.array_equal(found, np.arange(num_rows)):
            break
    episode_index = int(episodes.episode_index[wrong])
    episode = episodes.id_of(episode_index)
    return DataFaultError(
        f"Episode {episode!r} (episode_index {episode_index}) of {place}: got {len(found)} "
        f"rows in frames, numbered {found[:5].tolist()}..., expected {num_rows} numbered "
        "from 0. Ingest its upload again.",
        kind=ErrorKind.ROW_MISMATCH,
        episode=episode,
        expected=num_rows,
        got=len(found),
        **place.facts(),
    )
