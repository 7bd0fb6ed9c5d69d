"""GOPs that are being read, and decoded ones that neighbouring batches will want again."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from typing import TYPE_CHECKING

from robot_data_platform.reader.gop_entries import GopEntry

if TYPE_CHECKING:
    from robot_data_platform.video.output import Frame

DEFAULT_BYTES = 256 << 20
"""Decoded GOPs kept where neighbouring batches share them: 580 pictures of 640x480."""


class GopSlot:
    """One GOP in memory: its bytes as soon as they are read, or its frames once decoded."""

    def __init__(self, entry: GopEntry) -> None:
        self.entry = entry
        self.blob: Future[bytes] = Future()
        self.frames: Mapping[int, Frame] | None = None
        """Every frame of it, where it was decoded to be kept."""
        self.lock = threading.Lock()
        """Held by whoever decodes it."""

    @property
    def num_bytes(self) -> int:
        """Memory of all its frames, as decoded: chroma at a quarter of the size, two 8-bit planes.

        Formats with more chroma or depth take more; they are rare on robots.
        """
        form = self.entry.form
        return self.entry.num_frames * form.coded_width_px * form.coded_height_px * 3 // 2


class GopCache:
    """Slots by GOP key, the least recently used of them let go beyond a number of bytes.

    Whoever asks for a GOP first fetches it; others that ask meanwhile wait for the same bytes.
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._slots: OrderedDict[int, GopSlot] = OrderedDict()
        self._num_bytes = 0
        self._lock = threading.Lock()

    def claim(
        self, gop_keys: Sequence[int], entries: Sequence[GopEntry]
    ) -> tuple[list[GopSlot], list[GopSlot]]:
        """Return the slot of each GOP, and those of them whose bytes the caller has to fetch."""
        with self._lock:
            new = [
                self._add(key, entry)
                for key, entry in zip(gop_keys, entries, strict=True)
                if key not in self._slots
            ]
            for key in gop_keys:
                self._slots.move_to_end(key)
            slots = [self._slots[key] for key in gop_keys]
            self._evict()
        return slots, new

    def forget(self, gop_keys: Sequence[int]) -> None:
        """Let GOPs go: those that could not be fetched or decoded."""
        with self._lock:
            for key in gop_keys:
                slot = self._slots.pop(key, None)
                self._num_bytes -= slot.num_bytes if slot is not None else 0

    def _add(self, key: int, entry: GopEntry) -> GopSlot:
        slot = self._slots[key] = GopSlot(entry)
        self._num_bytes += slot.num_bytes
        return slot

    def _evict(self) -> None:
        while self._num_bytes > self._max_bytes and self._slots:
            _, slot = self._slots.popitem(last=False)
            self._num_bytes -= slot.num_bytes
