"""Which frames of which GOPs a batch needs, and where each goes; pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Int64Array = npt.NDArray[np.int64]

NO_PICTURE = -1
"""GOP key of a slot that has no picture; less than every key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PictureSlots:
    """One camera's part of a batch: pictures to fill, (N,) or, with a window, (N, K)."""

    camera: str
    gop_key: Int64Array
    """(N,) or (N, K) key of each picture's GOP, or `NO_PICTURE`."""
    frame: Int64Array
    """(N,) or (N, K) position of each picture in its GOP's presentation order."""
    out: npt.NDArray[np.uint8]
    """(N, H, W, 3) or (N, K, H, W, 3) where the pictures go."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GopJob:
    """One GOP to decode once, and the n pictures that its frames fill."""

    slots: PictureSlots
    gop_key: int
    frame: Int64Array
    """(n,) frame of each picture, rising; repeats where several pictures show the same."""
    slot: Int64Array
    """(n,) where each picture goes, numbered as in the flattened slots."""

    def fill(self, write: Callable[[int, npt.NDArray[np.uint8]], object]) -> None:
        """Fill the pictures: ``write(frame, out)`` once a frame, its repeats by copying."""
        out = self.slots.out.reshape(-1, *self.slots.out.shape[-3:])
        written: dict[int, int] = {}
        for frame, slot in zip(self.frame.tolist(), self.slot.tolist(), strict=True):
            if written.setdefault(frame, slot) == slot:
                write(frame, out[slot])
            else:
                out[slot] = out[written[frame]]


def gop_jobs(slots: PictureSlots) -> list[GopJob]:
    """Return one job for each GOP that the slots refer to, by rising key."""
    gop_key, frame = slots.gop_key.ravel(), slots.frame.ravel()
    order = np.lexsort((frame, gop_key))
    order = order[np.count_nonzero(gop_key == NO_PICTURE) :]
    keys, first = np.unique(gop_key[order], return_index=True)
    parts = np.split(order, first[1:]) if len(keys) else []
    return [
        GopJob(slots=slots, gop_key=key, frame=frame[part], slot=part)
        for key, part in zip(keys.tolist(), parts, strict=True)
    ]
