"""Where each row of the chosen episodes is, in the order in which a reader numbers them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform.reader.episodes import EpisodeSet
from robot_data_platform.reader.place import Place
from robot_data_platform.storage.predicate import in_range
from robot_data_platform.storage.table import LakeTable

Int64Array = npt.NDArray[np.int64]

FRAME_INDEX_BITS = 32
"""``frame_index`` is int32 and never negative, so it fits below an episode's number."""


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


def scan_rows(frames: LakeTable, episodes: EpisodeSet, place: Place) -> RowIndex:
    """Return the index of the chosen episodes' rows, by one scan of three narrow columns.

    Raises
    ------
    DataFaultError
        ``row-mismatch``: an episode's rows are not numbered 0, 1, 2 ... up to what ``episodes``
        says it has.
    """
    table = frames.read(
        ["episode_index", "frame_index", "timestamp_ns"], _where(episodes), with_row_id=True
    )
    number = episodes.number_of(table["episode_index"].to_numpy())
    frame_index = table["frame_index"].to_numpy()
    # Rows of episodes that were not chosen have number -1, so they sort to the front.
    order = np.argsort(number << FRAME_INDEX_BITS | frame_index, kind="stable")
    order = order[np.count_nonzero(number < 0) :]
    start = np.concatenate(([0], np.cumsum(np.bincount(number[order], minlength=len(episodes)))))
    _check_numbering(frame_index[order], start, episodes, place)
    return RowIndex(
        row_id=table["_rowid"].to_numpy()[order],
        timestamp_ns=table["timestamp_ns"].to_numpy()[order],
        start=start.astype(np.int64),
    )


def _where(episodes: EpisodeSet) -> str:
    if not len(episodes):
        return "false"
    first, last = int(episodes.episode_index[0]), int(episodes.episode_index[-1])
    return in_range("episode_index", first, last + 1)


def _check_numbering(
    frame_index: npt.NDArray[np.int32], start: Int64Array, episodes: EpisodeSet, place: Place
) -> None:
    counted = np.diff(start)
    expected = np.arange(len(frame_index)) - np.repeat(start[:-1], counted)
    is_wrong = counted != episodes.num_rows
    astray = np.flatnonzero(frame_index != expected)
    if len(astray):
        is_wrong[np.searchsorted(start, astray[0], side="right") - 1] = True
    if is_wrong.any():
        number = int(np.argmax(is_wrong))
        raise _not_numbered(number, frame_index[start[number] : start[number + 1]], episodes, place)


def _not_numbered(
    number: int, frame_index: npt.NDArray[np.int32], episodes: EpisodeSet, place: Place
) -> DataFaultError:
    num_rows = int(episodes.num_rows[number])
    episode_index = int(episodes.episode_index[number])
    episode = episodes.id_of(episode_index)
    return DataFaultError(
        f"Episode {episode!r} (episode_index {episode_index}) of {place}: got {len(frame_index)} "
        f"rows in frames, numbered {frame_index[:5].tolist()}..., expected {num_rows} numbered "
        "from 0. Ingest its upload again.",
        kind=ErrorKind.ROW_MISMATCH,
        episode=episode,
        expected=num_rows,
        got=len(frame_index),
        **place.facts(),
    )
