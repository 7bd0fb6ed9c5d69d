"""A batch of items: their rows, one read of blobs for all cameras, then arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from robot_data_platform.core.time_base import NS_PER_S
from robot_data_platform.errors import DataFaultError
from robot_data_platform.reader.buffers import Lease
from robot_data_platform.reader.columns import TextValues
from robot_data_platform.reader.error_counts import count_read_errors
from robot_data_platform.reader.gop_cache import GopCache
from robot_data_platform.reader.gop_jobs import NO_PICTURE, PictureSlots
from robot_data_platform.reader.item_keys import picture_key
from robot_data_platform.reader.items import Array, Batch
from robot_data_platform.reader.row_source import PictureRefs, Rows
from robot_data_platform.reader.view import View
from robot_data_platform.reader.windows import KeyRows

Int64Array = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
Scalar = TypeVar("Scalar", bound=np.generic)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadBatch:
    """Items as stacked arrays."""

    values: Batch
    """By item key, (N, ...)."""
    num_items: int
    """N; fewer than were asked for where items are left out."""
    fault: DataFaultError | None = None
    """Why items are left out, the first reason."""


def read_batch(view: View, item: Int64Array, lease: Lease, cache: GopCache | None) -> ReadBatch:
    """Return some items, in their order; repeats allowed.

    Parameters
    ----------
    item : ndarray of int64, shape (N,)
        ``0 <= item < len(view.selection)``.
    lease : Lease
        Where the memory of pictures comes from.
    cache : GopCache, optional
        As `PictureReader.read` says.

    Raises
    ------
    DataFaultError
        ``row-mismatch``, ``gop-missing`` or ``gop-damaged``; with ``on_error="skip"``, items that
        need such a GOP are left out instead.
    """
    position = view.selection.positions(item)
    keys = [*view.columns, *map(picture_key, view.sizes)]
    wanted = {key: view.windows.rows_of(key, position, view.index) for key in keys}
    taken = np.unique(np.concatenate([position, *(r.position.ravel() for r in wanted.values())]))
    rows = view.rows.take(taken)
    picks = {key: _Pick(taken, key_rows) for key, key_rows in wanted.items()}
    slots = [_slots(view, rows, camera, picks, lease) for camera in view.sizes]
    faults = view.pictures.read(slots, cache)
    batch = {
        **_identity(view, item, position),
        **_columns(view, rows, picks),
        **_pictures(slots, picks),
    }
    if not faults:
        return ReadBatch(values=batch, num_items=len(item))
    return _without(view, batch, slots, faults)


class _Pick:
    """From M taken rows to the (N, K) rows of one key."""

    def __init__(self, taken: Int64Array, rows: KeyRows) -> None:
        at = np.searchsorted(taken, rows.position)
        self.is_pad = rows.is_pad
        self.at: Int64Array = at if rows.is_pad is not None else at[:, 0]
        """(N, K) places among the taken rows; (N,) without a window."""


def _identity(view: View, item: Int64Array, position: Int64Array) -> Batch:
    index = view.index
    number = index.episode_number(position)
    first = index.start[number]
    time_ns = index.timestamp_ns[position] - index.timestamp_ns[first]
    return {
        "index": item,
        "episode_index": view.episodes.episode_index[number],
        "episode_id": _episode_ids(view, number),
        "frame_index": position - first,
        "timestamp": (time_ns / NS_PER_S).astype(np.float32),
    }


def _episode_ids(view: View, number: npt.NDArray[np.intp]) -> list[str]:
    """Return the id of each item's episode; a lookup costs less than Arrow's take of a few."""
    numbers = number.tolist()
    id_by_number = {n: view.episodes.episode_id[n].as_py() for n in set(numbers)}
    return [id_by_number[n] for n in numbers]


def _columns(view: View, rows: Rows, picks: Mapping[str, _Pick]) -> Batch:
    batch: dict[str, Array | list[str]] = {}
    for key, column in view.columns.items():
        pick = picks[key]
        picked = rows.columns[column].take(pick.at)
        if isinstance(picked, TextValues):
            batch[key] = picked.to_list()
        else:
            batch |= _with_masks(key, pick, picked.values, picked.is_missing)
    return batch


def _slots(
    view: View, rows: Rows, camera: str, picks: Mapping[str, _Pick], lease: Lease
) -> PictureSlots:
    at = picks[picture_key(camera)].at
    return picture_slots(view, camera, rows.refs[camera], at, lease)


def picture_slots(
    view: View, camera: str, refs: PictureRefs, at: Int64Array, lease: Lease
) -> PictureSlots:
    """Return the slots for the pictures of some of the taken rows, ``at``, (N,) or (N, K)."""
    is_depth = camera in view.depth_cameras
    shape = (*at.shape, *view.form.shape(view.sizes[camera][0], is_depth=is_depth))
    gop_key = refs.gop_key[at]
    return PictureSlots(
        camera=camera,
        gop_key=np.where(gop_key == NO_PICTURE, gop_key, gop_key + view.stored.key_offset),
        frame=refs.frame[at].astype(np.int64),
        out=lease.empty(camera, shape, view.form.array_dtype(is_depth=is_depth)),
    )


def _pictures(slots: list[PictureSlots], picks: Mapping[str, _Pick]) -> Batch:
    batch: dict[str, Array | list[str]] = {}
    for filled in slots:
        key = picture_key(filled.camera)
        batch |= _with_masks(key, picks[key], filled.out, filled.gop_key == NO_PICTURE)
    return batch


def _with_masks(
    key: str, pick: _Pick, values: Array, is_missing: BoolArray | None
) -> dict[str, Array | list[str]]:
    """Return a key's values with ``_is_pad`` where it has a window and ``_is_missing`` if told."""
    batch: dict[str, Array | list[str]] = {key: values}
    if pick.is_pad is not None:
        batch[f"{key}_is_pad"] = pick.is_pad
    if is_missing is not None:
        batch[f"{key}_is_missing"] = is_missing
    return batch


def _without(
    view: View, batch: Batch, slots: list[PictureSlots], faults: list[DataFaultError]
) -> ReadBatch:
    """Return the items that need none of the GOPs at fault; raise where they must not be lost."""
    count_read_errors(faults)
    if view.spec.on_error == "raise":
        raise faults[0]
    is_lost = np.zeros(len(batch["index"]), dtype=np.bool_)
    bad = np.array([int(str(fault.facts["gop_key"])) for fault in faults], dtype=np.int64)
    for filled in slots:
        is_bad = np.isin(filled.gop_key, bad)
        is_lost |= is_bad.reshape(len(is_lost), -1).any(axis=1)
    for fault in faults:
        view.skips.add_fault(fault)
    view.skips.add_items(int(np.count_nonzero(is_lost)))
    kept = np.flatnonzero(~is_lost)
    values = {
        key: [value[n] for n in kept.tolist()] if isinstance(value, list) else value[kept]
        for key, value in batch.items()
    }
    return ReadBatch(values=values, num_items=len(kept), fault=faults[0])
