"""Time stamps as recorders give them: a steady rate, a little jitter, now and then a frame less."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Int64s = npt.NDArray[np.int64]

NS_PER_S = 1_000_000_000


def jittered_ns(
    rng: np.random.Generator, *, start_ns: int, rate_hz: int, count: int, jitter_ns: int
) -> Int64s:
    """Return (count,) increasing times; the jitter is normal, cut at three deviations."""
    even = start_ns + np.arange(count, dtype=np.int64) * NS_PER_S // rate_hz
    jitter = np.clip(rng.standard_normal(count), -3, 3) * jitter_ns
    return even + np.rint(jitter).astype(np.int64)


def dropped_frames(rng: np.random.Generator, count: int) -> list[int]:
    """Return at most one frame number, well inside the stream: under 1 % of 100 frames or more."""
    return sorted(rng.integers(12, count - 12, rng.integers(0, 2)).tolist())
