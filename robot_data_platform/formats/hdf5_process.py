"""HDF5 files read in a process of their own, so that damage ends that one and not this."""

from __future__ import annotations

import atexit
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from multiprocessing import Pipe
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar, cast

from robot_data_platform.core.source import Source
from robot_data_platform.errors import DataFaultError, InvalidInputError
from robot_data_platform.formats.data_files import unreadable
from robot_data_platform.formats.hdf5_files import open_hdf5
from robot_data_platform.storage.source import LocalSource

if TYPE_CHECKING:
    import h5py

MODULE = "robot_data_platform.formats.hdf5_worker"
MOST_CPU_S = 5.0
"""Computing that one request may take, besides what `BYTES_PER_CPU_S` adds for large files."""
BYTES_PER_CPU_S = 20_000_000
"""Bytes of a file for which a request gets a second more: a tenth of what unpacking them takes."""
FROM_OUTSIDE = (-signal.SIGKILL, -signal.SIGTERM)
"""Exit codes of a process that something else ended, for want of memory, say: worth a new try."""
MAX_SNIFFED = 5
"""Files that are opened to recognise a source in which the first ones may be damaged."""

Stamp = tuple[str, int, int]
"""Path, size and time of change of a file."""
P = ParamSpec("P")
T = TypeVar("T")


def read_apart(
    source: Source,
    files: Sequence[str],
    function: Callable[Concatenate[Source, P], T],
    *arguments: P.args,
    **_: P.kwargs,
) -> T:
    """Return what a function makes of some files in the process that reads HDF5.

    Parameters
    ----------
    source : Source
        Where the files lie.
    files : sequence of str
        Every file that the function reads, the HDF5 file first.
    function : callable
        Of a module; gets a source of these files, then the arguments.

    Raises
    ------
    DataFaultError
        ``unreadable-file``: reading the file ended the process. Whatever ``function`` raises.
    """
    stamps = [_stamp(source.local_path(relative)) for relative in files]
    if stamps[0] in _ended:
        raise _deadly(source, files[0], _ended[stamps[0]])
    local = LocalSource(source.local_folder, source.label, files)
    most_cpu_s = MOST_CPU_S + sum(num_bytes for _, num_bytes, _ in stamps) / BYTES_PER_CPU_S
    with _worker() as worker:
        value, error = worker.ask(function, (local, *arguments), most_cpu_s)
    if isinstance(error, int):
        how = _last_word(error, most_cpu_s)
        if error not in FROM_OUTSIDE:
            _ended[stamps[0]] = how
        raise _deadly(source, files[0], how)
    if error is not None:
        raise error
    return cast("T", value)


def _stamp(path: Path) -> Stamp:
    facts = path.stat()
    return str(path), facts.st_size, facts.st_mtime_ns


def _deadly(source: Source, relative: str, how: str) -> DataFaultError:
    return unreadable(source, relative, f"got {how}, expected a whole HDF5 file")


def has_layout(
    source: Source, paths: Iterable[str], is_of_layout: Callable[[h5py.File], bool]
) -> bool:
    """Return whether one of the first files has a layout; damaged ones are passed over."""
    return any(_fits(source, path, is_of_layout) for path in islice(paths, MAX_SNIFFED))


def _fits(source: Source, path: str, is_of_layout: Callable[[h5py.File], bool]) -> bool:
    try:
        return read_apart(source, (path,), _is_of_layout, path, is_of_layout)
    except (DataFaultError, InvalidInputError):
        return False  # reading the episode says what is wrong with it


def _is_of_layout(source: Source, path: str, is_of_layout: Callable[[h5py.File], bool]) -> bool:
    with open_hdf5(source, path) as file:
        return is_of_layout(file)


class _Worker:
    """A running reader process."""

    def __init__(self) -> None:
        self.pid = os.getpid()
        self._connection, theirs = Pipe()
        path = os.pathsep.join(entry for entry in sys.path if entry)
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", MODULE, str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": path},
        )
        theirs.close()

    @property
    def is_usable(self) -> bool:
        """Whether it runs, and was started by this process and not by one it was forked from."""
        return self.pid == os.getpid() and self._process.poll() is None

    def ask(
        self, function: Callable[..., object], arguments: tuple[object, ...], most_cpu_s: float
    ) -> tuple[object, Exception | int | None]:
        """Return the reply; where the process ends over it, its exit code as the error."""
        try:
            self._connection.send((function, arguments, most_cpu_s))
            return cast("tuple[object, Exception | None]", self._connection.recv())
        except (EOFError, ConnectionError):
            return None, self._process.wait()

    def close(self) -> None:
        """End the process and wait for it; one that was started before a fork is left alone."""
        self._connection.close()
        if self.pid == os.getpid():
            self._process.kill()
            self._process.wait()


def _last_word(exit_code: int, most_cpu_s: float) -> str:
    if exit_code == -signal.SIGPROF:
        return f"no end of it within {most_cpu_s:.0f} s of computing"
    how = signal.Signals(-exit_code).name if exit_code < 0 else f"exit code {exit_code}"
    return f"the end of the process that read it ({how})"


_running: list[_Worker] = []
_ended: dict[Stamp, str] = {}
"""How files ended a process, so that they do it once and not for every look at them."""
_one_at_a_time = Lock()


@contextmanager
def _worker() -> Iterator[_Worker]:
    """Yield this process's reader process, started where there is none that works."""
    with _one_at_a_time:
        if not _running or not _running[0].is_usable:
            close_worker()
            _running.append(_Worker())
        yield _running[0]


def close_worker() -> None:
    """End the reader process, if there is one."""
    while _running:
        with suppress(OSError):
            _running.pop().close()


atexit.register(close_worker)
