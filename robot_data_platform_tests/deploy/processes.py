"""Services as processes: each a session of its own, as each container is a world of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from robot_data_platform_tests.deploy.programs import Program

STOP_TIMEOUT_S = 20
"""How long a service may take to end by itself."""


class NotWellError(AssertionError):
    """A service did not start, or something that has to happen did not."""


MARK = "RDP_CONTAINER"
"""Variable that tells which service a process belongs to, whoever started it."""


class Running:
    """A service's process and all that it started: what would be in its container."""

    def __init__(
        self, name: str, program: Program, folder: Path, environment: Mapping[str, str]
    ) -> None:
        self.log = folder / f"{name}.log"
        self._mark = f"{MARK}={folder}"
        with self.log.open("ab") as output:
            self._process = subprocess.Popen(
                program.command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env={**environment, **program.environment, MARK: str(folder)},
                user=program.user,
                cwd="/" if program.user else folder,
                start_new_session=True,
            )

    @property
    def exit_code(self) -> int | None:
        """What it ended with; None while it runs."""
        return self._process.poll()

    def wait(self, timeout_s: float) -> int:
        """Wait for its end and return the exit code."""
        return self._process.wait(timeout_s)

    def kill(self) -> None:
        """End it and all that it started by SIGKILL, as a machine that loses power."""
        for process in (self._process.pid, *members(self._mark)):
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        self._process.wait()

    def stop(self) -> None:
        """Ask it to end, then end what is left."""
        with suppress(subprocess.TimeoutExpired):
            self._process.terminate()
            self._process.wait(STOP_TIMEOUT_S)
        self.kill()

    def tail(self) -> str:
        """Return the end of what it printed."""
        return self.log.read_text(errors="replace")[-3000:]


def members(mark: str) -> list[int]:
    """Return the processes with a variable of this beginning in their environment."""
    return [
        int(path.parent.name)
        for path in Path("/proc").glob("[0-9]*/environ")
        if _starts_in(path, mark.encode())
    ]


def _starts_in(path: Path, mark: bytes) -> bool:
    try:
        return any(variable.startswith(mark) for variable in path.read_bytes().split(b"\0"))
    except OSError:
        # It ended meanwhile.
        return False


def wait_until(
    what: str, is_so: Callable[[], object], timeout_s: float, pause_s: float = 0.3
) -> None:
    """Wait until something holds.

    Raises
    ------
    NotWellError
        It does not within the time.
    """
    deadline = time.monotonic() + timeout_s
    while not is_so():
        if time.monotonic() > deadline:
            raise NotWellError(f"{what}: not within {timeout_s:.0f} s")
        time.sleep(pause_s)
