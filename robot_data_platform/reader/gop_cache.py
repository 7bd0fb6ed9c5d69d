"""GOPs that are being read, and decoded ones that neighbouring batches will want again."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from typing import TYPE_CHECKING, TypeAlias

from robot_data_platform.reader.gop_entries import GopEntry

if TYPE_CHECKING:
    from robot_data_platform.video.output import Frame, PictureForm

DEFAULT_BYTES = 256 << 20
"""Decoded GOPs kept where neighbouring batches share them: 580 pictures of 640x480, or
1,780 that are scaled to 224x224."""


Fetch: TypeAlias = Future[None]
"""Done when the GOPs of one request have their bytes; one for all, as each costs a lock."""


class GopSlot:
    """One GOP in memory: its bytes as soon as they are read, or its frames once decoded."""

    def __init__(self, entry: GopEntry, fetch: Fetch, num_bytes: int = 0) -> None:
        self.entry = entry
        self.num_bytes = num_bytes
        """Memory of all its frames."""
        self.data = b""
        """The blob, once it is read."""
        self._fetch = fetch
        self.frames: Mapping[int, Frame] | None = None
        """Every frame of it, where it was decoded to be kept."""
        self.lock = threading.Lock()
        """Held by whoever decodes it."""

    def blob(self) -> bytes:
        """Return the GOP's bytes, once whoever fetches them has them."""
        self._fetch.result()
        return self.data


class GopCache:
    """Slots by GOP key, the least recently used of them let go beyond a number of bytes.

    Whoever asks for a GOP first fetches it; others that ask meanwhile wait for the same bytes.
    """

    def __init__(self, max_bytes: int, form: PictureForm) -> None:
        """Keep so many bytes of frames that become pictures of a form."""
        self._form = form
        self._max_bytes = max_bytes
        self._slots: OrderedDict[int, GopSlot] = OrderedDict()
        self._num_bytes = 0
        self._lock = threading.Lock()

    def claim(
        self, gop_keys: Sequence[int], entries: Sequence[GopEntry], fetch: Fetch
    ) -> tuple[list[GopSlot], list[GopSlot]]:
        """Return the slot of each GOP, and those of them whose bytes ``fetch`` has to bring."""
        with self._lock:
            new = [
                self._add(key, entry, fetch)
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

    def _add(self, key: int, entry: GopEntry, fetch: Fetch) -> GopSlot:
        num_bytes = entry.num_frames * self._form.num_bytes_kept(entry.form)
        slot = self._slots[key] = GopSlot(entry, fetch, num_bytes)
        self._num_bytes += slot.num_bytes
        return slot

    def _evict(self) -> None:
        while self._num_bytes > self._max_bytes and self._slots:
            _, slot = self._slots.popitem(last=False)
            self._num_bytes -= slot.num_bytes
