"""Small LeRobot v1 datasets: an Arrow stream, a video per episode, safetensors beside them."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from robot_data_platform_tests.formats.coded_video import write_video
from robot_data_platform_tests.formats.lerobot_files import FPS, TOP, Take

STREAM = "train/data-00000-of-00001.arrow"
BOUNDS = "meta_data/episode_data_index.safetensors"
INFO = "meta_data/info.json"
BATCH_ROWS = 4
"""Rows per record batch: less than an episode has."""
REFERENCE = pa.struct([("path", pa.string()), ("timestamp", pa.float32())])


def video_path(index: int, key: str = TOP) -> str:
    """Return the path of an episode's video."""
    return f"videos/{key}_episode_{index:06d}.mp4"


def rows_table(take: Take, first_row: int = 0, cameras: Sequence[str] = (TOP,)) -> pa.Table:
    """Return the rows of an episode, each with a reference to its frame."""
    rows = np.arange(take.num_rows)
    width = pa.list_(pa.float32(), 3)
    seconds = (rows / FPS).astype(np.float32)
    references = {
        key: pa.array(
            [{"path": video_path(take.index, key), "timestamp": float(s)} for s in seconds],
            REFERENCE,
        )
        for key in cameras
    }
    return pa.table(
        {
            **references,
            "observation.state": pa.array(take.state.tolist(), width),
            "action": pa.array((take.state + 0.5).tolist(), width),
            "episode_index": np.full_like(rows, take.index),
            "frame_index": rows,
            "timestamp": seconds,
            "next.done": rows == take.num_rows - 1,
            "index": rows + first_row,
        }
    )


def write_v1(root: Path, takes: Sequence[Take], cameras: Sequence[str] = (TOP,)) -> Path:
    """Write a dataset and return its root."""
    tables = []
    starts = [0]
    for take in takes:
        tables.append(rows_table(take, starts[-1], cameras))
        starts.append(starts[-1] + take.num_rows)
        for key in cameras:
            write_video(root / video_path(take.index, key), take.codes, FPS)
    write_stream(root / STREAM, pa.concat_tables(tables))
    write_vectors(root / BOUNDS, {"from": starts[:-1], "to": starts[1:]})
    write_json(root / INFO, {"fps": FPS, "video": 1})
    write_json(root / "train/state.json", {"_data_files": [{"filename": Path(STREAM).name}]})
    return root


def write_stream(path: Path, table: pa.Table) -> None:
    """Write an Arrow stream file in small batches."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, table.schema) as stream:
        stream.write_table(table, max_chunksize=BATCH_ROWS)


def read_stream(path: Path) -> pa.Table:
    """Return an Arrow stream file's rows."""
    with pa.OSFile(str(path), "rb") as file:
        return pa.ipc.open_stream(file).read_all()


def stream_to_parquet(root: Path) -> None:
    """Lay the rows out as they lie on the Hub."""
    (root / "data").mkdir()
    pq.write_table(read_stream(root / STREAM), root / "data/train-00000-of-00001.parquet")
    for name in (STREAM, "train/state.json"):
        (root / name).unlink()


def edit_stream(root: Path, **columns: object) -> None:
    """Replace columns of the stream."""
    table = read_stream(root / STREAM)
    for name, values in columns.items():
        column = pa.array(values, table.schema.field(name).type)
        table = table.set_column(table.column_names.index(name), name, column)
    write_stream(root / STREAM, table)


def write_vectors(path: Path, vectors: Mapping[str, Sequence[int]]) -> None:
    """Write int64 vectors as safetensors: length of the header, header, content."""
    header: dict[str, object] = {}
    content = b""
    for name, values in vectors.items():
        data = struct.pack(f"<{len(values)}q", *values)
        offsets = [len(content), len(content) + len(data)]
        header[name] = {"dtype": "I64", "shape": [len(values)], "data_offsets": offsets}
        content += data
    text = json.dumps(header).encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(struct.pack("<Q", len(text)) + text + content)


def write_json(path: Path, content: Mapping[str, object]) -> None:
    """Write a JSON file and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content))
