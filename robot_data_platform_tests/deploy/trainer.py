"""Runs a training script in an environment that has the base install and nothing else."""

from __future__ import annotations

import subprocess
import sys
import venv
from collections.abc import Mapping
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
SCRIPT = Path(__file__).with_name("training_script.py")


def install_reader(folder: Path) -> Path:
    """Install this project without extras into a new environment, and return its Python."""
    venv.create(folder)
    python = folder / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "-qq"]
    subprocess.run(
        [*pip, "--no-compile", "-c", str(REPOSITORY / "constraints.txt"), str(REPOSITORY)],
        check=True,
    )
    return python


def train(
    python: Path, dataset: str, release: str, model: str, environment: Mapping[str, str]
) -> str:
    """Train a model on a release and return what the script printed."""
    done = subprocess.run(
        [str(python), "-I", str(SCRIPT), dataset, release, model],
        env=dict(environment),
        cwd="/",
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    if done.returncode:
        raise AssertionError(f"the training script failed: {done.stderr[-3000:]}")
    return done.stdout
