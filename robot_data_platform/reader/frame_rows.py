"""Rows of ``frames`` by position, each proven to be the row that was asked for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from robot_data_platform.core.identity import CAMERA_BITS, GOP_INDEX_BITS
from robot_data_platform.core.schema import CAMERA_PREFIX
from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform.reader.episodes import EpisodeSet
from robot_data_platform.reader.gop_jobs import NO_PICTURE
from robot_data_platform.reader.place import Place
from robot_data_platform.reader.row_index import RowIndex
from robot_data_platform.storage.table import LakeTable

if TYPE_CHECKING:
    import pyarrow as pa

Int64Array = npt.NDArray[np.int64]

_REFERENCE = ("ref_id", "gop_index", "frame_index_in_gop")


@dataclass(frozen=True, slots=True, kw_only=True)
class PictureRefs:
    """Where the pictures of M rows of one camera lie."""

    gop_key: Int64Array
    """(M,) key of the GOP, or `NO_PICTURE`."""
    frame: Int64Array
    """(M,) position in the GOP's presentation order."""


@dataclass(frozen=True, slots=True)
class FrameRows:
    """The ``frames`` table at one version, by position in a `RowIndex`."""

    frames: LakeTable
    episodes: EpisodeSet
    index: RowIndex
    place: Place

    def take(
        self, position: Int64Array, columns: Iterable[str], cameras: Iterable[str]
    ) -> pa.Table:
        """Return the rows at some positions, in their order, by one take.

        Parameters
        ----------
        position : ndarray of int64, shape (M,)
            Positions in the index; no repeats.
        columns : iterable of str
            Stored columns to read.
        cameras : iterable of str
            Cameras whose references to read.

        Raises
        ------
        DataFaultError
            ``row-mismatch``: a row is not the one the index was made from.
        """
        references = (f"{CAMERA_PREFIX}{c}_{part}" for c in cameras for part in _REFERENCE)
        names = ("episode_index", "frame_index", *columns, *references)
        table = self.frames.take(self.index.row_id[position], tuple(dict.fromkeys(names)))
        self._verify(table, position)
        return table

    def picture_refs(self, table: pa.Table, camera: str) -> PictureRefs:
        """Return where the pictures of taken rows lie.

        Raises
        ------
        DataFaultError
            ``row-mismatch``: a row refers to a picture of another episode.
        """
        prefix = CAMERA_PREFIX + camera
        ref_id, gop_index, frame = (
            table[f"{prefix}_{part}"].fill_null(NO_PICTURE).to_numpy().astype(np.int64)
            for part in _REFERENCE
        )
        has_picture = ref_id != NO_PICTURE
        owner = table["episode_index"].to_numpy()
        astray = has_picture & (ref_id >> CAMERA_BITS != owner)
        if astray.any():
            row = int(np.argmax(astray))
            got = f"a picture of camera {camera!r} of episode_index {ref_id[row] >> CAMERA_BITS}"
            raise self._mismatch(int(owner[row]), int(table["frame_index"][row].as_py()), got)
        key = ref_id << GOP_INDEX_BITS | gop_index
        return PictureRefs(gop_key=np.where(has_picture, key, NO_PICTURE), frame=frame)

    def _verify(self, table: pa.Table, position: Int64Array) -> None:
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
