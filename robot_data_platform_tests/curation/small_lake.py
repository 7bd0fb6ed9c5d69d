"""A lake written by hand: episodes of a few rows, with blobs of a few bytes."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from robot_data_platform.core import schema
from robot_data_platform.core.identity import episode_id, gop_key, ref_id
from robot_data_platform.core.run import RunInfo
from robot_data_platform.storage.commit import append_rows, commit_fragments, write_rows
from robot_data_platform.storage.lake import Lake
from robot_data_platform.storage.predicate import equals
from robot_data_platform.storage.table import LakeTable, blob_array

NUM_ROWS = 3
GOPS_PER_EPISODE = 2
RUN = RunInfo(run_id="run-1", asset="test", partition="u1", code_version="7", created_ns=1000)


def run_named(run_id: str, created_ns: int = 1000) -> RunInfo:
    return replace(RUN, run_id=run_id, created_ns=created_ns)


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """What a test wants to say of an episode; the rest is filled in."""

    key: str
    upload: str = "u1"
    task: str | None = "fold"
    robot: str | None = "aloha"
    content: str = "c"
    status: str = "ok"
    num_rows: int = NUM_ROWS
    num_warn: int | None = 0
    num_fail: int | None = 0

    def id_in(self, dataset: str) -> str:
        return episode_id(dataset, self.upload, self.key)


def episodes_named(names: str, **facts: object) -> list[Episode]:
    """Return an episode for each letter, all with the same facts."""
    return [replace(Episode(key=name), **facts) for name in names]  # type: ignore[arg-type]


class SmallLake:
    """A lake in a folder, and the only writer of it besides the code under test."""

    def __init__(self, root: str, dataset: str = "aloha") -> None:
        self.lake = Lake(root)
        self.dataset = dataset
        self._next_index = 0

    def reserve(self, num_episodes: int) -> int:
        """Take the next episode indices, as an ingestion does when it starts; return the first."""
        self._next_index += num_episodes
        return self._next_index - num_episodes

    def ingest(self, episodes: Sequence[Episode], first: int | None = None) -> None:
        """Publish episodes; one that is there already leaves in the same commit."""
        first = self.reserve(len(episodes)) if first is None else first
        indexed = list(enumerate(episodes, first))
        self._write_gops(indexed)
        self._write_frames(indexed)
        table = self.lake.ensure(self.dataset, "episodes")
        rows = pa.Table.from_pylist(
            [self._episode_row(index, episode) for index, episode in indexed], schema=table.schema
        )
        ids = ", ".join(f"'{episode.id_in(self.dataset)}'" for episode in episodes)
        commit_fragments(
            table.uri,
            write_rows(table.uri, table.schema, rows.to_batches()),
            properties={},
            replace=f"episode_id IN ({ids})",
        )
        self._write_uploads(sorted({episode.upload for episode in episodes}), first)

    def _write_gops(self, indexed: Sequence[tuple[int, Episode]]) -> None:
        table = self.lake.ensure_gops(self.dataset)
        rows = [
            gop_row(index, number) for index, _ in indexed for number in range(GOPS_PER_EPISODE)
        ]
        append_gops(table, rows, [payload(row) for row in rows])

    def _write_frames(self, indexed: Sequence[tuple[int, Episode]]) -> None:
        columns = schema.table_schema(schema.frames_base_fields())
        table = self.lake.ensure_frames(self.dataset, columns)
        rows = [
            {"episode_index": index, "frame_index": row, "timestamp_ns": row}
            for index, episode in indexed
            for row in range(episode.num_rows)
        ]
        append_rows(table.uri, pa.Table.from_pylist(rows, schema=table.schema), properties={})

    def _episode_row(self, index: int, episode: Episode) -> dict[str, object]:
        camera = {"name": "top", "ref_id": ref_id(index, 0), "num_gops": GOPS_PER_EPISODE}
        return {
            "episode_id": episode.id_in(self.dataset),
            "episode_index": index,
            "source_key": episode.key,
            "upload": episode.upload,
            "ingestion_id": f"ing-{episode.upload}",
            "task": episode.task,
            "robot": episode.robot,
            "source_paths": [f"{episode.key}.mp4", "meta.json"],
            "source_sha256": [sha256_of(episode.key), sha256_of(episode.upload)],
            "num_rows": episode.num_rows,
            "cameras": [camera],
            "content_digest": episode.content + episode.key,
            "status": episode.status,
            "run_id": f"ingest-{episode.upload}",
            "code_version": "7",
            "q_num_info": 0,
            "q_num_warn": episode.num_warn,
            "q_num_fail": episode.num_fail,
        }

    def _write_uploads(self, uploads: Sequence[str], first: int) -> None:
        table = self.lake.ensure_catalog("uploads")
        rows = [
            {
                "ingestion_id": f"{self.dataset}-{upload}-{first}",
                "dataset": self.dataset,
                "upload": upload,
                "manifest_sha256": "m",
                "format": "rawlog",
                "first_episode_index": first,
                "num_episodes": 1,
                "created_ns": 1,
                "run_id": f"ingest-{upload}",
                "code_version": "7",
            }
            for upload in uploads
        ]
        append_rows(table.uri, pa.Table.from_pylist(rows, schema=table.schema), properties={})


def sha256_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def payload(row: dict[str, object]) -> bytes:
    return f"blob {row['gop_key']}".encode()


def gop_row(episode_index: int, number: int) -> dict[str, object]:
    stream = ref_id(episode_index, 0)
    row: dict[str, object] = {
        "gop_key": gop_key(stream, number),
        "ref_id": stream,
        "gop_index": number,
        "episode_index": episode_index,
        "camera": "top",
        "first_frame": 0,
        "num_frames": 1,
        "codec": "h264",
        "profile": "anchored",
        "pix_fmt": "yuv420p",
        "sha256": "",
    }
    sizes = ("width_px", "height_px", "coded_width_px", "coded_height_px")
    colors = ("color_range", "color_space", "color_primaries", "color_trc")
    row |= dict.fromkeys((*sizes, *colors), 2)
    return row | {"sha256": hashlib.sha256(payload(row)).hexdigest()}


def append_gops(table: LakeTable, rows: list[dict[str, object]], blobs: list[bytes]) -> None:
    """Append GOP rows with the given bytes, whatever hash the rows state."""
    columns = pa.Table.from_pylist(rows, schema=schema.gops_schema())
    data = [*(column.combine_chunks() for column in columns.columns), blob_array(blobs)]
    batch = pa.RecordBatch.from_arrays(data, schema=table.schema)
    if rows:
        commit_fragments(table.uri, write_rows(table.uri, table.schema, [batch]), properties={})


def replace_gop(lake: Lake, dataset: str, row: dict[str, object], blob: bytes) -> None:
    """Replace the bytes of one GOP and leave what its row says."""
    table = lake.open(dataset, "gops")
    columns = pa.Table.from_pylist([row], schema=schema.gops_schema())
    data = [*(column.combine_chunks() for column in columns.columns), blob_array([blob])]
    batch = pa.RecordBatch.from_arrays(data, schema=table.schema)
    commit_fragments(
        table.uri,
        write_rows(table.uri, table.schema, [batch]),
        properties={},
        replace=equals("gop_key", int(str(row["gop_key"]))),
    )
