"""Files that live as long as the recording that was read into them."""

from __future__ import annotations

import os
import tempfile
import weakref
from contextlib import suppress
from dataclasses import dataclass

from robot_data_platform.core.recording import VideoSegment


class ScratchFile:
    """A new empty file in the system's temporary folder, removed with this object.

    Parameters
    ----------
    suffix : str
        End of its name.
    """

    def __init__(self, suffix: str) -> None:
        handle, self.path = tempfile.mkstemp(suffix=suffix, prefix="rdp_video_")
        os.close(handle)
        weakref.finalize(self, _remove, self.path)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScratchVideo(VideoSegment):
    """Frames of a video that was put together from messages."""

    file: ScratchFile
    """Keeps the video there."""


def _remove(path: str) -> None:
    with suppress(FileNotFoundError):
        os.unlink(path)
