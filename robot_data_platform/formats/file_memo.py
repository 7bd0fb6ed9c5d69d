"""A small memory of what was parsed from files, void as soon as a file changes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from threading import Lock
from typing import Generic, TypeVar

from robot_data_platform.core.source import Source

T = TypeVar("T")


class FileMemo(Generic[T]):
    """The last few values parsed from files, by path, size and time of change.

    A process that reads the episodes of a dataset one by one parses what they share once.
    """

    def __init__(self, max_entries: int) -> None:
        self._max_entries = max_entries
        self._entries: OrderedDict[Hashable, T] = OrderedDict()
        self._lock = Lock()

    def get(
        self,
        source: Source,
        files: Sequence[str],
        parse: Callable[[], T],
        detail: Hashable = None,
    ) -> T:
        """Return what ``parse`` makes of the files, from memory where they are unchanged.

        Parameters
        ----------
        source : Source
            Where the files lie.
        files : sequence of str
            Every file that ``parse`` reads.
        parse : callable
            Makes the value; called on a miss.
        detail : hashable, optional
            Tells apart the values made from the same files.
        """
        key = (tuple(_stamp(source, relative) for relative in files), detail)
        with self._lock:
            if key in self._entries:
                self._entries.move_to_end(key)
                return self._entries[key]
        value = parse()
        with self._lock:
            self._entries[key] = value
            while len(self._entries) > self._max_entries:
                self._entries.popitem(last=False)
        return value


def _stamp(source: Source, relative: str) -> tuple[str, int, int]:
    path = source.local_path(relative)
    facts = path.stat()
    return str(path), facts.st_size, facts.st_mtime_ns
