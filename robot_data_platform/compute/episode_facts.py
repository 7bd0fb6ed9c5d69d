"""What is measured of one episode, from its rows and its GOPs, as a row of ``episodes``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from robot_data_platform.core.alignment import rate_hz
from robot_data_platform.core.calibration_json import (
    calibrations_from_json,
    calibrations_to_json,
)
from robot_data_platform.core.finding import (
    STATUS_FLAGGED,
    STATUS_OK,
    STATUS_QUARANTINED,
)
from robot_data_platform.core.fingerprint import digest as digest_of
from robot_data_platform.core.fingerprint import table_digest
from robot_data_platform.core.schema import (
    CAMERA_PREFIX,
    camera_names,
    signal_names,
)
from robot_data_platform.core.statistics import signal_statistics
from robot_data_platform.errors import ErrorKind, NotFoundError
from robot_data_platform.storage.predicate import all_of, in_range, in_slot

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    import numpy.typing as npt

    from robot_data_platform.compute.ingestion import (
        BatchTask,
        EpisodeTask,
    )
    from robot_data_platform.core.run import RunInfo


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribeTask:
    """Episodes to describe from what the tables hold at fixed versions."""

    batch: BatchTask
    frames_version: int
    gops_version: int
    run: RunInfo
    sha256_by_path: Mapping[str, str]
    reason_by_index: Mapping[int, str]
    """Why an episode is in quarantine."""
    doubt_by_index: Mapping[int, str]
    """Why an episode is flagged."""


def describe_batch(task: DescribeTask) -> list[dict[str, object]]:
    """Return the ``episodes`` rows of some episodes (runs in a worker)."""
    ingestion, episodes = task.batch.ingestion, task.batch.episodes
    lake = ingestion.workplace.lake
    where = in_range("episode_index", episodes[0].episode_index, episodes[-1].episode_index + 1)
    frames = lake.open(ingestion.dataset, "frames", task.frames_version).read(where=where)
    gop_columns = ["episode_index", "camera", "ref_id", "gop_index", "num_frames", "pts_ns"]
    gop_columns += ["codec", "profile", "width_px", "height_px", "calibration_json"]
    gops = lake.open(ingestion.dataset, "gops", task.gops_version).read(
        gop_columns, all_of(where, in_slot(0))
    )
    return [_row(task, episode, _of(frames, episode), _of(gops, episode)) for episode in episodes]


def _of(table: pa.Table, episode: EpisodeTask) -> pa.Table:
    return table.filter(pc.equal(table["episode_index"], episode.episode_index))


def _row(
    task: DescribeTask, episode: EpisodeTask, frames: pa.Table, gops: pa.Table
) -> dict[str, object]:
    reason = task.reason_by_index.get(episode.episode_index)
    if reason is None:
        _check_rows(task, episode, frames)
        facts = _measured(task, episode, frames, gops)
    else:
        facts = _nothing_measured(task, episode, reason)
    return {**_identity(task, episode), **facts}


def _identity(task: DescribeTask, episode: EpisodeTask) -> dict[str, object]:
    return {
        "episode_id": episode.episode_id,
        "episode_index": episode.episode_index,
        "source_episode_index": episode.ref.source_episode_index,
        "source_key": episode.ref.source_key,
        "upload": task.batch.ingestion.upload,
        "ingestion_id": task.batch.ingestion.ingestion_id,
        "robot": task.batch.ingestion.profile.robot,
        "source_paths": list(episode.ref.files),
        "source_sha256": _source_sha256(task, episode),
        "run_id": task.run.run_id,
        "code_version": task.run.code_version,
    }


def _source_sha256(task: DescribeTask, episode: EpisodeTask) -> list[str | None]:
    return [task.sha256_by_path.get(path) for path in episode.ref.files]


def _nothing_measured(task: DescribeTask, episode: EpisodeTask, reason: str) -> dict[str, object]:
    digest = digest_of({"sources": _source_sha256(task, episode), "is_quarantined": True})
    return {
        "num_rows": 0,
        "cameras": [],
        "statistics": [],
        "content_digest": digest,
        "status": STATUS_QUARANTINED,
        "status_reason": reason,
    }


def _measured(
    task: DescribeTask, episode: EpisodeTask, frames: pa.Table, gops: pa.Table
) -> dict[str, object]:
    time_ns = frames["timestamp_ns"].to_numpy()
    cameras = [
        _camera_facts(name, gops, frames) for name in sorted(set(gops["camera"].to_pylist()))
    ]
    calibrations = _calibrations(gops)
    doubt = task.doubt_by_index.get(episode.episode_index)
    return {
        "task": frames["task"][0].as_py(),
        "num_rows": frames.num_rows,
        "start_ns": int(time_ns[0]),
        "end_ns": int(time_ns[-1]),
        "control_hz": rate_hz(time_ns),
        "cameras": cameras,
        "calibrations_json": calibrations,
        "statistics": [
            signal_statistics(name, _matrix(frames[name]))
            for name in signal_names(frames.schema)
            if frames[name].null_count < frames.num_rows
        ],
        "content_digest": _content_digest(task, episode, frames, cameras, calibrations),
        "status": STATUS_FLAGGED if doubt else STATUS_OK,
        "status_reason": doubt,
    }


def _calibrations(gops: pa.Table) -> str | None:
    texts = gops["calibration_json"].drop_null().to_pylist()
    by_camera = [calibrations_from_json(text) for text in texts]
    return calibrations_to_json({name: c for known in by_camera for name, c in known.items()})


def _matrix(column: pa.ChunkedArray) -> npt.NDArray[np.float32]:
    held = column.drop_null().combine_chunks()
    values: npt.NDArray[np.float32] = held.flatten().to_numpy()
    return values.reshape(len(held), -1)


def _camera_facts(name: str, gops: pa.Table, frames: pa.Table) -> dict[str, object]:
    mine = gops.filter(pc.equal(gops["camera"], name)).sort_by("gop_index")
    first = {column: mine[column][0].as_py() for column in mine.schema.names}
    references = frames[f"{CAMERA_PREFIX}{name}_ref_id"]
    return {
        "name": name,
        "ref_id": first["ref_id"],
        "num_frames": pc.sum(mine["num_frames"]).as_py(),
        "num_gops": mine.num_rows,
        "fps": rate_hz(mine["pts_ns"].combine_chunks().flatten().to_numpy()),
        "codec": first["codec"],
        "profile": first["profile"],
        "width_px": first["width_px"],
        "height_px": first["height_px"],
        "num_rows_without_picture": references.null_count,
    }


def _content_digest(
    task: DescribeTask,
    episode: EpisodeTask,
    frames: pa.Table,
    cameras: Sequence[Mapping[str, object]],
    calibrations_json: str | None,
) -> str:
    """Return the digest of what the episode holds, whatever index and run it has.

    It rests on the sources' hashes, the settings and the decoded facts, not on encoder bytes:
    those are checked by their own hash, GOP by GOP.
    """
    own = {"episode_index", *(f"{CAMERA_PREFIX}{c}_ref_id" for c in camera_names(frames.schema))}
    held = [n for n in frames.schema.names if n not in own and frames[n].null_count < len(frames)]
    return digest_of(
        {
            "sources": _source_sha256(task, episode),
            "settings": task.batch.ingestion.settings.as_dict(),
            "rows": table_digest(frames.select(sorted(held))),
            "cameras": [{k: v for k, v in facts.items() if k != "ref_id"} for facts in cameras],
            **({} if calibrations_json is None else {"calibrations": calibrations_json}),
        }
    )


def _check_rows(task: DescribeTask, episode: EpisodeTask, frames: pa.Table) -> None:
    if not frames.num_rows:
        upload = task.batch.ingestion.upload
        raise NotFoundError(
            f"Episode {episode.ref.source_key!r} of upload {upload!r} has no row in version "
            f"{task.frames_version} of frames: expected its rows, or why it is in quarantine. "
            "Materialize frames for the upload first.",
            kind=ErrorKind.NO_ROWS,
            upload=upload,
        )
