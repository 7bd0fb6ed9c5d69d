"""Which rows each key of an item reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robot_data_platform.core.window import clamp_window, window_steps
from robot_data_platform.reader.episodes import EpisodeSet
from robot_data_platform.reader.row_index import RowIndex

Int64Array = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyRows:
    """The rows that one key reads for N items."""

    position: Int64Array
    """(N, K) positions of the rows; K = 1 without a window."""
    is_pad: BoolArray | None
    """(N, K) where the window left the episode; None without a window."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Windows:
    """The windows of a reader, in whole rows of each episode's own rate."""

    steps_by_key: Mapping[str, Int64Array]
    """(R, K) offsets for each of R distinct rates."""
    rate_number: Int64Array
    """(E,) which of the rates each episode has."""

    def rows_of(self, key: str, position: Int64Array, index: RowIndex) -> KeyRows:
        """Return the rows that a key reads for the items at some positions, shape (N,)."""
        if key not in self.steps_by_key:
            return KeyRows(position=position[:, np.newaxis], is_pad=None)
        episode = index.episode_number(position)
        steps = self.steps_by_key[key][self.rate_number[episode]]
        rows, is_pad = clamp_window(position, index.start[episode], index.start[episode + 1], steps)
        return KeyRows(position=rows, is_pad=is_pad)


def make_windows(
    delta_timestamps_s: Mapping[str, tuple[float, ...]], tolerance_s: float, episodes: EpisodeSet
) -> Windows:
    """Return windows in seconds as windows in rows.

    Raises
    ------
    InvalidInputError
        ``window-off-grid``: an offset is no multiple of the row period of some episode.
        ``invalid-argument``: a window is empty.
    """
    has_rate = episodes.num_rows > 1
    rate_hz, number = np.unique(episodes.rate_hz[has_rate], return_inverse=True)
    rate_number = np.full(len(episodes), len(rate_hz), dtype=np.int64)
    rate_number[has_rate] = number
    steps_by_key = {
        key: _with_one_row(window_steps(delta_s, rate_hz, tolerance_s, key), delta_s)
        for key, delta_s in delta_timestamps_s.items()
    }
    return Windows(steps_by_key=steps_by_key, rate_number=rate_number)


def _with_one_row(steps: Int64Array, delta_s: tuple[float, ...]) -> Int64Array:
    """Append the steps of episodes of one row: all that is not the row itself is padding."""
    return np.vstack([steps, np.sign(delta_s).astype(np.int64)])
