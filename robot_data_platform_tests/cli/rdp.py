"""`rdp` run in this process, as from a shell: its exit code and what it wrote to both outputs."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

from click.testing import CliRunner

from robot_data_platform.cli.main import main

Json = Any
"""Whatever ``json.loads`` makes of a text."""

NOT_INHERITED = ("AWS_", "DAGSTER_", "RDP_")


@dataclass(frozen=True, slots=True)
class Done:
    """How a command ended."""

    exit_code: int
    out: str
    err: str

    def json(self) -> Json:
        """Return what it printed as JSON, which must be all that it printed."""
        return json.loads(self.out)

    def squeezed(self) -> str:
        """Return what it printed without spaces and line ends, wherever a table folded it."""
        return "".join(self.out.split())


def rdp(folder: Path, *arguments: object, **environment: str) -> Done:
    """Run `rdp` in ``folder`` with nothing of this process's lake, instance and keys."""
    absent = {name: None for name in os.environ if name.startswith(NOT_INHERITED)}
    command = ["rdp", *map(str, arguments)]
    with (
        contextlib.chdir(folder),
        mock.patch.object(sys, "argv", command),
        CliRunner().isolation(env={**absent, **environment}) as (out, err, _),
    ):
        exit_code = _exit_code()
        sys.stdout.flush()
        sys.stderr.flush()
        return Done(exit_code, out.getvalue().decode(), err.getvalue().decode())


def _exit_code() -> int:
    try:
        main()
    except SystemExit as end:
        # A message instead of a code is printed, and means 1.
        return end.code if isinstance(end.code, int) else 1
    return 0
