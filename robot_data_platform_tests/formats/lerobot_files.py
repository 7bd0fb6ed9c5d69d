"""Small LeRobot datasets, written with pyarrow: every value and picture names its own row."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from robot_data_platform_tests.formats.coded_video import HEIGHT_PX, WIDTH_PX, write_video

Content = Mapping[str, object]
TOP = "observation.images.top"
V2_DATA = "data/chunk-{episode_chunk:03d}/episode_{episode_index:06d}.parquet"
V2_VIDEO = "videos/chunk-{episode_chunk:03d}/{video_key}/episode_{episode_index:06d}.mp4"
V3_DATA = "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet"
V3_VIDEO = "videos/{video_key}/chunk-{chunk_index:03d}/file-{file_index:03d}.mp4"
FPS = 30
TASKS = ("pick the red cube", "place the blue cube")


@dataclass(frozen=True, slots=True, kw_only=True)
class Take:
    """One episode to write."""

    index: int
    num_rows: int
    task: int = 0

    @property
    def codes(self) -> list[int]:
        """The number that each of its pictures spells."""
        return [self.index * 100 + row for row in range(self.num_rows)]

    @property
    def state(self) -> npt.NDArray[np.float32]:
        """(N, 3) episode, row, and both in one."""
        rows = np.arange(self.num_rows)
        columns = [np.full_like(rows, self.index), rows, self.index * 100 + rows]
        return np.stack(columns, axis=1).astype(np.float32)


@dataclass(frozen=True, slots=True, kw_only=True)
class V3Plan:
    """Where the rows and pictures of a v3 dataset go; numbers are positions in ``takes``."""

    takes: Sequence[Take]
    data_files: Sequence[Sequence[int]]
    """Episodes in each data file."""
    video_files: Mapping[str, Sequence[Sequence[int]]] = field(default_factory=dict)
    """By camera: episodes in each video file."""
    extra_frames: Mapping[int, int] = field(default_factory=dict)
    """Frames after an episode that no row refers to."""


def rows_table(take: Take, first_row: int = 0, is_fixed: bool = True) -> pa.Table:
    """Return the rows of an episode; state and action as fixed or variable lists."""
    rows = np.arange(take.num_rows)
    width = pa.list_(pa.float32(), 3) if is_fixed else pa.list_(pa.float32())
    return pa.table(
        {
            "observation.state": pa.array(take.state.tolist(), width),
            "action": pa.array((take.state + 0.5).tolist(), width),
            "timestamp": (rows / FPS).astype(np.float32),
            "frame_index": rows,
            "episode_index": np.full_like(rows, take.index),
            "index": rows + first_row,
            "task_index": np.full_like(rows, take.task),
        }
    )


def features(cameras: Sequence[str], dtype: str = "video") -> dict[str, object]:
    """Return the ``features`` of ``info.json``."""
    vector = {"dtype": "float32", "shape": [3], "names": ["episode", "row", "both"]}
    picture = {
        "dtype": dtype,
        "shape": [HEIGHT_PX, WIDTH_PX, 3],
        "names": ["height", "width", "channels"],
        "info": {"video.codec": "h264", "video.fps": FPS},
    }
    return {"observation.state": vector, "action": vector, **dict.fromkeys(cameras, picture)}


def write_v2(
    root: Path,
    takes: Sequence[Take],
    *,
    version: str = "v2.1",
    cameras: Sequence[str] = (TOP,),
    info: Content | None = None,
    is_fixed: bool = True,
) -> Path:
    """Write a v2 dataset and return its root."""
    first = 0
    for take in takes:
        places = {"episode_chunk": 0, "episode_index": take.index}
        write_parquet(root / V2_DATA.format(**places), rows_table(take, first, is_fixed))
        for key in cameras:
            write_video(root / V2_VIDEO.format(video_key=key, **places), take.codes, FPS)
        first += take.num_rows
    episodes = [
        {"episode_index": t.index, "tasks": [TASKS[t.task]], "length": t.num_rows} for t in takes
    ]
    write_lines(root / "meta/episodes.jsonl", episodes)
    tasks = [{"task_index": i, "task": text} for i, text in enumerate(TASKS)]
    write_lines(root / "meta/tasks.jsonl", tasks)
    own = {"codebase_version": version, "data_path": V2_DATA, "video_path": V2_VIDEO}
    _write_info(root, takes, {**own, "features": features(cameras), **(info or {})})
    return root


def write_v3(root: Path, plan: V3Plan, info: Content | None = None) -> Path:
    """Write a v3 dataset and return its root."""
    for number, members in enumerate(plan.data_files):
        tables = [rows_table(plan.takes[m]) for m in members]
        write_parquet(root / data_file(number), pa.concat_tables(tables))
    for key, files in plan.video_files.items():
        for number, members in enumerate(files):
            write_video(root / video_file(key, number), _codes(plan, members), FPS)
    write_parquet(root / "meta/episodes/chunk-000/file-000.parquet", episode_rows(plan))
    tasks = {"task_index": range(len(TASKS)), "task": TASKS}
    write_parquet(root / "meta/tasks.parquet", pa.table({k: list(v) for k, v in tasks.items()}))
    own = {"codebase_version": "v3.0", "data_path": V3_DATA, "video_path": V3_VIDEO}
    described = {"features": features(tuple(plan.video_files))}
    _write_info(root, plan.takes, {**own, **described, **(info or {})})
    return root


def episode_rows(plan: V3Plan) -> pa.Table:
    """Return ``meta/episodes`` of a plan."""
    rows = []
    first = 0
    for position, take in enumerate(plan.takes):
        row: dict[str, object] = {
            "episode_index": take.index,
            "tasks": [TASKS[take.task]],
            "length": take.num_rows,
            "data/chunk_index": 0,
            "data/file_index": _file_of(position, plan.data_files),
            "dataset_from_index": first,
            "dataset_to_index": first + take.num_rows,
        }
        first += take.num_rows
        for key, files in plan.video_files.items():
            start = _frames_before(position, files, plan) / FPS
            row[f"videos/{key}/chunk_index"] = 0
            row[f"videos/{key}/file_index"] = _file_of(position, files)
            row[f"videos/{key}/from_timestamp"] = start
            row[f"videos/{key}/to_timestamp"] = start + take.num_rows / FPS
        rows.append(row)
    return pa.Table.from_pylist(rows)


def data_file(number: int) -> str:
    """Return the path of a v3 data file."""
    return V3_DATA.format(chunk_index=0, file_index=number)


def video_file(key: str, number: int) -> str:
    """Return the path of a v3 video file."""
    return V3_VIDEO.format(video_key=key, chunk_index=0, file_index=number)


def write_parquet(path: Path, table: pa.Table) -> None:
    """Write a table and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, path)


