"""``rdp`` as an operator runs it beside the platform, with the platform's keys."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Operator:
    """Somebody with the lake's address and keys."""

    environment: Mapping[str, str]

    def rdp(self, *arguments: str) -> Any:  # noqa: ANN401 (JSON)
        """Return what a command of ``rdp`` prints as JSON."""
        done = subprocess.run(
            [str(Path(sys.executable).parent / "rdp"), *arguments, "--json"],
            env=dict(self.environment),
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        if done.returncode:
            raise AssertionError(f"rdp {' '.join(arguments)}: {done.stderr[-2000:]}")
        return json.loads(done.stdout)

    def release_of(self, dataset: str) -> str | None:
        """Return the name of the latest release of a dataset; None where there is none."""
        releases = self.rdp("release", "list", dataset)
        newest = max(releases, key=lambda release: int(release["created_ns"]), default=None)
        return newest and str(newest["release"])
