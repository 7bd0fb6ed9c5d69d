"""Small LeRobot datasets in Lance, written with pylance as `lerobot-lancedb` 0.3 lays them out."""

from __future__ import annotations

import shutil
from pathlib import Path

import lance
import pyarrow as pa
import pyarrow.parquet as pq

from robot_data_platform_tests.formats.lerobot_files import V3Plan, edit_info, write_v3

BLOB = "video_bytes"


def write_lance(root: Path, plan: V3Plan, max_rows_per_file: int = 1 << 20) -> Path:
    """Write a dataset and return its root; ``plan`` says what is in it, as for a v3 dataset."""
    files = write_v3(root.with_name(f"{root.name}-files"), plan)
    shutil.copytree(files / "meta", root / "meta")
    edit_info(root, storage_format="lance")
    write_frames(root, files, max_rows_per_file)
    write_videos(root, sorted((files / "videos").rglob("*.mp4")))
    return root


def write_frames(root: Path, files: Path, max_rows_per_file: int = 1 << 20) -> None:
    """Write the rows of a v3 dataset's parquet files, with ``_`` in place of dots."""
    tables = [pq.read_table(path) for path in sorted((files / "data").rglob("*.parquet"))]
    table = pa.concat_tables(tables)
    _write(
        table.rename_columns([name.replace(".", "_") for name in table.column_names]),
        root / "frames.lance",
        max_rows_per_file,
    )


def write_videos(root: Path, paths: list[Path]) -> None:
    """Write videos as blobs, one row each, in the order given."""
    facts = [
        {
            "video_key": path.parts[-3],
            "chunk_index": int(path.parent.name.removeprefix("chunk-")),
            "file_index": int(path.stem.removeprefix("file-")),
        }
        for path in paths
    ]
    schema = pa.schema(
        [("video_key", pa.string()), ("chunk_index", pa.int64()), ("file_index", pa.int64())]
    )
    table = pa.Table.from_pylist(facts, schema).append_column(
        lance.blob_field(BLOB), lance.blob_array([path.read_bytes() for path in paths])
    )
    _write(table, root / "videos.lance", 1)


def _write(table: pa.Table, folder: Path, max_rows_per_file: int) -> None:
    lance.write_dataset(
        table,
        str(folder),
        data_storage_version="2.2",
        max_rows_per_file=max_rows_per_file,
    )
