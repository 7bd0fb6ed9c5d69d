"""Memory for the pictures of a batch: used again, because fresh pages cost as much as converting.

`RecycledBuffers` takes memory back when its last array is gone, so an array is valid for as long as
somebody holds it. `RingBuffers` takes it back after a fixed number of batches, whoever holds it.
"""

from __future__ import annotations

import weakref
from collections import deque
from typing import Protocol

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.generic]

SMALL_BYTES = 1 << 20
"""Arrays below this are left to numpy, whose allocator keeps their pages anyway."""

KEPT_BYTES = 256 << 20
"""Memory of one size that is kept while no array uses it."""

MAX_SIZES = 8
"""Sizes of arrays that memory is kept for: one per camera, and for the last batch of an epoch."""

NUM_LEASES = 4
"""Batches of a ring that are valid at a time: the last one, two being read, one to spare."""

POISON = 0xFA
"""Byte that a guarded ring fills views with when their time is over."""


class Lease(Protocol):
    """Where one batch takes its arrays from."""

    def empty(self, name: str, shape: tuple[int, ...], dtype: str) -> Array:
        """Return an array of any content for the pictures of one camera."""


class Buffers(Protocol):
    """Memory that outlives batches."""

    def lease(self) -> Lease:
        """Return where the next batch takes its arrays from."""


class RecycledBuffers:
    """Memory that goes back when the last array on it is gone."""

    def __init__(self) -> None:
        self._free: dict[int, deque[Array]] = {}

    def lease(self) -> RecycledBuffers:
        """Return itself: arrays of all batches are told apart by who holds them."""
        return self

    def empty(self, name: str, shape: tuple[int, ...], dtype: str) -> Array:
        """Return an array on free memory of its size, else on new memory; ``name`` is not used."""
        num_bytes = int(np.prod(shape)) * np.dtype(dtype).itemsize
        if num_bytes < SMALL_BYTES:
            return np.empty(shape, dtype=dtype)
        memory = self._take(num_bytes)
        # Views of it have this array as their base, as it does not own its memory: it lives as
        # long as any of them.
        array = np.frombuffer(memory.data, dtype=dtype)
        weakref.finalize(array, self._give_back, memory).atexit = False
        return array.reshape(shape)

    # No locks below: a finalizer runs wherever the last reference is dropped, also in the midst of
    # these methods. Operations of deques and dicts are atomic.

    def _take(self, num_bytes: int) -> Array:
        try:
            return self._free[num_bytes].pop()
        except (KeyError, IndexError):
            return np.empty(num_bytes, dtype=np.uint8)

    def _give_back(self, memory: Array) -> None:
        free = self._free.get(memory.nbytes)
        if free is None:
            if len(self._free) >= MAX_SIZES:
                self._free.clear()
            free = self._free.setdefault(
                memory.nbytes, deque(maxlen=max(1, KEPT_BYTES // memory.nbytes))
            )
        free.append(memory)


class RingBuffers:
    """A fixed number of arrays per camera, handed out in turn."""

    def __init__(self, num_leases: int, *, is_guarded: bool) -> None:
        """Lend to ``num_leases`` batches at a time; guarded, what is taken back is poisoned."""
        self._num_leases = num_leases
        self._is_guarded = is_guarded
        self._num_lent = 0
        self._arrays: dict[tuple[str, int], Array] = {}

    def lease(self) -> _RingLease:
        """Return the arrays of the batch that had them ``num_leases`` batches ago."""
        number = self._num_lent % self._num_leases
        self._num_lent += 1
        if self._is_guarded:
            self._poison(number)
        return _RingLease(self._arrays, number)

    def _poison(self, number: int) -> None:
        """Spoil what views of this lease still show, and let them keep it."""
        for key in [key for key in self._arrays if key[1] == number]:
            self._arrays.pop(key).view(np.uint8).fill(POISON)


class _RingLease:
    def __init__(self, arrays: dict[tuple[str, int], Array], number: int) -> None:
        self._arrays = arrays
        self._number = number

    def empty(self, name: str, shape: tuple[int, ...], dtype: str) -> Array:
        key, num_bytes = (name, self._number), int(np.prod(shape)) * np.dtype(dtype).itemsize
        held = self._arrays.get(key)
        if held is None or held.nbytes < num_bytes:
            held = self._arrays[key] = np.empty(num_bytes, dtype=np.uint8)
        return held[:num_bytes].view(dtype).reshape(shape)