def write_lines(path: Path, objects: Sequence[Content]) -> None:
    """Write JSON lines and the folders above them."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(o) + "\n" for o in objects))


def edit_info(root: Path, **values: object) -> None:
    """Change keys of ``meta/info.json``."""
    path = root / "meta/info.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))


def edit_parquet(path: Path, **columns: object) -> None:
    """Replace columns of a parquet file; None drops one."""
    table = pq.read_table(path)
    for name, values in columns.items():
        if values is None:
            table = table.drop_columns([name])
        elif name in table.column_names:
            table = table.set_column(table.column_names.index(name), name, pa.array(values))
        else:
            table = table.append_column(name, pa.array(values))
    pq.write_table(table, path)


def _write_info(root: Path, takes: Sequence[Take], content: Content) -> None:
    totals = {
        "total_episodes": len(takes),
        "total_frames": sum(take.num_rows for take in takes),
        "chunks_size": 1000,
        "fps": FPS,
        "robot_type": "test_arm",
    }
    path = root / "meta/info.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({**totals, **content}))


def _codes(plan: V3Plan, members: Sequence[int]) -> list[int]:
    codes: list[int] = []
    for member in members:
        codes += plan.takes[member].codes + [0xFFFF] * plan.extra_frames.get(member, 0)
    return codes


def _file_of(position: int, files: Sequence[Sequence[int]]) -> int:
    return next(number for number, members in enumerate(files) if position in members)


def _frames_before(position: int, files: Sequence[Sequence[int]], plan: V3Plan) -> int:
    members = files[_file_of(position, files)]
    return len(_codes(plan, members[: list(members).index(position)]))
