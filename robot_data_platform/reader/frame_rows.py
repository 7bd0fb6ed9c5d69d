"""Rows of ``frames`` taken from the table, batch by batch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform.reader.columns import column_values
from robot_data_platform.reader.episodes import EpisodeSet
from robot_data_platform.reader.gop_jobs import NO_PICTURE
from robot_data_platform.reader.place import EPISODE_SHIFT, Place
from robot_data_platform.reader.row_index import RowIndex
from robot_data_platform.reader.row_source import (
    PictureRefs,
    Rows,
    picture_refs,
    reference_columns,
)
from robot_data_platform.storage.table import LakeTable

if TYPE_CHECKING:
    import pyarrow as pa

Int64Array = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameRows:
    """The ``frames`` table at one version, by position in a `RowIndex`."""

    frames: LakeTable
    episodes: EpisodeSet
    index: RowIndex
    place: Place
    columns: tuple[str, ...]
    """Stored columns to read."""
    cameras: tuple[str, ...]
    """Cameras whose references to read."""

    @property
    def names(self) -> list[str]:
        """Every column that is read, the two that say which row it is first."""
        references = (name for camera in self.cameras for name in reference_columns(camera))
        identity = ("episode_index", "frame_index")
        return list(dict.fromkeys((*identity, *self.columns, *references)))

    def take(self, position: Int64Array) -> Rows:
        """Return the rows at some positions, (M,) without repeats, by one take.

        Raises
        ------
        DataFaultError
            ``row-mismatch``: a row is not the one the index was made from, or refers to a picture
            of another episode.
        """
        table = self.frames.take(self.index.row_id[position], self.names)
        self.verify(table, position)
        refs = {camera: picture_refs(table, camera) for camera in self.cameras}
        for camera, refs_of_camera in refs.items():
            self.check_refs(camera, refs_of_camera, position)
        return Rows(columns={n: column_values(table[n]) for n in self.columns}, refs=refs)

    def check_refs(self, camera: str, refs: PictureRefs, position: Int64Array) -> None:
        """Refuse rows that refer to a picture of another episode, whose positions are given.

        Raises
        ------
        DataFaultError
            ``row-mismatch``.
        """
        number = self.index.episode_number(position)
        owner = refs.gop_key >> EPISODE_SHIFT
        is_astray = (refs.gop_key != NO_PICTURE) & (owner != self.episodes.episode_index[number])
        if is_astray.any():
            row = int(np.argmax(is_astray))
            got = f"a picture of camera {camera!r} of episode_index {owner[row]}"
            frame_index = int(position[row] - self.index.start[number[row]])
            raise self._mismatch(int(self.episodes.episode_index[number[row]]), frame_index, got)

    def verify(self, table: pa.Table, position: Int64Array) -> None:
        """Compare the rows of a table with those that the positions mean.

        Raises
        ------
        DataFaultError
            ``row-mismatch``.
        """
        number = self.index.episode_number(position)
        episode_index = self.episodes.episode_index[number]
        frame_index = position - self.index.start[number]
        if table.num_rows != len(position):
            got = f"{table.num_rows} rows for {len(position)} row ids"
            raise self._mismatch(int(episode_index[0]), int(frame_index[0]), got)
        got_episode, got_frame = (
            table[name].to_numpy() for name in ("episode_index", "frame_index")
        )
        is_wrong = (got_episode != episode_index) | (got_frame != frame_index)
        if is_wrong.any():
            row = int(np.argmax(is_wrong))
            got = f"row {got_frame[row]} of episode_index {got_episode[row]}"
            raise self._mismatch(int(episode_index[row]), int(frame_index[row]), got)

    def not_those_of_the_index(self, num_found: int) -> DataFaultError:
        """Return the error for a scan that gives other rows than the index was made from."""
        return DataFaultError(
            f"Table frames of {self.place}: got {num_found} of the rows that its index was made "
            f"from, expected {len(self.index)}. Open the dataset anew; if it stays, ingest its "
            "uploads again.",
            kind=ErrorKind.ROW_MISMATCH,
            expected=len(self.index),
            got=num_found,
            **self.place.facts(),
        )

    def _mismatch(self, episode_index: int, frame_index: int, got: str) -> DataFaultError:
        episode = self.episodes.id_of(episode_index)
        return DataFaultError(
            f"Row {frame_index} of episode {episode!r} (episode_index {episode_index}) of "
            f"{self.place}: got {got} at its row id, expected that row itself. Open the dataset "
            "anew; if it stays, ingest the upload again.",
            kind=ErrorKind.ROW_MISMATCH,
            episode=episode,
            row=frame_index,
            **self.place.facts(),
        )
