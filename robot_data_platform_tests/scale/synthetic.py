"""Rows of synthetic uploads, after the rows of a template: real tables, every key of its own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from robot_data_platform.core.identity import CAMERA_BITS, GOP_INDEX_BITS, episode_id
from robot_data_platform.core.measurement_schema import MEASUREMENTS
from robot_data_platform.core.schema import CAMERA_PREFIX, signal_names
from robot_data_platform.core.time_base import NS_PER_S
from robot_data_platform.storage.table import BLOB_COLUMN, blob_array
from robot_data_platform_tests.scale.columns import filled, hex_texts, lists, structs
from robot_data_platform_tests.scale.template import DATASET, Template

TASKS = ("fold the towel", "insert the plug", "pick the cube", "open the drawer")
ROBOTS = ("aloha", "so101")
MAX_ROWS = 3
SKETCH_SIZE = 64
"""Hashes that an episode of usual length has; those of three rows would be three."""
EPISODES_PER_FILE = 250
FLAGGED_EVERY = 50
START_NS = 1_735_689_600 * NS_PER_S
"""2025-01-01 UTC."""

Int64Array = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """A synthetic upload: which episodes it brings."""

    number: int
    first_episode_index: int
    num_episodes: int

    @property
    def name(self) -> str:
        """Its name; names sort in the order of arrival."""
        return f"20260101t{self.number:06d}z-{DATASET}-0000"

    @property
    def ingestion_id(self) -> str:
        """Id of its only ingestion."""
        return f"in_{self.number:024x}"

    @property
    def run_id(self) -> str:
        """Id of the run that ingested it."""
        return f"run-{self.number:06d}"

    @property
    def created_ns(self) -> int:
        """When it was registered."""
        return START_NS + self.number * 3600 * NS_PER_S

    @property
    def episode_index(self) -> Int64Array:
        """(E,) its episodes."""
        return self.first_episode_index + np.arange(self.num_episodes)

    @property
    def num_rows(self) -> Int64Array:
        """(E,) rows of each."""
        return 1 + self.episode_index % MAX_ROWS


def upload_tables(template: Template, upload: Upload) -> dict[str, pa.Table]:
    """Return the rows of one upload by table, in the order in which they are published."""
    rng = np.random.default_rng(upload.number)
    digests = hex_texts(rng, upload.num_episodes, 32)
    ids = [episode_id(DATASET, upload.name, key) for key in _source_keys(upload)]
    return {
        "gops": _gops(template, upload),
        "frames": _frames(template, upload, rng),
        "episodes": _episodes(template, upload, ids, digests, rng),
        MEASUREMENTS: _measurements(template, upload, digests, rng),
        "quality": _findings(template, upload, ids),
    }


def _source_keys(upload: Upload) -> list[str]:
    return [f"episode_{number:06d}" for number in range(upload.num_episodes)]


def _gops(template: Template, upload: Upload) -> pa.Table:
    ref_id = upload.episode_index << CAMERA_BITS
    columns = {
        "gop_key": ref_id << GOP_INDEX_BITS,
        "ref_id": ref_id,
        "episode_index": upload.episode_index,
        BLOB_COLUMN: blob_array([template.blob] * upload.num_episodes),
    }
    return filled(template.schema("gops"), columns, template.gop, upload.num_episodes)


def _frames(template: Template, upload: Upload, rng: np.random.Generator) -> pa.Table:
    schema = template.schema("frames")
    episode = np.repeat(upload.episode_index, upload.num_rows)
    first = np.repeat(np.cumsum(upload.num_rows) - upload.num_rows, upload.num_rows)
    step = np.arange(len(episode)) - first
    prefix = f"{CAMERA_PREFIX}wrist"
    columns = {
        "episode_index": episode,
        "frame_index": step.astype(np.int32),
        "timestamp_ns": START_NS + episode * NS_PER_S + step * (NS_PER_S // 50),
        "task": pa.array(TASKS).take(pa.array(episode % len(TASKS))),
        f"{prefix}_ref_id": episode << CAMERA_BITS,
        f"{prefix}_frame_index_in_gop": step.astype(np.int32),
        **{name: _vectors(schema.field(name), len(step), rng) for name in signal_names(schema)},
    }
    return filled(schema, columns, template.frame, len(step))


def _vectors(field: pa.Field, num_rows: int, rng: np.random.Generator) -> pa.Array:
    width = field.type.list_size
    values = pa.array(rng.random(num_rows * width, np.float32))
    return pa.FixedSizeListArray.from_arrays(values, width)


def _episodes(
    template: Template,
    upload: Upload,
    ids: list[str],
    digests: pa.Array,
    rng: np.random.Generator,
) -> pa.Table:
    schema, index = template.schema("episodes"), upload.episode_index
    is_flagged = index % FLAGGED_EVERY == 0
    start_ns = START_NS + index * NS_PER_S
    columns = {
        "episode_id": ids,
        "episode_index": index,
        "source_key": _source_keys(upload),
        "task": pa.array(TASKS).take(pa.array(index % len(TASKS))),
        "robot": pa.array(ROBOTS).take(pa.array(index % len(ROBOTS))),
        "num_rows": upload.num_rows,
        "start_ns": start_ns,
        "end_ns": start_ns + (upload.num_rows - 1) * (NS_PER_S // 50),
        "content_digest": digests,
        "status": pa.array(["ok", "flagged"]).take(pa.array(is_flagged.astype(np.int8))),
        "q_num_warn": is_flagged.astype(np.int32),
        "cameras": _cameras(template, schema.field("cameras").type, index),
        "statistics": _statistics(template, schema.field("statistics").type, len(index), rng),
        **_sources(upload),
    }
    row = {
        **template.episode,
        "upload": upload.name,
        "ingestion_id": upload.ingestion_id,
        "run_id": upload.run_id,
    }
    return filled(schema, columns, row, upload.num_episodes)


def _cameras(template: Template, kind: pa.DataType, index: Int64Array) -> pa.Array:
    (camera,) = template.episode["cameras"]
    fields = kind.value_type
    members = {
        fields.field(n).name: pa.repeat(pa.scalar(camera[fields.field(n).name]), len(index))
        for n in range(fields.num_fields)
    }
    members["ref_id"] = pa.array(index << CAMERA_BITS)
    return lists(structs(fields, members), np.ones(len(index), np.int64))


def _statistics(
    template: Template, kind: pa.DataType, num_episodes: int, rng: np.random.Generator
) -> pa.Array:
    stated = template.episode["statistics"]
    widths = np.array([len(one["min"]) for one in stated])
    num = num_episodes * len(stated)

    def numbers(low: float) -> pa.Array:
        return lists(
            pa.array(low + rng.random(int(widths.sum()) * num_episodes)),
            np.tile(widths, num_episodes),
        )

    members = {
        "signal": pa.array([one["signal"] for one in stated] * num_episodes),
        "count": pa.repeat(pa.scalar(MAX_ROWS), num),
        "num_not_finite": pa.repeat(pa.scalar(0), num),
        **{name: numbers(low) for name, low in (("min", -2), ("max", 1), ("mean", 0), ("std", 0))},
    }
    return lists(structs(kind.value_type, members), np.full(num_episodes, len(stated)))


def _sources(upload: Upload) -> dict[str, pa.Array]:
    """Return path and hash of the files of each episode: three, which many episodes share."""
    file = np.arange(upload.num_episodes) // EPISODES_PER_FILE
    num_files = int(file[-1]) + 1
    kinds = ("data/chunk-000/file-{:03d}.parquet", "videos/wrist/file-{:03d}.mp4", "meta/info.json")
    paths = [kind.format(number) for number in range(num_files) for kind in kinds]
    hashes = hex_texts(np.random.default_rng((upload.number, 1)), len(paths), 32)
    entry = pa.array((file[:, None] * len(kinds) + np.arange(len(kinds))).ravel())
    lengths = np.full(upload.num_episodes, len(kinds))
    return {
        "source_paths": lists(pa.array(paths).take(entry), lengths),
        "source_sha256": lists(hashes.take(entry), lengths),
    }


def _measurements(
    template: Template, upload: Upload, digests: pa.Array, rng: np.random.Generator
) -> pa.Table:
    num = upload.num_episodes
    schema = template.schema(MEASUREMENTS)
    (own,) = (row for row in template.measurements if row["camera"] is None)
    (camera,) = (row for row in template.measurements if row["camera"] is not None)
    sketch = np.sort(rng.integers(0, 1 << 62, (num, SKETCH_SIZE)), axis=1)
    keys = {"content_digest": digests, "episode_index": upload.episode_index}
    of_rows = {
        "digest": hex_texts(rng, num, 32),
        "sketch": lists(pa.array(sketch.ravel()), np.full(num, SKETCH_SIZE)),
        "num_distinct_rows": np.full(num, SKETCH_SIZE),
    }
    parts = [
        filled(schema, keys | of_rows, own, num),
        filled(schema, keys | {"digest": hex_texts(rng, num, 32)}, camera, num),
    ]
    return pa.concat_tables(parts)


def _findings(template: Template, upload: Upload, ids: list[str]) -> pa.Table:
    index = upload.episode_index
    flagged = index % FLAGGED_EVERY == 0
    row = {
        "upload": upload.name,
        "stage": "quality",
        "rules_version": template.episode["q_version"],
        "rule": "no_sample_is_missing",
        "severity": "warn",
        "value": 3.0,
        "threshold": 2.0,
        "unit": "samples",
        "where": "signal=action",
        "message": "Samples are missing.",
    }
    columns = {
        "episode_index": index[flagged],
        "episode_id": pa.array(ids).filter(pa.array(flagged)),
    }
    return filled(template.schema("quality"), columns, row, int(np.count_nonzero(flagged)))
