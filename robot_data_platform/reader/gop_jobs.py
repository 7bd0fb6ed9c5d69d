"""Which frames of which GOPs a batch needs, and where each goes; pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Int64Array = npt.NDArray[np.int64]
Array = npt.NDArray[np.generic]

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
    out: Array
    """(N, ...) or (N, K, ...) where the pictures go, each of three dimensions."""

    def flat(self) -> Array:
        """Return ``out`` as a view with one picture per slot."""
        return self.out.reshape(-1, *self.out.shape[-3:])


@dataclass(frozen=True, slots=True, kw_only=True)
class GopJob:
    """One GOP to decode once, and the n pictures that its frames fill."""

    slots: PictureSlots
    gop_key: int
    frame: Int64Array
    """(n,) frame of each picture, rising; repeats where several pictures show the same."""
    slot: Int64Array
    """(n,) where each picture goes, numbered as in the flattened slots."""

    def filler(self) -> Callable[[int, Callable[[Array], object]], None]:
        """Return a function that fills the pictures of one frame.

        It calls what it is given with the first of them, and copies that to the others.
        """
        pictures = self.slots.flat()
        slots_by_frame: dict[int, list[int]] = {}
        for frame, slot in zip(self.frame.tolist(), self.slot.tolist(), strict=True):
            slots_by_frame.setdefault(frame, []).append(slot)

        def fill(frame: int, write: Callable[[Array], object]) -> None:
            first, *others = slots_by_frame[frame]
            write(pictures[first])
            for slot in others:
                pictures[slot] = pictures[first]

        return fill


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
