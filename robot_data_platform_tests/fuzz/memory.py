"""Memory of a process and of those that it started, as the kernel counts it."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

PROC = Path("/proc")
KIB = 1024


def limit_writable(num_bytes: int) -> None:
    """Let this process have so much writable memory at most; files that are mapped don't count."""
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (num_bytes, hard))


def reset_peak() -> None:
    """Let the peak of this process and of its children start from what they hold now."""
    for pid in _family(os.getpid()):
        with suppress(OSError):
            (PROC / str(pid) / "clear_refs").write_text("5")  # proc(5): VmHWM


def peak_bytes() -> int:
    """Return the most that this process held since the reset, and its living children."""
    return sum(_peak_of(pid) for pid in _family(os.getpid()))


def _peak_of(pid: int) -> int:
    with suppress(OSError):
        for line in (PROC / str(pid) / "status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * KIB
    return 0


def _family(pid: int) -> Iterator[int]:
    yield pid
    with suppress(OSError):
        for task in (PROC / str(pid) / "task").iterdir():
            for child in (task / "children").read_text().split():
                yield from _family(int(child))
