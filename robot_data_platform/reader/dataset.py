"""A dataset for training: map-style random access to rows, windows and decoded pictures.

Importing this loads neither Lance nor PyAV: a data-loader worker pays for them when it reads.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import index as whole_number
from pathlib import Path
from typing import TYPE_CHECKING, overload

from robot_data_platform.reader.open_dataset import OpenDataset
from robot_data_platform.reader.spec import (
    DEFAULT_RAM_BYTES,
    OnError,
    Output,
    PictureDtype,
    ReadSpec,
)
from robot_data_platform.storage.uri import normalise_root

if TYPE_CHECKING:
    from robot_data_platform.reader.items import Item
    from robot_data_platform.reader.samplers import Sampler
    from robot_data_platform.storage.lake import Lake


class RobotLanceDataset(OpenDataset):
    """The rows of a dataset or release, one item per control step.

    An item is a dict with LeRobot's keys: ``observation.state`` and ``action`` (float32, (D,)),
    ``observation.images.<camera>``, ``task``, ``index`` (position in this dataset),
    ``episode_index``, ``frame_index`` and ``timestamp`` (float32, seconds from the episode's first
    row); and besides them ``episode_id``, ``observation.<name>`` of every further signal,
    ``language_instruction``, ``source`` and ``is_intervention``. A key with a window has its K
    values stacked in front, and ``<key>_is_pad`` (bool, (K,)) tells which of them lie outside the
    episode and repeat its edge row.

    Pictures are (H, W, 3) RGB. Those of a camera of depth maps (`depth_unit_m` tells which) are
    (H, W, 1), uint16 or float32, as recorded: never divided, never averaged; 0 is not measured.

    A row without a value: vectors are NaN and text is empty; pictures are black, booleans False and
    integers 0, and ``<key>_is_missing`` (bool), which those keys always have, is True.

    Episodes stand in ascending ``episode_index``, each with its rows in order of time. Quarantined
    episodes are never read. What is read is pinned when the dataset is opened: no later commit
    changes it. Pickling carries the arguments and the pinned versions; the other process opens
    the tables itself. It has to be spawned (or come from a fork server): a plain fork of a process
    that has read with Lance may hang, so it is refused.

    Parameters
    ----------
    lake : Lake, str or Path
        The lake, or its location: a local path or ``s3://bucket/prefix``.
    dataset : str
        Name of the dataset.
    release : str, optional
        Release to read: the episodes that it assigned to its splits, at its versions.
    version : int, optional
        Version of ``episodes`` to read without a release; None = the latest.
    split : str, optional
        Split of the release; None = all of its splits.
    episodes : iterable of str or int, optional
        Only these, by ``episode_id`` or ``episode_index``.
    delta_timestamps : mapping of str to sequence of float, optional
        Window of each key, in seconds from the row.
    tolerance_s : float
        How far an offset of a window may be from a whole number of row periods.
    cameras : iterable of str, optional
        Cameras to decode; None = all that some chosen episode has, empty = none.
    columns : iterable of str, optional
        Columns to read, by item key or stored name; None = every signal and label. The keys that
        say which row it is are always there.
    filter : str, optional
        Predicate in SQL on the numbers, texts and booleans of ``frames`` (items are the rows for
        which it holds; windows still see the others) or of ``episodes`` (only such episodes are
        read). Lance parses it.
    image_size : tuple of int, optional
        Height and width to scale every picture to, without regard to its proportions, in the same
        pass that converts it to RGB: each pixel is the mean of the area that it covers, and of
        depth the one at its centre.
    rendition : str, optional
        Read the pictures of a stored rendition, such as ``224x224-crop`` (`rdp rendition add`),
        in place of those as recorded: less to fetch and to decode.
    output : {"numpy", "torch"}
        Arrays or tensors.
    picture_dtype : {"uint8", "float32"}, optional
        ``float32`` is in [0, 1]. None = ``uint8`` for numpy, ``float32`` for torch as LeRobot.
        Depth is uint16 in place of uint8, and in recorded units in both.
    channels_first : bool, optional
        Pictures as (3, H, W). None = (H, W, 3) for numpy, (3, H, W) for torch as LeRobot.
    on_error : {"raise", "skip"}
        What a GOP does that is missing, fails its checksum or can't be decoded: raise, or leave
        out the items that need it, log a warning, and count them in `skipped`. Where nothing is
        left of what was asked for, it is raised all the same.
    ram_budget_bytes : int
        Columns that are not pictures, and references to pictures, are held in memory where they
        fit in so many bytes, and else read for each batch.
    gop_cache_bytes : int, optional
        Decoded GOPs that are kept for later batches. None = 256 MiB in `iter_batches` with an
        order in which neighbouring batches share GOPs, and else none; 0 = none. For random access
        it costs more than it gives, since a GOP that is kept is decoded whole.
    zero_copy : bool
        Hand out pictures as views of a ring of buffers, which is used again: those of a batch are
        valid until the third read after theirs, and of `iter_batches` until the next batch. In
        Python's development mode (``python -X dev``) stale views are filled with byte 0xFA.

    Raises
    ------
    NotFoundError
        ``dataset-not-found``, ``release-not-found``, ``version-not-found``, ``split-not-found``,
        ``episode-not-found``, ``camera-not-found``, ``rendition-not-found`` or
        ``column-not-found``.
    InvalidInputError
        ``invalid-argument``, ``window-off-grid``, ``not-installed`` (torch), or ``shape-mismatch``
        where a camera has pictures of several sizes.
    DataFaultError
        ``row-mismatch``: the tables contradict each other.
    StorageError
        ``newer-format-version``, or the store failed.
    """

    def __init__(
        self,
        lake: Lake | str | Path,
        dataset: str,
        *,
        release: str | None = None,
        version: int | None = None,
        split: str | None = None,
        episodes: Iterable[str | int] | None = None,
        delta_timestamps: Mapping[str, Sequence[float]] | None = None,
        tolerance_s: float = 1e-4,
        cameras: Iterable[str] | None = None,
        columns: Iterable[str] | None = None,
        filter: str | None = None,
        image_size: tuple[int, int] | None = None,
        rendition: str | None = None,
        output: Output = "numpy",
        picture_dtype: PictureDtype | None = None,
        channels_first: bool | None = None,
        on_error: OnError = "raise",
        ram_budget_bytes: int = DEFAULT_RAM_BYTES,
        gop_cache_bytes: int | None = None,
        zero_copy: bool = False,
    ) -> None:
        is_torch = output == "torch"
        windows = delta_timestamps or {}
        spec = ReadSpec(
            lake_root=normalise_root(lake) if isinstance(lake, str | Path) else lake.root,
            dataset=dataset,
            release=release,
            version=version,
            split=split,
            episodes=None if episodes is None else tuple(episodes),
            delta_timestamps_s={key: tuple(window) for key, window in windows.items()},
            tolerance_s=tolerance_s,
            cameras=None if cameras is None else tuple(cameras),
            columns=None if columns is None else tuple(columns),
            filter=filter,
            image_size=None if image_size is None else tuple(map(whole_number, image_size)),
            rendition=rendition,
            output=output,
            picture_dtype=picture_dtype or ("float32" if is_torch else "uint8"),
            channels_first=is_torch if channels_first is None else channels_first,
            on_error=on_error,
            ram_budget_bytes=ram_budget_bytes,
            gop_cache_bytes=gop_cache_bytes,
            zero_copy=zero_copy,
        )
        spec.check()
        super().__init__(spec)

    @overload
    def __getitem__(self, index: int) -> Item: ...

    @overload
    def __getitem__(self, index: slice) -> list[Item]: ...

    def __getitem__(self, index: int | slice) -> Item | list[Item]:
        """Return one item, or those of a slice as one batch; a negative index counts from the end.

        Raises
        ------
        IndexOutOfRangeError
            ``index-out-of-range``; it is also an ``IndexError``.
        DataFaultError
            ``gop-missing``, ``gop-damaged`` or ``row-mismatch``: what is stored is not what was
            written; never another row or picture in its place.
        InvalidInputError
            ``fork-unsafe``: this process is a fork of the one that opened the dataset.
        """
        if isinstance(index, slice):
            return self.__getitems__(range(*index.indices(len(self))))
        return self.__getitems__([index])[0]

    def __getitems__(self, indices: Sequence[int]) -> list[Item]:
        """Return the items at some indices, as one batch: data loaders call this."""
        from robot_data_platform.reader.batch import read_batch
        from robot_data_platform.reader.items import split_batch

        if not len(indices):
            return []
        view = self._open()
        batch = read_batch(
            view, view.selection.items_at(indices, view.place), view.buffers.lease(), view.cache
        )
        if batch.fault is not None and not batch.num_items:
            raise batch.fault
        return split_batch(batch.values, batch.num_items, self._spec.output)

    def take_frames_decoded(
        self,
        cameras: str | Iterable[str],
        indices: Sequence[int],
        concurrency: int | None = None,
        *,
        zero_copy: bool = False,
    ) -> Item:
        """Return the pictures of some rows, without windows: rows in, pictures out.

        Parameters
        ----------
        cameras : str or iterable of str
            Names of some of `cameras`.
        indices : sequence of int, length N
            Any order; repeats allowed.
        concurrency : int, optional
            GOPs that are decoded at a time; None = as many as there are cores.
        zero_copy : bool
            As the dataset's, for this call.

        Returns
        -------
        dict
            By camera name the pictures, (N, H, W, 3) or as the dataset's arguments say, in the
            order of ``indices``; and ``<camera>_is_missing``, bool (N,), which are black as the row
            has none.

        Raises
        ------
        NotFoundError
            ``camera-not-found``.
        InvalidInputError
            ``invalid-argument``: ``concurrency`` is below 1.
        IndexOutOfRangeError, DataFaultError, InvalidInputError
            As ``dataset[index]``, whatever ``on_error``.
        """
        from robot_data_platform.reader.frames_decoded import read_frames
        from robot_data_platform.reader.items import to_output

        view = self._open()
        names = [cameras] if isinstance(cameras, str) else list(cameras)
        lease = (view.ring if zero_copy else view.buffers).lease()
        batch = read_frames(
            view, names, view.selection.items_at(indices, view.place), lease, concurrency
        )
        return to_output(batch, self._spec.output)

    def iter_batches(
        self,
        batch_size: int,
        sampler: Sampler | None = None,
        prefetch: int = 2,
        *,
        drop_last: bool = False,
    ) -> Iterator[Item]:
        """Yield one epoch in batches: dicts of stacked values, ``index`` (B,) and so on.

        Parameters
        ----------
        batch_size : int
            Rows of a batch; fewer in the last one, and where items are left out.
        sampler : Sampler, optional
            The order, from where its state is; it counts each batch as it is yielded, so that its
            state can be saved at any time. None = every row in order.
        prefetch : int
            Batches that are read ahead, each on a thread of its own; 0 = none. Up to
            ``prefetch + 2`` exist at a time.
        drop_last : bool
            Leave out a last batch that is smaller.

        Raises
        ------
        InvalidInputError
            ``invalid-argument``: a number is too small.
        DataFaultError
            As ``dataset[index]``, in the place of the batch at fault.
        """
        from robot_data_platform.reader.epoch import iter_epoch
        from robot_data_platform.reader.samplers import SequentialSampler

        order = SequentialSampler(self) if sampler is None else sampler
        return iter_epoch(self._open(), order, batch_size, prefetch, drop_last=drop_last)

    def __iter__(self) -> Iterator[Item]:
        return (self[index] for index in range(len(self)))
