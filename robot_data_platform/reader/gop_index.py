"""Where each GOP of the chosen episodes is, and the packet index of those in use."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from robot_data_platform.core.identity import GOP_INDEX_BITS
from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform.reader.episodes import EpisodeSet
from robot_data_platform.reader.gop_entries import (
    FORMAT_COLUMNS,
    ROW_COLUMNS,
    GopEntry,
    StreamEntries,
    stream_entries,
    stream_format,
)
from robot_data_platform.reader.place import Place, episode_of_gop, first_gop_key
from robot_data_platform.storage.predicate import in_range
from robot_data_platform.storage.table import LakeTable

if TYPE_CHECKING:
    import pyarrow as pa

Int64Array = npt.NDArray[np.int64]

CACHE_BYTES = 256 << 20
"""Packet indices kept in memory: about 20 bytes a picture in GOPs of 16."""


class GopIndex:
    """Rows of ``gops`` by key, and their packet indices, read a stream at a time and bounded."""

    def __init__(
        self, gops: LakeTable, episodes: EpisodeSet, place: Place, cache_bytes: int = CACHE_BYTES
    ) -> None:
        self._gops = gops
        self._episodes = episodes
        self._place = place
        self._cache_bytes = cache_bytes
        self._cache: OrderedDict[int, StreamEntries] = OrderedDict()
        table = gops.read(["gop_key"], _where(episodes), with_row_id=True)
        keys = table["gop_key"].to_numpy()
        order = np.argsort(keys, kind="stable")
        self._key: Int64Array = keys[order]
        self._row_id: npt.NDArray[np.uint64] = table["_rowid"].to_numpy()[order]

    def entries(self, gop_key: Int64Array, camera: Sequence[str]) -> list[GopEntry]:
        """Return the entry of each key; what is not in memory is read by two takes for all.

        Parameters
        ----------
        gop_key : ndarray of int64, shape (G,)
            Keys of the GOPs.
        camera : sequence of str, length G
            Camera of each, for messages.

        Raises
        ------
        DataFaultError
            ``gop-missing``: the table has no such row.
        """
        at, stop = (np.searchsorted(self._key, gop_key, side) for side in ("left", "right"))
        if (at == stop).any():
            lost = int(np.argmax(at == stop))
            raise self._missing(int(gop_key[lost]), camera[lost])
        ref_ids = (gop_key >> GOP_INDEX_BITS).tolist()
        streams = self._streams(sorted(set(ref_ids)))
        found = zip(at.tolist(), ref_ids, strict=True)
        return [streams[ref_id].entry(n - streams[ref_id].first) for n, ref_id in found]

    def _streams(self, ref_ids: Sequence[int]) -> dict[int, StreamEntries]:
        absent = [ref_id for ref_id in ref_ids if ref_id not in self._cache]
        if absent:
            self._cache.update(self._read(np.array(absent, dtype=np.int64)))
        for ref_id in ref_ids:
            self._cache.move_to_end(ref_id)
        streams = {ref_id: self._cache[ref_id] for ref_id in ref_ids}
        self._evict()
        return streams

    def _evict(self) -> None:
        held = sum(stream.num_bytes for stream in self._cache.values())
        while held > self._cache_bytes:
            _, oldest = self._cache.popitem(last=False)
            held -= oldest.num_bytes

    def _read(self, ref_ids: Int64Array) -> dict[int, StreamEntries]:
        first = np.searchsorted(self._key, ref_ids << GOP_INDEX_BITS)
        stop = np.searchsorted(self._key, (ref_ids + 1) << GOP_INDEX_BITS)
        at = np.concatenate([np.arange(a, b) for a, b in zip(first, stop, strict=True)])
        rows = self._take(at, ROW_COLUMNS)
        forms = self._take(first, FORMAT_COLUMNS).to_pylist()
        offset = np.cumsum(stop - first) - (stop - first)
        bounds = zip(ref_ids.tolist(), first.tolist(), stop.tolist(), offset, forms, strict=True)
        return {
            ref_id: stream_entries(a, self._row_id[a:b], rows.slice(n, b - a), stream_format(form))
            for ref_id, a, b, n, form in bounds
        }

    def _take(self, at: Int64Array, columns: Sequence[str]) -> pa.Table:
        rows = self._gops.take(self._row_id[at], columns)
        if not np.array_equal(rows["gop_key"].to_numpy(), self._key[at]):
            raise DataFaultError(
                f"Table gops of {self._place} returned other rows than its row ids name: got "
                f"{rows.num_rows} rows, expected {len(at)} with the keys of the scan. Open the "
                "dataset anew.",
                kind=ErrorKind.ROW_MISMATCH,
                **self._place.facts(),
            )
        return rows

    def _missing(self, gop_key: int, camera: str) -> DataFaultError:
        episode = self._episodes.id_of(episode_of_gop(gop_key))
        return DataFaultError(
            f"{self._place.gop(camera, gop_key, episode)} is not there: got no such row, expected "
            "the one that a row of frames refers to. Ingest the upload again.",
            kind=ErrorKind.GOP_MISSING,
            episode=episode,
            camera=camera,
            gop_key=gop_key,
            **self._place.facts(),
        )


def _where(episodes: EpisodeSet) -> str:
    if not len(episodes):
        return "false"
    first, last = int(episodes.episode_index[0]), int(episodes.episode_index[-1])
    return in_range("gop_key", first_gop_key(first), first_gop_key(last + 1))
