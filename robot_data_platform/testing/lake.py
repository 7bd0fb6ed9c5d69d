"""Small real lakes with a model of what they hold, to compare a reader with.

Tables are written straight through storage; every picture carries its own number.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa

from robot_data_platform.core.gop import Gop, StreamFormat
from robot_data_platform.core.identity import gop_key, ref_id
from robot_data_platform.core.recording import CameraStream, Picture, PictureSequence
from robot_data_platform.core.schema import (
    CAMERA_PREFIX,
    camera_fields,
    frames_base_fields,
    table_schema,
    vector_field,
)
from robot_data_platform.storage.commit import append_rows, commit_fragments, write_rows
from robot_data_platform.storage.lake import Lake
from robot_data_platform.storage.predicate import equals
from robot_data_platform.storage.table import BLOB_COLUMN, LakeTable, blob_array
from robot_data_platform.testing.lake_model import (
    NO_PICTURE,
    EpisodeModel,
    LakeModel,
    LakeShape,
    first_number,
    model_episode,
)
from robot_data_platform.testing.pictures import numbered_picture
from robot_data_platform.video.cut import cut_stream
from robot_data_platform.video.settings import GopSettings

_PROPERTIES = {"rdp.asset": "built_lake"}
_RUN = {"run_id": "built", "code_version": "0"}


def build_lake(
    root: Path | str,
    dataset: str = "robot",
    *,
    num_episodes: int = 3,
    shape: LakeShape | None = None,
) -> LakeModel:
    """Write a dataset of one upload and return what it holds."""
    shape = shape or LakeShape()
    episodes = add_upload(root, dataset, "upload-1", 0, num_episodes, shape)
    return LakeModel(root=str(root), dataset=dataset, shape=shape, episodes=episodes)


def add_upload(
    root: Path | str,
    dataset: str,
    upload: str,
    first_episode_index: int,
    num_episodes: int,
    shape: LakeShape,
) -> tuple[EpisodeModel, ...]:
    """Append an upload's GOPs and rows, then publish its episodes in place of its older ones."""
    lake = Lake(root)
    episodes = tuple(
        model_episode(dataset, upload, first_episode_index + number, number, shape)
        for number in range(num_episodes)
    )
    gops = lake.ensure_gops(dataset)
    frames = lake.ensure_frames(dataset, frames_schema(shape))
    _append(gops, (b for e in episodes for b in _gop_batches(e, shape, gops.schema)))
    _append(frames, (b for e in episodes for b in _frame_batches(e, shape, frames.schema)))
    published = lake.ensure(dataset, "episodes")
    rows = pa.Table.from_pylist([_episode_row(e, shape) for e in episodes], published.schema)
    commit_fragments(
        published.uri,
        write_rows(published.uri, published.schema, rows.to_batches()),
        properties=_PROPERTIES,
        replace=equals("upload", upload),
    )
    return episodes


UNKNOWN = -1
"""Index of an episode that is released and not there."""


def release_lake(
    root: Path | str, dataset: str, release: str, split_by_episode_id: Mapping[str, str]
) -> None:
    """Release the dataset as it is, with an assignment of its own."""
    lake = Lake(root)
    assignment = f"as_{release}"
    splits = lake.ensure(dataset, "splits")
    held = lake.open(dataset, "episodes").read(["episode_id", "episode_index"]).to_pylist()
    index_by_id = {row["episode_id"]: row["episode_index"] for row in held}
    rows = [
        _split_row(splits.schema, assignment, episode, index_by_id.get(episode, UNKNOWN), split)
        for episode, split in split_by_episode_id.items()
    ]
    append_rows(splits.uri, pa.Table.from_pylist(rows, splits.schema), properties=_PROPERTIES)
    tables = [lake.open(dataset, name) for name in ("gops", "frames", "episodes", "splits")]
    for table in tables:
        table.add_tag(f"rel-{release}")
    releases = lake.ensure_catalog("releases")
    row = {
        "release_key": f"{dataset}/{release}",
        "dataset": dataset,
        "release": release,
        "digest": hashlib.sha256(release.encode()).hexdigest(),
        "assignment_id": assignment,
        "spec_json": "{}",
        "tables": [{"table": Path(t.uri).stem, "version": t.version} for t in tables],
        "num_episodes": len(split_by_episode_id),
        "num_rows": 0,
        "created_ns": 0,
        **_RUN,
    }
    append_rows(releases.uri, pa.Table.from_pylist([row], releases.schema), properties=_PROPERTIES)


def frames_schema(shape: LakeShape) -> pa.Schema:
    """Return the schema of ``frames`` for episodes of a shape."""
    return table_schema(
        [
            *frames_base_fields(),
            vector_field("observation_state", shape.state_width),
            vector_field("action", shape.action_width),
            vector_field("observation_gripper", 1),
            pa.field("observation_gripper_age_ns", pa.int64()),
            *(field for camera in shape.cameras for field in camera_fields(camera)),
        ]
    )


def _append(table: LakeTable, batches: Iterator[pa.RecordBatch]) -> None:
    commit_fragments(
        table.uri, write_rows(table.uri, table.schema, batches), properties=_PROPERTIES
    )


