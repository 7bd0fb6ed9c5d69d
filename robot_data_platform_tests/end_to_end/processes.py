"""Ingestions in processes of their own, started at one moment and killed at another."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from robot_data_platform.compute.ingestion import Workplace
from robot_data_platform_tests.compute import uploads

Process = subprocess.Popen[str]


@contextmanager
def started(place: Workplace, upload: str, num_workers: int = 1) -> Iterator[Process]:
    """Start a process that is to ingest an upload; it begins when `go` is called.

    It has a session of its own, which `kill` ends with its workers.
    """
    command = [sys.executable, "-m", uploads.__name__, place.lake_root, place.landing_root]
    with subprocess.Popen(
        [*command, upload, str(num_workers)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
        cwd=Path(uploads.__file__).parents[2],
    ) as process:
        try:
            yield process
        finally:
            kill(process)


def go(*processes: Process) -> None:
    """Let ingestions begin, all at one moment: when the last process has loaded its code."""
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "waiting\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()


def kill(process: Process) -> None:
    """End a process and its workers by SIGKILL, unless it has ended."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
