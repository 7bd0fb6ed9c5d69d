"""Videos that lie inside tables, copied to files that a decoder can open."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections import deque
from collections.abc import Callable, Hashable
from pathlib import Path

MAX_UNUSED = 8
"""Copies that are kept though no recording refers to them: the next episode is often in them."""


class VideoCopy(str):
    """Path of a copy; the copy goes with the last reference to the path."""


_copies: weakref.WeakValueDictionary[Hashable, VideoCopy] = weakref.WeakValueDictionary()
_recent: deque[VideoCopy] = deque(maxlen=MAX_UNUSED)


def video_copy(key: Hashable, name: str, write: Callable[[Path], None]) -> VideoCopy:
    """Return the path of a copy, made by ``write`` where there is none.

    Parameters
    ----------
    key : hashable
        Tells the video from any other.
    name : str
        Last part of the path; messages show it.
    write : callable
        Writes the video to the path that it is called with.
    """
    copy = _copies.get(key)
    if copy is None:
        folder = Path(tempfile.mkdtemp(prefix="rdp-video-"))
        copy = VideoCopy(folder / name)
        weakref.finalize(copy, shutil.rmtree, folder, ignore_errors=True)
        write(Path(copy))
        _copies[key] = copy
    _recent.append(copy)
    return copy