def _gop_batches(
    episode: EpisodeModel, shape: LakeShape, schema: pa.Schema
) -> Iterator[pa.RecordBatch]:
    plain = pa.schema([field for field in schema if field.name != BLOB_COLUMN])
    for camera_number, camera in enumerate(shape.cameras):
        stream = _stream(episode, camera, shape)
        settings = GopSettings(profile=shape.profile, gop_size=shape.gop_size, crf=12)
        cut = cut_stream(stream, settings)
        gops = list(cut.gops())
        ref = ref_id(episode.episode_index, camera_number)
        rows = [_gop_row(episode, stream, ref, gop, cut.format) for gop in gops]
        table = pa.Table.from_pylist(rows, plain)
        table = table.append_column(schema.field(BLOB_COLUMN), blob_array([g.data for g in gops]))
        yield from table.select(schema.names).cast(schema).to_batches()


def _stream(episode: EpisodeModel, camera: str, shape: LakeShape) -> CameraStream:
    first = first_number(episode.episode_index, camera, shape)
    time_ns = episode.timestamp_ns[:: shape.rows_per_picture]

    def read() -> Iterator[Picture]:
        for number in range(first, first + len(time_ns)):
            yield numbered_picture(number, shape.height_px, shape.width_px)

    pictures = PictureSequence(num_frames=len(time_ns), read=read)
    return CameraStream(name=camera, timestamp_ns=time_ns, pictures=pictures)


def _gop_row(
    episode: EpisodeModel, stream: CameraStream, ref: int, gop: Gop, form: StreamFormat
) -> dict[str, object]:
    packets = ("size_bytes", "display_index", "is_reference", "is_key")
    return {
        "gop_key": gop_key(ref, gop.gop_index),
        "ref_id": ref,
        "gop_index": gop.gop_index,
        "episode_index": episode.episode_index,
        "camera": stream.name,
        "first_frame": gop.first_frame,
        "num_frames": gop.num_frames,
        "pts_ns": stream.timestamp_ns[gop.first_frame : gop.first_frame + gop.num_frames],
        **{f"packet_{name}": getattr(gop.packets, name) for name in packets},
        **{name: getattr(form, name) for name in StreamFormat.__slots__},
        "sha256": hashlib.sha256(gop.data).hexdigest(),
    }


def _frame_batches(
    episode: EpisodeModel, shape: LakeShape, schema: pa.Schema
) -> list[pa.RecordBatch]:
    num_rows = episode.num_rows
    is_held = ~np.isnan(episode.gripper[:, 0])
    columns: dict[str, object] = {
        "episode_index": [episode.episode_index] * num_rows,
        "frame_index": np.arange(num_rows, dtype=np.int32),
        "timestamp_ns": episode.timestamp_ns,
        "task": [episode.task] * num_rows,
        "language_instruction": [None] * num_rows,
        "source": list(episode.source),
        "is_intervention": [s and s == "intervention" for s in episode.source],
        "observation_state": list(episode.state),
        "action": list(episode.action),
        "observation_gripper": [
            value if held else None for value, held in zip(episode.gripper, is_held, strict=True)
        ],
        "observation_gripper_age_ns": pa.array(np.arange(num_rows) - 2, mask=~is_held),
    }
    for camera_number, camera in enumerate(shape.cameras):
        columns |= _reference_columns(episode, camera, camera_number, shape)
    absent = [None] * num_rows
    arrays = [pa.array(columns.get(field.name, absent), field.type) for field in schema]
    batches: list[pa.RecordBatch] = pa.Table.from_arrays(arrays, schema=schema).to_batches()
    return batches


def _reference_columns(
    episode: EpisodeModel, camera: str, camera_number: int, shape: LakeShape
) -> dict[str, pa.Array]:
    number = episode.picture_number[camera]
    frame = number - first_number(episode.episode_index, camera, shape)
    values = {
        "ref_id": np.full(episode.num_rows, ref_id(episode.episode_index, camera_number)),
        "gop_index": (frame // shape.gop_size).astype(np.int32),
        "frame_index_in_gop": (frame % shape.gop_size).astype(np.int32),
        "offset_ns": np.zeros(episode.num_rows, dtype=np.int64),
    }
    return {
        f"{CAMERA_PREFIX}{camera}_{name}": pa.array(value, mask=number == NO_PICTURE)
        for name, value in values.items()
    }


def _episode_row(episode: EpisodeModel, shape: LakeShape) -> dict[str, object]:
    return {
        "episode_id": episode.episode_id,
        "episode_index": episode.episode_index,
        "source_key": episode.episode_id,
        "upload": episode.upload,
        "ingestion_id": f"in_{episode.upload}",
        "task": episode.task,
        "num_rows": episode.num_rows,
        "start_ns": int(episode.timestamp_ns[0]),
        "end_ns": int(episode.timestamp_ns[-1]),
        "control_hz": float(shape.control_hz) if episode.num_rows > 1 else None,
        "cameras": [_camera_facts(camera, shape) for camera in shape.cameras],
        "content_digest": episode.episode_id,
        "status": "ok",
        **_RUN,
    }


def _camera_facts(camera: str, shape: LakeShape) -> dict[str, object]:
    return {"name": camera, "width_px": shape.width_px, "height_px": shape.height_px}


def _split_row(
    schema: pa.Schema, assignment: str, episode: str, index: int, split: str
) -> dict[str, object]:
    texts = {field.name: "built" for field in schema if pa.types.is_string(field.type)}
    return {
        **texts,
        "assignment_id": assignment,
        "episode_id": episode,
        "episode_index": index,
        "split": split,
    }
