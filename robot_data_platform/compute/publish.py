"""The commit that makes an upload visible: its rows of ``episodes``, old out and new in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from robot_data_platform.compute.episodes_map import Fanout, Progress, map_episodes
from robot_data_platform.compute.findings import QUARANTINE_RULE
from robot_data_platform.compute.ingestion import (
    BatchTask,
    EpisodeTask,
    Ingestion,
    batch_tasks,
    list_tasks,
)
from robot_data_platform.core.alignment import rate_hz
from robot_data_platform.core.finding import (
    STATUS_FLAGGED,
    STATUS_OK,
    STATUS_QUARANTINED,
    Severity,
)
from robot_data_platform.core.fingerprint import digest as digest_of
from robot_data_platform.core.fingerprint import table_digest
from robot_data_platform.core.run import RunInfo
from robot_data_platform.core.schema import (
    CAMERA_PREFIX,
    camera_names,
    signal_names,
)
from robot_data_platform.core.statistics import signal_statistics
from robot_data_platform.errors import ErrorKind, NotFoundError
from robot_data_platform.storage.commit import commit_fragments, write_rows
from robot_data_platform.storage.predicate import all_of, equals, in_range
from robot_data_platform.storage.table import LakeTable

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishResult:
    """What publishing came to, for the materialization's metadata."""

    episodes_version: int
    reads: dict[str, int]
    is_new: bool
    num_episodes: int
    num_rows: int
    num_by_status: dict[str, int]

    @property
    def num_converted(self) -> int:
        """Episodes that have rows, flagged ones included."""
        return self.num_episodes - self.num_quarantined

    @property
    def num_flagged(self) -> int:
        """Episodes with a doubt."""
        return self.num_by_status.get(STATUS_FLAGGED, 0)

    @property
    def num_quarantined(self) -> int:
        """Episodes that could not be ingested."""
        return self.num_by_status.get(STATUS_QUARANTINED, 0)


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


def publish_episodes(
    ingestion: Ingestion, fanout: Fanout, run: RunInfo, progress: Progress | None = None
) -> PublishResult:
    """Describe every episode of an upload and swap the upload's rows in one commit.

    Nothing is written where this very ingestion is published. Episodes in quarantine get a row
    too, with the reason, so that nothing is missing without a word.
    """
    lake = ingestion.workplace.lake
    table = lake.ensure(ingestion.dataset, "episodes")
    reads = {
        name: lake.open(ingestion.dataset, name).version for name in ("gops", "frames", "quality")
    }
    fragments: list[str] = []
    if not _is_published(ingestion, table):
        rows = _describe_all(ingestion, reads, fanout, run, progress)
        new = pa.Table.from_pylist(rows, schema=table.schema)
        fragments = write_rows(table.uri, table.schema, new.to_batches())
    committed = commit_fragments(
        table.uri,
        fragments,
        properties=run.properties(),
        is_done=lambda at: _is_published(ingestion, at),
        replace=equals("upload", ingestion.upload),
    )
    return _summary(ingestion, committed.version, committed.is_new, reads)


def _is_published(ingestion: Ingestion, table: LakeTable) -> bool:
    return table.count_rows(equals("ingestion_id", ingestion.ingestion_id)) > 0


def _summary(
    ingestion: Ingestion, version: int, is_new: bool, reads: dict[str, int]
) -> PublishResult:
    table = ingestion.workplace.lake.open(ingestion.dataset, "episodes", version)
    rows = table.read(["status", "num_rows"], equals("upload", ingestion.upload))
    return PublishResult(
        episodes_version=version,
        reads=reads,
        is_new=is_new,
        num_episodes=rows.num_rows,
        num_rows=pc.sum(rows["num_rows"]).as_py() or 0,
        num_by_status=dict(Counter(rows["status"].to_pylist())),
    )


def _describe_all(
    ingestion: Ingestion,
    reads: Mapping[str, int],
    fanout: Fanout,
    run: RunInfo,
    progress: Progress | None,
) -> list[dict[str, object]]:
    manifest = ingestion.workplace.landing.manifest(ingestion.upload)
    reasons, doubts = _verdicts(ingestion, reads["quality"])
    work = [
        DescribeTask(
            batch=batch,
            frames_version=reads["frames"],
            gops_version=reads["gops"],
            run=run,
            sha256_by_path={entry.path: entry.sha256 for entry in manifest.files},
            reason_by_index=reasons,
            doubt_by_index=doubts,
        )
        for batch in batch_tasks(ingestion, list_tasks(ingestion), fanout)
    ]
    outcomes = map_episodes(describe_batch, work, fanout, progress)
    return [row for outcome in outcomes for row in outcome.result()]


def _verdicts(ingestion: Ingestion, version: int) -> tuple[dict[int, str], dict[int, str]]:
    """Return the reason of each quarantine, and of each flag, by episode index."""
    table = ingestion.workplace.lake.open(ingestion.dataset, "quality", version)
    mine = all_of(equals("rules_version", ingestion.ingestion_id), ingestion.where())
    reasons: dict[int, str] = {}
    doubts: dict[int, str] = {}
    for row in table.read(["episode_index", "rule", "severity", "message"], mine).to_pylist():
        if row["rule"] == QUARANTINE_RULE:
            reasons[row["episode_index"]] = row["message"]
        elif row["severity"] != Severity.INFO:
            doubts.setdefault(row["episode_index"], row["message"])
    return reasons, doubts


def describe_batch(task: DescribeTask) -> list[dict[str, object]]:
    """Return the ``episodes`` rows of some episodes (runs in a worker)."""
    ingestion, episodes = task.batch.ingestion, task.batch.episodes
    lake = ingestion.workplace.lake
    where = in_range("episode_index", episodes[0].episode_index, episodes[-1].episode_index + 1)
    frames = lake.open(ingestion.dataset, "frames", task.frames_version).read(where=where)
    gop_columns = ["episode_index", "camera", "ref_id", "gop_index", "num_frames", "pts_ns"]
    gop_columns += ["codec", "profile", "width_px", "height_px"]
    gops = lake.open(ingestion.dataset, "gops", task.gops_version).read(gop_columns, where)
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
    doubt = task.doubt_by_index.get(episode.episode_index)
    return {
        "task": frames["task"][0].as_py(),
        "num_rows": frames.num_rows,
        "start_ns": int(time_ns[0]),
        "end_ns": int(time_ns[-1]),
        "control_hz": rate_hz(time_ns),
        "cameras": cameras,
        "statistics": [
            signal_statistics(name, _matrix(frames[name]))
            for name in signal_names(frames.schema)
            if frames[name].null_count < frames.num_rows
        ],
        "content_digest": _content_digest(task, episode, frames, cameras),
        "status": STATUS_FLAGGED if doubt else STATUS_OK,
        "status_reason": doubt,
    }


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
        }
    )
