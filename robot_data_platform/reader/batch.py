"""The items at some positions: one take of rows, one read of blobs, then arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from robot_data_platform.core.time_base import NS_PER_S
from robot_data_platform.reader.columns import column_values
from robot_data_platform.reader.gop_jobs import NO_PICTURE, PictureSlots
from robot_data_platform.reader.item_keys import picture_key
from robot_data_platform.reader.items import Array, Batch, Item, split_batch, to_pictures
from robot_data_platform.reader.view import View
from robot_data_platform.reader.windows import KeyRows

Int64Array = npt.NDArray[np.int64]
Scalar = TypeVar("Scalar", bound=np.generic)


def read_items(view: View, position: Int64Array) -> list[Item]:
    """Return the items at some positions, in their order; repeats allowed.

    Parameters
    ----------
    position : ndarray of int64, shape (N,)
        ``0 <= position < len(view.index)``.

    Raises
    ------
    DataFaultError
        ``row-mismatch``, ``gop-missing`` or ``gop-damaged``.
    """
    if not len(position):
        return []
    keys = [*view.columns, *map(picture_key, view.cameras)]
    wanted = {key: view.windows.rows_of(key, position, view.index) for key in keys}
    taken = np.unique(np.concatenate([position, *(r.position.ravel() for r in wanted.values())]))
    table = view.rows.take(taken, view.columns.values(), view.cameras)
    picks = {key: _Pick(taken, rows) for key, rows in wanted.items()}
    batch = {
        **_identity(view, position),
        **_columns(view, table, picks),
        **_pictures(view, table, picks),
    }
    return split_batch(batch, len(position), view.spec.output)


class _Pick:
    """From M taken rows to the (N, K) rows of one key."""

    def __init__(self, taken: Int64Array, rows: KeyRows) -> None:
        self.at = np.searchsorted(taken, rows.position)
        self.is_pad = rows.is_pad

    def values(self, of_taken: npt.NDArray[Scalar]) -> npt.NDArray[Scalar]:
        """Return (N, K, ...) values of (M, ...) ones; (N, ...) without a window."""
        return of_taken[self.at if self.is_pad is not None else self.at[:, 0]]


def _identity(view: View, position: Int64Array) -> Batch:
    index = view.index
    number = index.episode_number(position)
    first = index.start[number]
    time_ns = index.timestamp_ns[position] - index.timestamp_ns[first]
    return {
        "index": position,
        "episode_index": view.episodes.episode_index[number],
        "episode_id": view.episodes.episode_id.take(pa.array(number)).to_pylist(),
        "frame_index": position - first,
        "timestamp": (time_ns / NS_PER_S).astype(np.float32),
    }


def _columns(view: View, table: pa.Table, picks: Mapping[str, _Pick]) -> Batch:
    batch: dict[str, Array | list[str]] = {}
    for key, column in view.columns.items():
        pick, held = picks[key], column_values(table[column])
        if isinstance(held.values, list):
            batch[key] = [held.values[n] for n in pick.at[:, 0].tolist()]
            continue
        missing = None if held.is_missing is None else pick.values(held.is_missing)
        batch |= _with_masks(key, pick, pick.values(held.values), missing)
    return batch


def _pictures(view: View, table: pa.Table, picks: Mapping[str, _Pick]) -> Batch:
    slots = [_slots(view, table, camera, picks) for camera in view.cameras]
    view.pictures.read(slots)
    batch: dict[str, Array | list[str]] = {}
    for filled in slots:
        key, spec = picture_key(filled.camera), view.spec
        pictures = to_pictures(filled.out, spec.picture_dtype, channels_first=spec.channels_first)
        is_missing = filled.gop_key == NO_PICTURE
        batch |= _with_masks(key, picks[key], pictures, is_missing)
    return batch


def _slots(view: View, table: pa.Table, camera: str, picks: Mapping[str, _Pick]) -> PictureSlots:
    refs, pick = view.rows.picture_refs(table, camera), picks[picture_key(camera)]
    gop_key = pick.values(refs.gop_key)
    return PictureSlots(
        camera=camera,
        gop_key=gop_key,
        frame=pick.values(refs.frame),
        out=np.empty((*gop_key.shape, *view.cameras[camera], 3), dtype=np.uint8),
    )


def _with_masks(
    key: str, pick: _Pick, values: Array, is_missing: npt.NDArray[np.bool_] | None
) -> dict[str, Array | list[str]]:
    """Return a key's values with ``_is_pad`` where it has a window and ``_is_missing`` if told."""
    batch: dict[str, Array | list[str]] = {key: values}
    if pick.is_pad is not None:
        batch[f"{key}_is_pad"] = pick.is_pad
    if is_missing is not None:
        batch[f"{key}_is_missing"] = is_missing
    return batch
