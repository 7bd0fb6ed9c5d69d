"""Decoded pictures of a batch: one read for all cameras, each GOP decoded once, on all cores."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from concurrent.futures import Executor, ThreadPoolExecutor

import numpy as np

from robot_data_platform.errors import DataFaultError
from robot_data_platform.reader.decoding import GopPictures
from robot_data_platform.reader.gop_cache import Fetch, GopCache, GopSlot
from robot_data_platform.reader.gop_index import GopIndex
from robot_data_platform.reader.gop_jobs import NO_PICTURE, GopJob, PictureSlots, gop_jobs
from robot_data_platform.storage.table import LakeTable


def num_decode_threads() -> int:
    """Return the cores that this process may use; of a torch worker, its share of them."""
    cores = len(os.sched_getaffinity(0))
    torch_data = sys.modules.get("torch.utils.data")
    worker = torch_data.get_worker_info() if torch_data is not None else None
    return cores if worker is None else max(1, cores // worker.num_workers)


class PictureReader:
    """Fills arrays with pictures; holds threads and decoders. Any thread may call it."""

    def __init__(self, gops: LakeTable, index: GopIndex, pictures: GopPictures) -> None:
        self._gops = gops
        self._index = index
        self._pictures = pictures
        self._num_threads = num_decode_threads()
        # Whoever calls decodes too.
        self._pool = ThreadPoolExecutor(
            max(1, self._num_threads - 1), thread_name_prefix="rdp-decode"
        )

    def close(self) -> None:
        """End the threads."""
        self._pool.shutdown()

    def read(
        self,
        cameras: Sequence[PictureSlots],
        cache: GopCache | None = None,
        concurrency: int | None = None,
    ) -> list[DataFaultError]:
        """Fill every slot of every camera; a slot without a picture becomes black.

        Parameters
        ----------
        cameras : sequence of PictureSlots
            What to fill.
        cache : GopCache, optional
            Where decoded GOPs are kept, whole, for the batches that follow; None = decode no more
            than the frames that are asked for, and keep nothing.
        concurrency : int, optional
            GOPs to decode at a time; None = as many as there are cores.

        Returns
        -------
        list of DataFaultError
            One for each GOP that can't be read, whose slots have any content: ``gop-missing``,
            ``gop-damaged``, or ``row-mismatch`` where a row refers to a frame that its GOP doesn't
            have.
        """
        _blacken(cameras)
        jobs = [job for slots in cameras for job in gop_jobs(slots)]
        if not jobs:
            return []
        there = self._index.is_there(np.array([job.gop_key for job in jobs])).tolist()
        faults = [self._pictures.missing(j) for j, t in zip(jobs, there, strict=True) if not t]
        jobs = [job for job, is_there in zip(jobs, there, strict=True) if is_there]
        slots = self._slots([job.gop_key for job in jobs], cache)
        if concurrency is None:
            return faults + self._fill(jobs, slots, cache, self._pool, self._num_threads)
        with ThreadPoolExecutor(concurrency) as pool:
            return faults + self._fill(jobs, slots, cache, pool, concurrency)

    def _slots(self, gop_keys: Sequence[int], cache: GopCache | None) -> list[GopSlot]:
        """Return the GOPs with their bytes, read by one request for those not in memory."""
        entries, fetch = self._index.entries(np.array(gop_keys, dtype=np.int64)), Fetch()
        if cache is None:
            slots = [GopSlot(entry, fetch) for entry in entries]
            self._bring(fetch, slots)
            return slots
        slots, new = cache.claim(gop_keys, entries, fetch)
        try:
            self._bring(fetch, new)
        except BaseException as err:
            # Whatever it was: who waits for these bytes must not wait for ever.
            cache.forget(gop_keys)
            fetch.set_exception(err)
            raise
        # Others may be fetching the rest; they wait for nobody before they have.
        for slot in slots:
            slot.blob()
        return slots

    def _bring(self, fetch: Fetch, slots: Sequence[GopSlot]) -> None:
        if slots:
            row_id = np.array([slot.entry.row_id for slot in slots], dtype=np.uint64)
            for slot, blob in zip(slots, self._gops.read_blobs(row_id), strict=True):
                slot.data = blob
        fetch.set_result(None)

    def _fill(
        self,
        jobs: Sequence[GopJob],
        slots: Sequence[GopSlot],
        cache: GopCache | None,
        pool: Executor,
        num_threads: int,
    ) -> list[DataFaultError]:
        """Do jobs on this thread and others; a future for each would cost more than it gives."""
        todo = iter(list(zip(jobs, slots, strict=True)))

        def work() -> list[DataFaultError]:
            # All workers share one iterator: each takes the next job when it is done with one.
            return [fault for job, slot in todo for fault in self._try_to_fill(job, slot, cache)]

        workers = [pool.submit(work) for _ in range(min(num_threads, len(jobs)) - 1)]
        faults = work()
        # A worker that has not started has nothing left to do: its thread is at another batch.
        return faults + [f for worker in workers if not worker.cancel() for f in worker.result()]

    def _try_to_fill(
        self, job: GopJob, slot: GopSlot, cache: GopCache | None
    ) -> list[DataFaultError]:
        try:
            self._pictures.fill(job, slot, is_kept=cache is not None)
        except DataFaultError as err:
            if cache is not None:
                cache.forget([job.gop_key])
            return [err]
        return []


def _blacken(cameras: Sequence[PictureSlots]) -> None:
    for slots in cameras:
        is_missing = slots.gop_key == NO_PICTURE
        if is_missing.any():
            slots.out[is_missing] = 0
