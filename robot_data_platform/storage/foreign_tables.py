"""Lance tables that others wrote, read through a process that their damage can't take along."""

from __future__ import annotations

import atexit
import base64
import json
import os
import select
import subprocess
import sys
import tempfile
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import IO, TYPE_CHECKING, cast

import pyarrow as pa

from robot_data_platform.errors import DataFaultError, ErrorKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

REPLY_TIMEOUT_S = 300
"""How long a reply may take: copying a video of some GB from a slow disk stays far below."""
ENDING_S = 5
"""How long a process that closed its pipe may take to say why."""
_MODULE = "robot_data_platform.storage.foreign_worker"
_FEW_THREADS = {"LANCE_CPU_THREADS": "2", "LANCE_IO_THREADS": "4", "TOKIO_WORKER_THREADS": "2"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignFragment:
    """Some rows of a table and the files that hold them."""

    number: int
    num_rows: int
    files: tuple[str, ...]
    """Relative to the table's folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignTable:
    """A table in a folder on this machine, at the version that was its latest."""

    folder: Path
    subject: str
    """What messages call it."""
    version: int
    schema: pa.Schema
    fragments: tuple[ForeignFragment, ...]

    def rows(
        self, fragment: int, columns: Sequence[str], start: int, stop: int, step: int
    ) -> Iterator[pa.RecordBatch]:
        """Yield rows of a fragment in stored order, with ``_rowid`` (uint64) as the last column.

        Parameters
        ----------
        fragment : int
            Number of the fragment.
        columns : sequence of str
            Columns wanted.
        start, stop : int
            Half-open range of the fragment's rows, deleted ones not counted.
        step : int
            Rows that are held in memory at a time.

        Raises
        ------
        DataFaultError
            ``unreadable-file``: the table is damaged.
        """
        if start >= stop:
            return
        with tempfile.TemporaryDirectory(prefix="rdp-rows-") as scratch:
            target = str(Path(scratch) / "rows.arrow")
            stretch = {"start": start, "stop": stop, "step": step, "target": target}
            self._ask("export_rows", fragment=fragment, columns=list(columns), **stretch)
            with pa.memory_map(target) as file, pa.ipc.open_stream(file) as batches:
                yield from batches

    def copy_blob(self, column: str, row_id: int, target: Path) -> None:
        """Write the blob of a row to a file.

        Raises
        ------
        DataFaultError
            ``unreadable-file``: the blob is null, damaged, or lies outside of the table.
        """
        self._ask("copy_blob", column=column, row_id=row_id, target=str(target))

    def _ask(self, operation: str, **arguments: object) -> None:
        request = {"folder": str(self.folder), "version": self.version, **arguments}
        _asked(self.subject, operation, **request)


def open_foreign_table(folder: Path, subject: str) -> ForeignTable:
    """Return the latest version of a table that somebody else wrote.

    Parameters
    ----------
    folder : Path
        The table's folder, named ``<table>.lance``.
    subject : str
        What messages call it.

    Raises
    ------
    DataFaultError
        ``unreadable-file``: no whole Lance table. ``unsafe-path``: files of it lie elsewhere.
    """
    said = _asked(subject, "open_table", folder=str(folder))
    if not said["is_inside"]:
        raise DataFaultError(
            f"{subject} leads out of its folder: got files at another base, expected all of them "
            "in it. Copy the table whole (`deep_clone`).",
            kind=ErrorKind.UNSAFE_PATH,
            path=folder.name,
        )
    schema = base64.b64decode(cast("str", said["schema"]))
    return ForeignTable(
        folder=folder,
        subject=subject,
        version=cast("int", said["version"]),
        schema=pa.ipc.read_schema(pa.py_buffer(schema)),
        fragments=tuple(
            ForeignFragment(number=number, num_rows=num_rows, files=tuple(files))
            for number, num_rows, files in cast(
                "list[tuple[int, int, list[str]]]", said["fragments"]
            )
        ),
    )


def _asked(subject: str, operation: str, **arguments: object) -> dict[str, object]:
    with _worker() as worker:
        reply = worker.ask({"operation": operation, **arguments})
    if "error" in reply:
        raise DataFaultError(
            f"{subject} can't be read: got {reply['error']!s:.300}, expected a whole Lance table. "
            "Upload it again from where it was written.",
            kind=ErrorKind.UNREADABLE_FILE,
            table=subject,
        )
    return reply


class _Worker:
    """A running reader process."""

    def __init__(self) -> None:
        self.pid = os.getpid()
        self._said: IO[bytes] = tempfile.TemporaryFile(prefix="rdp-lance-")  # noqa: SIM115
        path = os.pathsep.join(entry for entry in sys.path if entry)
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", _MODULE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
            env={**os.environ, **_FEW_THREADS, "PYTHONPATH": path, "RUST_BACKTRACE": "0"},
        )

    @property
    def is_usable(self) -> bool:
        """Whether it runs, and was started by this process and not by one it was forked from."""
        return self.pid == os.getpid() and self._process.poll() is None

    def ask(self, request: dict[str, object]) -> dict[str, object]:
        """Return the reply; where the process ends over it, what it said last as an ``error``."""
        requests, replies = self._process.stdin, self._process.stdout
        assert requests is not None
        assert replies is not None
        try:
            requests.write(json.dumps(request).encode() + b"\n")
            requests.flush()
            ready, _, _ = select.select([replies], [], [], REPLY_TIMEOUT_S)
            line = replies.readline() if ready else b""
        except BrokenPipeError:
            line = b""
        if line:
            return cast("dict[str, object]", json.loads(line))
        return {"error": f"the end of Lance's reader ({self._last_words()})"}

    def _last_words(self) -> str:
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(ENDING_S)
        self._process.kill()
        self._process.wait()
        self._said.seek(0)
        words = self._said.read().decode(errors="replace").split("\n")
        self.close()
        return next((w for w in reversed(words) if w and not w.startswith("note:")), "no word")

    def close(self) -> None:
        """End the process and wait for it; one that was started before a fork is left alone."""
        if self.pid == os.getpid():
            self._process.kill()
            self._process.communicate()
            self._said.close()


_running: list[_Worker] = []
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
        _running.pop().close()


atexit.register(close_worker)
