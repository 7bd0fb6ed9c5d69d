"""A dataset that is pinned and opened on use: what it is of, and how it crosses processes."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from robot_data_platform.errors import ErrorKind, InvalidInputError
from robot_data_platform.reader.spec import ReadSpec

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from robot_data_platform.reader.skips import SkipReport
    from robot_data_platform.reader.view import View


class OpenDataset:
    """A pinned view, opened on use. Another process gets what pins it, and opens it anew."""

    def __init__(self, spec: ReadSpec) -> None:
        """Open the view, and so pin the version of each table."""
        self._spec = spec
        self._view: View | None = None
        self._versions: dict[str, int] | None = None
        self._pid = os.getpid()
        self._versions = self._open().snapshot.versions()

    def __len__(self) -> int:
        return len(self._open().selection)

    def __repr__(self) -> str:
        spec = self._spec
        return (
            f"RobotLanceDataset({spec.dataset!r}, release={spec.release!r}, split={spec.split!r}, "
            f"rows={len(self)}, cameras={list(self.cameras)}, versions={self.versions()})"
        )

    @property
    def cameras(self) -> tuple[str, ...]:
        """The cameras that are decoded."""
        return tuple(self._open().sizes)

    @property
    def depth_unit_m(self) -> dict[str, float | None]:
        """Metres per unit of each camera of depth maps that is decoded; None = not stated."""
        view = self._open()
        return {name: unit for name, unit in view.depth_cameras.items() if name in view.sizes}

    @property
    def episode_ids(self) -> list[str]:
        """The stable id of each episode that is read, in order."""
        ids: list[str] = self._open().episodes.episode_id.to_pylist()
        return ids

    @property
    def episode_starts(self) -> npt.NDArray[np.int64]:
        """(E + 1,) index of each episode's first item, and the number of items."""
        return self._open().selection.start

    @property
    def skipped(self) -> SkipReport:
        """What ``on_error="skip"`` left out in this process since the dataset was opened."""
        return self._open().skips

    def rows_per_gop(self) -> int:
        """Return the most rows that share a GOP in the first episode.

        `GopBlockSampler` cuts its blocks by it.
        """
        from robot_data_platform.reader.gop_span import rows_per_gop

        return rows_per_gop(self._open())

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

    def _open(self) -> View:
        """Return the open view; refuse a fork of the process that opened it (``fork-unsafe``)."""
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
