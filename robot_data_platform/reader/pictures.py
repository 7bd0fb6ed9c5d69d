"""Decoded pictures of a batch: one read for all cameras, each GOP decoded once, on all cores."""

from __future__ import annotations

import hashlib
import os
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform.reader.episodes import EpisodeSet
from robot_data_platform.reader.gop_entries import GopEntry
from robot_data_platform.reader.gop_index import GopIndex
from robot_data_platform.reader.gop_jobs import NO_PICTURE, GopJob, PictureSlots, gop_jobs
from robot_data_platform.reader.place import Place, episode_of_gop
from robot_data_platform.storage.table import LakeTable
from robot_data_platform.video.decode import GopDecoder


def num_decode_threads() -> int:
    """Return the cores that this process may use; of a torch worker, its share of them."""
    cores = len(os.sched_getaffinity(0))
    torch_data = sys.modules.get("torch.utils.data")
    worker = torch_data.get_worker_info() if torch_data is not None else None
    return cores if worker is None else max(1, cores // worker.num_workers)


class PictureReader:
    """Fills arrays with pictures; holds threads with a decoder each."""

    def __init__(
        self, gops: LakeTable, index: GopIndex, episodes: EpisodeSet, place: Place
    ) -> None:
        self._gops = gops
        self._index = index
        self._episodes = episodes
        self._place = place
        self._own = threading.local()
        self._pool = ThreadPoolExecutor(num_decode_threads(), thread_name_prefix="rdp-decode")

    def close(self) -> None:
        """End the threads."""
        self._pool.shutdown()

    def read(self, cameras: Sequence[PictureSlots]) -> None:
        """Fill every slot of every camera; a slot without a picture becomes black.

        Raises
        ------
        DataFaultError
            ``gop-missing``, ``gop-damaged``, or ``row-mismatch`` where a row refers to a frame
            that its GOP doesn't have; the message names dataset, release, episode, camera, GOP.
        """
        for slots in cameras:
            slots.out[slots.gop_key == NO_PICTURE] = 0
        jobs = [job for slots in cameras for job in gop_jobs(slots)]
        if not jobs:
            return
        gop_key = np.array([job.gop_key for job in jobs], dtype=np.int64)
        entries = self._index.entries(gop_key, [job.slots.camera for job in jobs])
        row_id = np.array([entry.row_id for entry in entries], dtype=np.uint64)
        blobs = self._gops.read_blobs(row_id)
        for _ in self._pool.map(self._decode, jobs, entries, blobs):
            pass

    def _decode(self, job: GopJob, entry: GopEntry, data: bytes) -> None:
        self._check(job, entry, data)
        decoder, form = self._decoder, entry.form
        try:
            decoded = decoder.decode(entry.packets, data, job.frame, form)
        except DataFaultError as err:
            expected = f"frames {np.unique(job.frame).tolist()} to decode"
            raise self._fault(ErrorKind.GOP_DAMAGED, job, str(err), expected) from err
        job.fill(lambda frame, out: decoder.to_rgb(decoded[frame], form, out))

    def _check(self, job: GopJob, entry: GopEntry, data: bytes) -> None:
        """Refuse a GOP that is not what the tables say of it."""
        if job.frame[-1] >= entry.num_frames:
            got = f"a row that refers to frame {job.frame[-1]}"
            raise self._fault(ErrorKind.ROW_MISMATCH, job, got, f"0..{entry.num_frames - 1}")
        size, expected_size = (
            (entry.form.height_px, entry.form.width_px),
            job.slots.out.shape[-3:-1],
        )
        if size != expected_size:
            got, expected = (f"height x width {h}x{w}" for h, w in (size, expected_size))
            raise self._fault(ErrorKind.ROW_MISMATCH, job, got, f"{expected} as in episodes")
        sha256 = hashlib.sha256(data).hexdigest()
        if sha256 != entry.sha256:
            raise self._fault(ErrorKind.GOP_DAMAGED, job, f"sha256 {sha256}", entry.sha256)

    @property
    def _decoder(self) -> GopDecoder:
        """The decoder of this thread."""
        if not hasattr(self._own, "decoder"):
            self._own.decoder = GopDecoder()
        decoder: GopDecoder = self._own.decoder
        return decoder

    def _fault(self, kind: ErrorKind, job: GopJob, got: str, expected: str) -> DataFaultError:
        episode = self._episodes.id_of(episode_of_gop(job.gop_key))
        return DataFaultError(
            f"{self._place.gop(job.slots.camera, job.gop_key, episode)} can't be read: got {got}, "
            f"expected {expected}. Ingest its upload again, or read other episodes.",
            kind=kind,
            episode=episode,
            camera=job.slots.camera,
            gop_key=job.gop_key,
            **self._place.facts(),
        )
