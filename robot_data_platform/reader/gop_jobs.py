"""Which frames of which GOPs a batch needs, and where each goes; pure."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Int64Array = npt.NDArray[np.int64]

NO_PICTURE = -1
"""GOP key of a slot that has no picture."""


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
    """One GOP to decode once, and the slots that its frames fill."""

    slots: PictureSlots
    gop_key: int
    frames: Int64Array
    """(F,) frames to decode, increasing."""
    slot: Int64Array
    """(n,) pictures to fill, numbered as in the flattened slots."""
    which: Int64Array
    """(n,) for each slot, the position in ``frames`` of its frame."""

    def fill(self, pictures: npt.NDArray[np.uint8]) -> None:
        """Put decoded pictures, (F, H, W, 3), into their slots."""
        out = self.slots.out
        out.reshape(-1, *out.shape[-3:])[self.slot] = pictures[self.which]


def gop_jobs(slots: PictureSlots) -> list[GopJob]:
    """Return one job for each GOP that the slots refer to, by rising key."""
    gop_key = slots.gop_key.ravel()
    held = np.flatnonzero(gop_key != NO_PICTURE)
    slot = held[np.argsort(gop_key[held], kind="stable")]
    keys, first = np.unique(gop_key[slot], return_index=True)
    parts = np.split(slot, first[1:]) if len(keys) else []
    return [_job(slots, key, part) for key, part in zip(keys.tolist(), parts, strict=True)]


def _job(slots: PictureSlots, gop_key: int, slot: Int64Array) -> GopJob:
    frames, which = np.unique(slots.frame.ravel()[slot], return_inverse=True)
    return GopJob(slots=slots, gop_key=gop_key, frames=frames, slot=slot, which=which)
