"""What reading rows gives, wherever they come from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt

from robot_data_platform.core.identity import GOP_INDEX_BITS
from robot_data_platform.core.schema import CAMERA_PREFIX
from robot_data_platform.reader.columns import Values
from robot_data_platform.reader.gop_jobs import NO_PICTURE

if TYPE_CHECKING:
    import pyarrow as pa

Int64Array = npt.NDArray[np.int64]

_REFERENCE = ("ref_id", "gop_index", "frame_index_in_gop")


@dataclass(frozen=True, slots=True, kw_only=True)
class PictureRefs:
    """Where the pictures of M rows of one camera lie."""

    gop_key: Int64Array
    """(M,) key of the GOP, or `NO_PICTURE`."""
    frame: npt.NDArray[np.int32]
    """(M,) position in the GOP's presentation order."""

    def take(self, at: Int64Array) -> PictureRefs:
        """Return those of some places."""
        return PictureRefs(gop_key=self.gop_key[at], frame=self.frame[at])


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """M rows."""

    columns: Mapping[str, Values]
    """By stored name."""
    refs: Mapping[str, PictureRefs]
    """By camera."""


class RowSource(Protocol):
    """Rows of ``frames`` by position in a `RowIndex`, each proven to be the one asked for."""

    def take(self, position: Int64Array) -> Rows:
        """Return the rows at some positions, (M,) without repeats, in their order.

        Raises
        ------
        DataFaultError
            ``row-mismatch``: a row is not the one the index was made from, or refers to a picture
            of another episode.
        """


def reference_columns(camera: str) -> tuple[str, str, str]:
    """Return the stored columns by which a row points at its picture."""
    ref_id, gop_index, frame = (f"{CAMERA_PREFIX}{camera}_{part}" for part in _REFERENCE)
    return ref_id, gop_index, frame


def picture_refs(table: pa.Table, camera: str) -> PictureRefs:
    """Return where the pictures of a table's rows lie, as the rows say."""
    ref_id, gop_index, frame = (
        table[name].fill_null(NO_PICTURE).to_numpy().astype(np.int64)
        for name in reference_columns(camera)
    )
    key = np.where(ref_id == NO_PICTURE, NO_PICTURE, ref_id << GOP_INDEX_BITS | gop_index)
    return PictureRefs(gop_key=key, frame=frame.astype(np.int32))
