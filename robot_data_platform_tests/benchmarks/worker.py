"""The driver's end of a worker process."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import IO

from robot_data_platform_tests.benchmarks.protocol import Reply

REPOSITORY = Path(__file__).parents[2]


class Worker:
    """One process that measures one thing at a time, on request.

    Parameters
    ----------
    python : Path or str
        The interpreter.
    module : str
        Module with the worker's handlers.
    log : Path
        Where its stderr goes.
    environment : mapping of str to str, optional
        Variables besides those of this process.
    """

    def __init__(
        self,
        python: Path | str,
        module: str,
        log: Path,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        log.parent.mkdir(parents=True, exist_ok=True)
        self._log = log
        with log.open("wb") as stderr:
            self._process = subprocess.Popen(
                [str(python), "-m", f"{__package__}.{module}"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                env={**os.environ, "PYTHONPATH": str(REPOSITORY), **(environment or {})},
                cwd=REPOSITORY,
            )

    def ask(self, op: str, **arguments: object) -> Reply:
        """Send a request and return the reply."""
        requests, replies = self._pipes()
        requests.write(json.dumps({"op": op, **arguments}).encode() + b"\n")
        requests.flush()
        line = replies.readline()
        if not line:
            self._process.wait()
            raise RuntimeError(f"Worker ended at {op!r}: {self._log.read_text()[-3000:]}")
        reply: Reply = json.loads(line)
        return reply

    def close(self) -> None:
        """End the process and wait for it."""
        requests, replies = self._pipes()
        requests.close()
        try:
            self._process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        replies.close()

    def _pipes(self) -> tuple[IO[bytes], IO[bytes]]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        return self._process.stdin, self._process.stdout

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()
