"""Small uploads of signals alone, with the names, units and rates that a test is about."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from robot_data_platform.compute.ingestion import Workplace

Columns = Mapping[str, npt.NDArray[np.float32]]
"""Values by name of the dimension, in the order of the file."""

NUM_ROWS = 12


def waves(*names: str) -> Columns:
    """Return a column of its own for each name, whatever the order they are asked in."""
    rows = np.arange(NUM_ROWS) / 10
    return {name: np.sin(rows + sum(name.encode())).astype(np.float32) for name in names}


def land_signals(
    place: Workplace,
    upload: str,
    *states: Columns,
    dataset: str = "robot",
    profile: str | None = None,
    control_hz: float = 50,
) -> None:
    """Land an upload with one episode per state; one of the same id is replaced."""
    landing = Path(place.landing_root)
    draft = landing / ".drafts" / upload
    for number, state in enumerate(states):
        _write_episode(draft / "episodes" / f"episode_{number:03d}", state, control_hz)
    (landing / "_uploads" / f"{upload}.json").unlink(missing_ok=True)
    for path in sorted((landing / dataset / upload).rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    place.landing.put(draft, dataset, upload, profile=profile)
    for path in sorted(draft.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()


def _write_episode(folder: Path, state: Columns, control_hz: float) -> None:
    step_ns = round(1e9 / control_hz)
    (folder / "signals").mkdir(parents=True)
    (folder / "episode.json").write_text(json.dumps({"task": "reach", "robot": "arm"}))
    times = 1_700_000_000 * 10**9 + np.arange(NUM_ROWS, dtype=np.int64) * step_ns
    pq.write_table(pa.table({"timestamp_ns": times, **state}), folder / "signals" / "state.parquet")
