"""Where each GOP of the chosen episodes is, and the packet index of those in use."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from robot_data_platform.core.gop_rows import FORMAT_COLUMNS, PACKET_COLUMNS, stream_format
from robot_data_platform.core.identity import GOP_INDEX_BITS
from robot_data_platform.core.rendition import slot_of
from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform.reader.episodes import EpisodeSet
from robot_data_platform.reader.gop_entries import GopEntry, StreamEntries, stream_entries
from robot_data_platform.reader.place import Place, first_gop_key
from robot_data_platform.storage.predicate import in_range
from robot_data_platform.storage.table import LakeTable

Int64Array = npt.NDArray[np.int64]

CACHE_BYTES = 256 << 20
"""Packet indices kept in memory: about 20 bytes a picture in GOPs of 16."""


class GopIndex:
    """Rows of ``gops`` by key, and their packet indices, read a stream at a time and bounded.

    Keys are read when the first picture is; any thread may ask.
    """

    def __init__(
        self,
        gops: LakeTable,
        episodes: EpisodeSet,
        place: Place,
        *,
        slot: int = 0,
        cache_bytes: int = CACHE_BYTES,
    ) -> None:
        self._gops = gops
        self._episodes = episodes
        self._place = place
        self._slot = slot
        self._cache_bytes = cache_bytes
        self._cache: OrderedDict[int, StreamEntries] = OrderedDict()
        self._lock = threading.Lock()

    @cached_property
    def _rows(self) -> tuple[Int64Array, npt.NDArray[np.uint64]]:
        """Key, (G,) rising, and row id, (G,), of each GOP that is to be read."""
        table = self._gops.read(["gop_key"], _where(self._episodes), with_row_id=True)
        ref_id = table["gop_key"].to_numpy() >> GOP_INDEX_BITS
        table = table.filter(pa.array(slot_of(ref_id) == self._slot))
        keys = table["gop_key"].to_numpy()
        order = np.argsort(keys, kind="stable")
        return keys[order], table["_rowid"].to_numpy()[order]

    @cached_property
    def is_proven(self) -> npt.NDArray[np.bool_]:
        """(G,) whether a GOP's digest was compared with its bytes since the index was made."""
        return np.zeros(len(self._rows[0]), dtype=np.bool_)

    def is_there(self, gop_key: Int64Array) -> npt.NDArray[np.bool_]:
        """Return whether the table has each key, (G,)."""
        with self._lock:
            keys, _ = self._rows
        at = np.minimum(np.searchsorted(keys, gop_key), len(keys) - 1)
        return keys[at] == gop_key if len(keys) else np.zeros(len(gop_key), dtype=np.bool_)

    def entries(self, gop_key: Int64Array) -> list[GopEntry]:
        """Return the entry of each key, all there; what is not in memory is read by two takes.

        Raises
        ------
        DataFaultError
            ``row-mismatch``: the table returns other rows than were asked for.
        """
        ref_ids = (gop_key >> GOP_INDEX_BITS).tolist()
        with self._lock:
            number = np.searchsorted(self._rows[0], gop_key).tolist()
            streams = self._streams(sorted(set(ref_ids)))
        return [streams[ref_id].entry(n) for n, ref_id in zip(number, ref_ids, strict=True)]

    def _streams(self, ref_ids: Sequence[int]) -> dict[int, StreamEntries]:
        absent = [ref_id for ref_id in ref_ids if ref_id not in self._cache]
        if absent:
            self._cache.update(self._read(np.array(absent, dtype=np.int64)))
        for ref_id in ref_ids:
            self._cache.move_to_end(ref_id)
        streams = {ref_id: self._cache[ref_id] for ref_id in ref_ids}
        if absent:
            self._evict()
        return streams

    def _evict(self) -> None:
        held = sum(stream.num_bytes for stream in self._cache.values())
        while held > self._cache_bytes:
            _, oldest = self._cache.popitem(last=False)
            held -= oldest.num_bytes

    def _read(self, ref_ids: Int64Array) -> dict[int, StreamEntries]:
        keys, row_id = self._rows
        first = np.searchsorted(keys, ref_ids << GOP_INDEX_BITS)
        stop = np.searchsorted(keys, (ref_ids + 1) << GOP_INDEX_BITS)
        at = np.concatenate([np.arange(a, b) for a, b in zip(first, stop, strict=True)])
        rows = self._take(at, ("num_frames", "sha256", *PACKET_COLUMNS))
        forms = self._take(first, FORMAT_COLUMNS).to_pylist()
        offset = np.cumsum(stop - first) - (stop - first)
        bounds = zip(ref_ids.tolist(), first.tolist(), stop.tolist(), offset, forms, strict=True)
        return {
            ref_id: stream_entries(a, row_id[a:b], rows.slice(n, b - a), stream_format(form))
            for ref_id, a, b, n, form in bounds
        }

    def _take(self, at: Int64Array, columns: Sequence[str]) -> pa.Table:
        keys, row_id = self._rows
        rows = self._gops.take(row_id[at], ("gop_key", *columns))
        if not np.array_equal(rows["gop_key"].to_numpy(), keys[at]):
            raise DataFaultError(
                f"Table gops of {self._place} returned other rows than its row ids name: got "
                f"{rows.num_rows} rows, expected {len(at)} with the keys of the scan. Open the "
                "dataset anew.",
                kind=ErrorKind.ROW_MISMATCH,
                **self._place.facts(),
            )
        return rows


def _where(episodes: EpisodeSet) -> str:
    if not len(episodes):
        return "false"
    first, last = int(episodes.episode_index[0]), int(episodes.episode_index[-1])
    return in_range("gop_key", first_gop_key(first), first_gop_key(last + 1))
