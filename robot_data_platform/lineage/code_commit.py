"""Which commit the training code was at."""

from __future__ import annotations

import subprocess
from pathlib import Path

GIT_TIMEOUT_S = 30
"""How long git may take on a large checkout; without an answer the commit is not known."""


def code_commit(folder: Path) -> str | None:
    """Return the git commit of a folder, with ``-dirty`` where it has changes; None without one.

    A file that git neither tracks nor ignores is a change too: it may be the script itself.
    """
    commit = _git(folder, "rev-parse", "HEAD")
    if not commit:
        return None
    return f"{commit}-dirty" if _git(folder, "status", "--porcelain") else commit


def _git(folder: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments],
            capture_output=True,
            text=True,
            check=False,
            timeout=GIT_TIMEOUT_S,
        )
    except (FileNotFoundError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
