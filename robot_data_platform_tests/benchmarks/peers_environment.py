"""The peers' own Python environment, made once."""

from __future__ import annotations

import os
import shutil
import subprocess
from hashlib import sha256
from pathlib import Path

REQUIREMENTS = Path(__file__).with_name("peers-requirements.txt")


def peers_python(folder: Path) -> Path:
    """Return the interpreter of the peers' environment, made in ``folder`` if it isn't there.

    Raises
    ------
    RuntimeError
        There is no Python 3.12 or no FFmpeg, or an installation failed.
    """
    python, stamp = folder / "bin" / "python", folder / "made-from"
    wanted = sha256(REQUIREMENTS.read_bytes()).hexdigest()
    if not stamp.is_file() or stamp.read_text() != wanted:
        _make(folder, python)
        stamp.write_text(wanted)
    _check_ffmpeg(python)
    return python


def _make(folder: Path, python: Path) -> None:
    if not python.is_file():
        _run([_python312(), "-m", "venv", str(folder)])
    # Compiled when first imported: most of it never is.
    _run([str(python), "-m", "pip", "install", "-q", "--no-compile", "-r", str(REQUIREMENTS)])


def _python312() -> str:
    named = os.environ.get("RDP_PEER_PYTHON")
    found = named or shutil.which("python3.12") or _managed()
    if not found:
        raise RuntimeError(
            "LeRobot 0.6 needs Python 3.12: got no python3.12 on PATH. Install it, name it in "
            "RDP_PEER_PYTHON, or measure without peers (--without-peers)."
        )
    return found


def _managed() -> str | None:
    """Return a Python 3.12 that pyenv installed."""
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    found = sorted(root.glob("versions/3.12.*/bin/python3.12"))
    return str(found[-1]) if found else None


def _check_ffmpeg(python: Path) -> None:
    try:
        _run([str(python), "-c", "import torchcodec.decoders"])
    except RuntimeError as err:
        raise RuntimeError(
            "torchcodec can't load FFmpeg's shared libraries: install them (Debian: package "
            f"ffmpeg), or measure without peers (--without-peers). It says: {err}"
        ) from err


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{command[1:4]} failed: {done.stderr[-1500:]}")
