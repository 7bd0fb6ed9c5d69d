"""Writes episodes as folders of parquet signals and mp4 cameras, each with its own time stamps."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

Int64s = npt.NDArray[np.int64]
Float32s = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """What held for ``start_ns <= t < end_ns``."""

    kind: str
    """``instruction`` or ``source``."""
    value: str
    start_ns: int
    end_ns: int


def write_signal(
    folder: Path, name: str, *, timestamp_ns: Int64s, values: Float32s, names: Sequence[str]
) -> None:
    """Write ``signals/<name>.parquet``: the clock, then one float32 column a joint."""
    columns = {"timestamp_ns": pa.array(timestamp_ns, pa.int64())}
    for joint, column in zip(names, values.T, strict=True):
        columns[joint] = pa.array(column, pa.float32())
    path = folder / "signals" / f"{name}.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), path, compression="zstd")


def write_timestamps(folder: Path, camera: str, timestamp_ns: Int64s) -> None:
    """Write ``cameras/<camera>.timestamps.json``: one time for each frame of the mp4."""
    content = {"clock": "host_monotonic_epoch", "timestamp_ns": timestamp_ns.tolist()}
    write_json(folder / "cameras" / f"{camera}.timestamps.json", content)


def write_events(folder: Path, labels: Sequence[Label]) -> None:
    """Write ``events.json``."""
    events = [
        {
            "kind": label.kind,
            "value": label.value,
            "start_ns": label.start_ns,
            "end_ns": label.end_ns,
        }
        for label in labels
    ]
    write_json(folder / "events.json", {"events": events}, indent=2)


def write_json(path: Path, content: Mapping[str, object], *, indent: int | None = None) -> None:
    """Write a JSON file and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=indent) + "\n", encoding="utf-8")
