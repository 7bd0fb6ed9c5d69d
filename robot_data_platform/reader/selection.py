"""Which rows are items: all of the chosen episodes, or those for which a filter holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import index as whole_number

import numpy as np
import numpy.typing as npt

from robot_data_platform.errors import ErrorKind, IndexOutOfRangeError
from robot_data_platform.reader.episodes import EpisodeSet
from robot_data_platform.reader.filters import RowFilter, filter_errors
from robot_data_platform.reader.place import Place
from robot_data_platform.reader.row_index import RowIndex, positions_of, where_rows
from robot_data_platform.storage.predicate import all_of
from robot_data_platform.storage.table import LakeTable

Int64Array = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The rows that are items, in the order of the rows. Windows still see every row."""

    position: Int64Array | None
    """(S,) rising positions in the `RowIndex`; None where all N rows are items."""
    start: Int64Array
    """(E + 1,) each episode's first item, and the number of items."""

    def __len__(self) -> int:
        return int(self.start[-1])

    def items_at(self, indices: Sequence[int], place: Place) -> Int64Array:
        """Return indices, of which negative ones count from the end, as positions of items.

        Raises
        ------
        IndexOutOfRangeError
            ``index-out-of-range``.
        """
        numbers = np.array([whole_number(index) for index in indices], dtype=np.int64)
        is_outside = (numbers < -len(self)) | (numbers >= len(self))
        if is_outside.any():
            number = int(numbers[np.argmax(is_outside)])
            raise IndexOutOfRangeError(
                f"Index {number} is outside {place}: got {number}, expected {-len(self)}.."
                f"{len(self) - 1}, as {len(self)} rows were chosen.",
                kind=ErrorKind.INDEX_OUT_OF_RANGE,
                index=number,
                num_rows=len(self),
                **place.facts(),
            )
        return np.where(numbers < 0, numbers + len(self), numbers)

    def positions(self, item: Int64Array) -> Int64Array:
        """Return the rows of some items."""
        return item if self.position is None else self.position[item]


def select_rows(
    frames: LakeTable, episodes: EpisodeSet, index: RowIndex, chosen: RowFilter | None, place: Place
) -> Selection:
    """Return the rows for which a filter on ``frames`` holds.

    Raises
    ------
    InvalidInputError
        ``invalid-argument``: Lance can't read the filter.
    """
    if chosen is None or chosen.on_episodes:
        return Selection(position=None, start=index.start)
    where = all_of(where_rows(episodes), chosen.where)
    with filter_errors(chosen.where, place):
        table = frames.read(["episode_index", "frame_index"], where)
    position = np.sort(positions_of(table, episodes, index.start))
    position = position[np.searchsorted(position, 0) :]
    return Selection(position=position, start=np.searchsorted(position, index.start))
