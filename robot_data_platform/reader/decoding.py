"""Pictures from one GOP's bytes, proven to be what the tables say, on whichever thread is free."""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial

import numpy as np
import numpy.typing as npt

from robot_data_platform.core.gop import StreamFormat
from robot_data_platform.core.identity import GOP_INDEX_BITS
from robot_data_platform.core.rendition import RENDITION_BITS
from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform.reader.cameras import Size
from robot_data_platform.reader.episodes import EpisodeSet
from robot_data_platform.reader.gop_cache import GopSlot
from robot_data_platform.reader.gop_entries import GopEntry
from robot_data_platform.reader.gop_index import GopIndex
from robot_data_platform.reader.gop_jobs import GopJob
from robot_data_platform.reader.place import Place, episode_of_gop
from robot_data_platform.video.decode import GopDecoder
from robot_data_platform.video.output import Frame, FrameWriter, PictureForm, frame_writer

Int64Array = npt.NDArray[np.int64]


class _Tools:
    """A decoder and writers; costly to make, so they are used again, by one job at a time."""

    def __init__(self, form: PictureForm) -> None:
        self.decoder = GopDecoder()
        self._form = form
        self._writers: dict[StreamFormat, FrameWriter] = {}

    def writer(self, fmt: StreamFormat) -> FrameWriter:
        if fmt not in self._writers:
            self._writers[fmt] = frame_writer(fmt, self._form)
        return self._writers[fmt]


class GopPictures:
    """Fills a job's pictures from its GOP; any thread may call it."""

    def __init__(
        self,
        index: GopIndex,
        episodes: EpisodeSet,
        place: Place,
        sizes: Mapping[str, Sequence[Size]],
        depth_cameras: Collection[str],
        form: PictureForm,
    ) -> None:
        """Read pictures of stated ``sizes`` by camera, (H, W), in a stated form.

        Of ``depth_cameras`` they are depth maps, of the others they are not.
        """
        self._sizes = sizes
        self._depth_cameras = depth_cameras
        self._index = index
        self._episodes = episodes
        self._place = place
        self._form = form
        self._free: deque[_Tools] = deque()

    def fill(self, job: GopJob, slot: GopSlot, *, is_kept: bool) -> None:
        """Fill every picture of a job; ``is_kept`` = decode the GOP whole, for later jobs too.

        Raises
        ------
        DataFaultError
            ``gop-damaged``, or ``row-mismatch`` where the GOP is not what a row or the episode
            says; the message names dataset, release, episode, camera and GOP.
        """
        self._check(job, slot.entry)
        fill = job.filler()
        with self._tools() as tools:
            writer = tools.writer(slot.entry.form)
            if is_kept:
                frames = self._kept(job, slot, writer, tools.decoder)
                write = writer.put if writer.shrinks else writer.write
            else:
                frames = self._decode(job, slot, job.frame, tools.decoder)
                write = writer.write
            for number, frame in frames:
                fill(number, partial(write, frame))

    def _kept(
        self, job: GopJob, slot: GopSlot, writer: FrameWriter, decoder: GopDecoder
    ) -> Iterator[tuple[int, Frame]]:
        """Yield the frames of a job from those kept, which the first job decodes.

        They are kept as decoded or, where that is smaller, as converted. The first job has its own
        while they are still in the processor's cache.
        """
        wanted = set(job.frame.tolist())
        with slot.lock:
            if slot.frames is None:
                frames, everything = {}, np.arange(slot.entry.num_frames)
                for number, frame in self._decode(job, slot, everything, decoder):
                    frames[number] = writer.convert(frame) if writer.shrinks else frame
                    if number in wanted:
                        yield number, frames[number]
                slot.frames = frames
                return
        for number in wanted:
            yield number, slot.frames[number]

    def _decode(
        self, job: GopJob, slot: GopSlot, wanted: Int64Array, decoder: GopDecoder
    ) -> Iterator[tuple[int, Frame]]:
        entry, data = slot.entry, slot.blob()
        self._prove(job, entry, data)
        try:
            yield from decoder.each(entry.packets, data, wanted, entry.form)
        except DataFaultError as err:
            expected = f"frames {np.unique(wanted).tolist()} to decode"
            raise self._fault(ErrorKind.GOP_DAMAGED, job, str(err), expected) from err

    def _check(self, job: GopJob, entry: GopEntry) -> None:
        """Refuse a GOP that is not what a row or the episode says of it."""
        if job.frame[-1] >= entry.num_frames:
            got = f"a row that refers to frame {job.frame[-1]}"
            raise self._fault(ErrorKind.ROW_MISMATCH, job, got, f"0..{entry.num_frames - 1}")
        size, expected = (entry.form.height_px, entry.form.width_px), self._sizes[job.slots.camera]
        if size not in expected:
            got = f"height x width {size[0]}x{size[1]}"
            listed = " or ".join(f"height x width {h}x{w}" for h, w in expected)
            raise self._fault(ErrorKind.ROW_MISMATCH, job, got, f"{listed} as in episodes")
        if entry.form.is_depth is not (job.slots.camera in self._depth_cameras):
            got = f"pictures of pixel format {entry.form.pix_fmt}"
            raise self._fault(ErrorKind.ROW_MISMATCH, job, got, "what the columns of frames say")

    def _prove(self, job: GopJob, entry: GopEntry, data: bytes) -> None:
        """Compare a GOP's digest with its bytes, the first time that this reader reads it."""
        if self._index.is_proven[entry.number]:
            return
        sha256 = hashlib.sha256(data).hexdigest()
        if sha256 != entry.sha256:
            raise self._fault(ErrorKind.GOP_DAMAGED, job, f"sha256 {sha256}", entry.sha256)
        self._index.is_proven[entry.number] = True

    @contextmanager
    def _tools(self) -> Iterator[_Tools]:
        """Lend a decoder; after a fault it is as good as before, since it is flushed on use."""
        try:
            tools = self._free.pop()
        except IndexError:
            tools = _Tools(self._form)
        try:
            yield tools
        finally:
            self._free.append(tools)

    def missing(self, job: GopJob) -> DataFaultError:
        """Return the error for a GOP that a row refers to and the table doesn't have."""
        got = "no such row in the table"
        if job.gop_key >> GOP_INDEX_BITS & RENDITION_BITS:
            got = "none in this rendition (`rdp rendition add` makes what is missing)"
        return self._fault(ErrorKind.GOP_MISSING, job, got, "the one that a row of frames names")

    def _fault(self, kind: ErrorKind, job: GopJob, got: str, expected: str) -> DataFaultError:
        episode = self._episodes.id_of(episode_of_gop(job.gop_key))
        return DataFaultError(
            f"{self._place.gop(job.slots.camera, job.gop_key, episode)} can't be read: got {got}, "
            f"expected {expected}. Ingest its upload again, or read with on_error='skip'.",
            kind=kind,
            episode=episode,
            camera=job.slots.camera,
            gop_key=job.gop_key,
            **self._place.facts(),
        )
