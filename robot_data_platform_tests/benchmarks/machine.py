"""What a figure must carry: machine, versions, commit and command. No names, no places."""

from __future__ import annotations

import os
import platform
import subprocess
from importlib.metadata import version
from pathlib import Path
from typing import Any

OWN = ("robot_data_platform", "pylance", "av", "numpy", "pyarrow")
PEERS = ("lerobot", "lerobot-lancedb", "lancedb", "daft", "torch", "torchcodec", "av")
_PROGRAM = (
    "import sys; from importlib.metadata import version; "
    "sys.stdout.write(' '.join(version(name) for name in sys.argv[1:]))"
)


def describe(repository: Path, peers_python: Path | None) -> dict[str, Any]:
    """Return the machine, the versions of what was measured, and the commit."""
    return {
        "machine": {
            "processor": _processor(),
            "cores": len(os.sched_getaffinity(0)),
            "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9),
            "system": f"{platform.system()} {platform.machine()}",
            "load_at_start": round(os.getloadavg()[0], 1),
        },
        "versions": {
            "python": platform.python_version(),
            **{name: version(name) for name in OWN},
            **({} if peers_python is None else _peer_versions(peers_python)),
        },
        "commit": _commit(repository),
    }


def _processor() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else "unknown"


def _peer_versions(python: Path) -> dict[str, str]:
    command = [str(python), "-c", _PROGRAM, *PEERS]
    found = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    return {f"peers: {name}": number for name, number in zip(PEERS, found, strict=True)}


def _commit(repository: Path) -> str:
    def git(*arguments: str) -> str:
        command = ["git", "-C", str(repository), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    changed = git("status", "--porcelain", "--untracked-files=no", "--", "robot_data_platform")
    return git("rev-parse", "--short=12", "HEAD") + (" with changes" if changed else "")
