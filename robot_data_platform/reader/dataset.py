"""A dataset for training: map-style random access to rows, windows and decoded pictures.

Importing this loads neither Lance nor PyAV: a data-loader worker pays for them when it reads.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import index as whole_number
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from robot_data_platform.errors import ErrorKind, IndexOutOfRangeError, InvalidInputError
from robot_data_platform.reader.spec import Output, PictureDtype, ReadSpec
from robot_data_platform.storage.uri import normalise_root

if TYPE_CHECKING:
    from robot_data_platform.reader.items import Item
    from robot_data_platform.reader.view import View
    from robot_data_platform.storage.lake import Lake


class RobotLanceDataset:
    """The rows of a dataset or release, one item per control step.

    An item is a dict with LeRobot's keys: ``observation.state`` and ``action`` (float32, (D,)),
    ``observation.images.<camera>``, ``task``, ``index`` (position in this dataset),
    ``episode_index``, ``frame_index`` and ``timestamp`` (float32, seconds from the episode's first
    row); and besides them ``episode_id``, ``observation.<name>`` of every further signal,
    ``language_instruction``, ``source`` and ``is_intervention``. A key with a window has its K
    values stacked in front, and ``<key>_is_pad`` (bool, (K,)) tells which of them lie outside the
    episode and repeat its edge row.

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
    output : {"numpy", "torch"}
        Arrays or tensors.
    picture_dtype : {"uint8", "float32"}, optional
        ``float32`` is in [0, 1]. None = ``uint8`` for numpy, ``float32`` for torch as LeRobot.
    channels_first : bool, optional
        Pictures as (3, H, W). None = (H, W, 3) for numpy, (3, H, W) for torch as LeRobot.

    Raises
    ------
    NotFoundError
        ``dataset-not-found``, ``release-not-found``, ``version-not-found``, ``split-not-found``,
        ``episode-not-found``, ``camera-not-found`` or ``column-not-found``.
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
        output: Output = "numpy",
        picture_dtype: PictureDtype | None = None,
        channels_first: bool | None = None,
    ) -> None:
        is_torch = output == "torch"
        windows = delta_timestamps or {}
        self._spec = ReadSpec(
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
            output=output,
            picture_dtype=picture_dtype or ("float32" if is_torch else "uint8"),
            channels_first=is_torch if channels_first is None else channels_first,
        )
        self._spec.check()
        self._view: View | None = None
        self._versions: dict[str, int] | None = None
        self._pid = os.getpid()
        self._versions = self._open().snapshot.versions()

    def __len__(self) -> int:
        return len(self._open().index)

    def __getitem__(self, index: int) -> Item:
        """Return one item; a negative index counts from the end.

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
        return self.__getitems__([index])[0]

    def __getitems__(self, indices: Sequence[int]) -> list[Item]:
        """Return the items at some indices, as one batch: data loaders call this."""
        from robot_data_platform.reader.batch import read_items

        position = [self._position(index) for index in indices]
        return read_items(self._open(), np.array(position, dtype=np.int64))

    def __iter__(self) -> Iterator[Item]:
        return (self[index] for index in range(len(self)))

    def __repr__(self) -> str:
        spec = self._spec
        return (
            f"RobotLanceDataset({spec.dataset!r}, release={spec.release!r}, split={spec.split!r}, "
            f"rows={len(self)}, cameras={list(self.cameras)}, versions={self.versions()})"
        )

    @property
    def cameras(self) -> tuple[str, ...]:
        """The cameras that are decoded."""
        return tuple(self._open().cameras)

    @property
    def episode_ids(self) -> list[str]:
        """The stable id of each episode that is read, in order."""
        ids: list[str] = self._open().episodes.episode_id.to_pylist()
        return ids

    def versions(self) -> dict[str, int]:
        """Return the version of each table that is read."""
        return dict(self._versions or {})

    def close(self) -> None:
        """Let go of handles and threads; a later read opens the same versions again."""
        if self._view is not None and self._pid == os.getpid():
            self._view.pictures.close()
        self._view = None

    def __getstate__(self) -> tuple[ReadSpec, dict[str, int] | None]:
        return self._spec, self._versions

    def __setstate__(self, state: tuple[ReadSpec, dict[str, int] | None]) -> None:
        self._spec, self._versions = state
        self._view = None
        self._pid = os.getpid()

    def _position(self, index: int) -> int:
        num_rows, number = len(self), whole_number(index)
        if not -num_rows <= number < num_rows:
            raise IndexOutOfRangeError(
                f"Index {number} is outside dataset {self._spec.dataset!r}: got {number}, expected "
                f"{-num_rows}..{num_rows - 1}, as {num_rows} rows were chosen.",
                kind=ErrorKind.INDEX_OUT_OF_RANGE,
                index=number,
                num_rows=num_rows,
                dataset=self._spec.dataset,
            )
        return number % num_rows

    def _open(self) -> View:
        if self._pid != os.getpid():
            raise self._forked()
        if self._view is None:
            from robot_data_platform.reader.view import open_view

            self._view = open_view(self._spec, self._versions)
        return self._view

    def _forked(self) -> InvalidInputError:
        """Return the error for a read in a fork: Lance's threads don't survive one, so it hangs."""
        return InvalidInputError(
            f"Dataset {self._spec.dataset!r} was opened by process {self._pid}: got a read in its "
            f"fork {os.getpid()}, expected a process that was started anew. Use "
            "multiprocessing_context='spawn' or 'forkserver'.",
            kind=ErrorKind.FORK_UNSAFE,
            dataset=self._spec.dataset,
        )
