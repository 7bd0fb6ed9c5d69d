"""Seconds that a fresh interpreter takes to import a module, its files being in memory."""

from __future__ import annotations

import subprocess
import sys

_PROGRAM = (
    "import sys, time; start = time.perf_counter(); __import__(sys.argv[1]); "
    "sys.stdout.write(str(time.perf_counter() - start))"
)


def import_seconds(module: str) -> float:
    """Return how long importing a module takes, the start of the interpreter left out."""
    command = [sys.executable, "-c", _PROGRAM, module]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
