"""The samples, ingested and released once per session by the very command of the demonstration."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from robot_data_platform.storage.lake import Lake

INSTANCE_FILES = ("dagster.yaml", "workspace.yaml")


@dataclass(frozen=True)
class Demonstration:
    """A folder in which `rdp demo` ran, and what it printed."""

    folder: Path
    printed: str

    @property
    def lake(self) -> Lake:
        """The lake that it filled."""
        return Lake(self.folder / ".rdp" / "lake")

    def rdp(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run `rdp` in the folder."""
        return run_rdp(self.folder, *arguments)

    def rdp_json(self, *arguments: str) -> object:
        """Run `rdp … --json` in the folder and return what it printed."""
        done = self.rdp(*arguments, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)


def run_rdp(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run `rdp` as a user would, in ``folder`` with nothing of this process's instance."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("RDP_", "DAGSTER_"))}
    program = Path(sys.executable).with_name("rdp")
    return subprocess.run(
        [str(program), *arguments],
        cwd=folder,
        env={**kept, **environment},
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )


@pytest.fixture(scope="session")
def demonstration(
    samples: Path, repository: Path, tmp_path_factory: pytest.TempPathFactory
) -> Demonstration:
    """The demonstration's lake, landing folder and Dagster instance in a folder of their own."""
    folder = tmp_path_factory.mktemp("demonstration")
    for name in INSTANCE_FILES:
        (folder / name).write_text((repository / name).read_text())
    done = run_rdp(folder, "demo", "--samples", str(samples))
    assert done.returncode == 0, done.stdout + done.stderr
    return Demonstration(folder, done.stdout)
