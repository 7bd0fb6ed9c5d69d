"""Signals and picture references of an upload to rows of ``frames``."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from robot_data_platform.compute.conventions import check_episode, episode_conventions
from robot_data_platform.compute.episode_streams import (
    cameras_of,
    check_kinds,
    check_streams,
    streams_by_episode,
)
from robot_data_platform.compute.episodes_map import Fanout, Progress, map_episodes
from robot_data_platform.compute.findings import quarantine, quarantined, record_findings
from robot_data_platform.compute.ingestion import (
    BatchTask,
    EpisodeTask,
    Ingestion,
    batch_tasks,
    list_tasks,
    open_ingestion_source,
    read_recording,
)
from robot_data_platform.core.alignment import rate_hz
from robot_data_platform.core.recording import Recording
from robot_data_platform.core.rows import episode_fields, episode_rows
from robot_data_platform.core.schema import frames_base_fields, table_schema
from robot_data_platform.core.stated_metadata import table_entries
from robot_data_platform.errors import DataFaultError, InvalidInputError
from robot_data_platform.storage.commit import (
    Committed,
    commit_fragments,
    grow_schema,
    write_rows,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pyarrow as pa

    from robot_data_platform.core.finding import Finding
    from robot_data_platform.core.rows import StreamIndex
    from robot_data_platform.core.run import RunInfo
    from robot_data_platform.storage.table import LakeTable

STAGE = "frames"


@dataclass(frozen=True, slots=True, kw_only=True)
class FramesResult:
    """What the step came to, for the materialization's metadata."""

    frames_version: int
    gops_version: int
    quality_version: int
    is_new: bool
    num_rows: int
    num_episodes: int
    num_quarantined: int


@dataclass(slots=True, kw_only=True)
class BatchResult:
    """What one worker did: fragments, or the columns that the table lacks for it."""

    fragments: list[str] = field(default_factory=list)
    findings_by_task: dict[EpisodeTask, list[Finding]] = field(default_factory=dict)
    missing: list[pa.Field] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class FramesTask:
    """Episodes to align against their GOPs at one version of ``gops``."""

    batch: BatchTask
    gops_version: int


def write_frames(
    ingestion: Ingestion, fanout: Fanout, run: RunInfo, progress: Progress | None = None
) -> FramesResult:
    """Align every episode of an upload that has its GOPs, and commit the rows at once.

    Nothing is written where the ingestion's rows are there. Columns that the dataset lacks are
    added first; an episode whose signals have another width is put in quarantine.
    """
    lake = ingestion.workplace.lake
    gops = lake.ensure_gops(ingestion.dataset)
    table = lake.find(ingestion.dataset, "frames")
    if table is not None and _is_there(ingestion, table):
        return _summary(ingestion, Committed(table.version, is_new=False), gops.version)
    lost = quarantined(ingestion)
    tasks = [task for task in list_tasks(ingestion) if task.episode_index not in lost]
    table = _prepare_table(ingestion, tasks, gops)
    work = [
        FramesTask(batch=batch, gops_version=gops.version)
        for batch in batch_tasks(ingestion, tasks, fanout)
    ]
    results = _align_all(table.uri, work, fanout, progress)
    findings = {t: f for r in results for t, f in r.findings_by_task.items()}
    record_findings(ingestion, STAGE, findings, run)
    committed = _commit(ingestion, table.uri, [f for r in results for f in r.fragments], run)
    return _summary(ingestion, committed, gops.version)


def _is_there(ingestion: Ingestion, table: LakeTable) -> bool:
    return table.count_rows(ingestion.where()) > 0


def _commit(ingestion: Ingestion, uri: str, fragments: Sequence[str], run: RunInfo) -> Committed:
    lake = ingestion.workplace.lake
    if not fragments:
        return Committed(lake.open(ingestion.dataset, "frames").version, is_new=False)
    return commit_fragments(
        uri, fragments, properties=run.properties(), is_done=lambda at: _is_there(ingestion, at)
    )


def _summary(ingestion: Ingestion, committed: Committed, gops_version: int) -> FramesResult:
    lake = ingestion.workplace.lake
    table = lake.open(ingestion.dataset, "frames", committed.version)
    index = table.read(["episode_index"], ingestion.where())["episode_index"]
    return FramesResult(
        frames_version=committed.version,
        gops_version=gops_version,
        quality_version=lake.ensure(ingestion.dataset, "quality").version,
        is_new=committed.is_new,
        num_rows=len(index),
        num_episodes=len(index.unique()),
        num_quarantined=len(quarantined(ingestion)),
    )


def _align_all(
    uri: str, work: Sequence[FramesTask], fanout: Fanout, progress: Progress | None
) -> list[BatchResult]:
    """Run every task; those that met columns unknown to the table run again once it has them."""
    results: list[BatchResult] = []
    todo = list(work)
    while todo:
        ended = [o.result() for o in map_episodes(align_batch, todo, fanout, progress)]
        missing = _unique(field for result in ended for field in result.missing)
        if missing:
            grow_schema(uri, missing, {})
        results += [result for result in ended if not result.missing]
        todo = [task for task, result in zip(todo, ended, strict=True) if result.missing]
    return results


def _unique(fields: Iterator[pa.Field]) -> list[pa.Field]:
    return list({f.name: f for f in fields}.values())


def _prepare_table(
    ingestion: Ingestion, tasks: Sequence[EpisodeTask], gops: LakeTable
) -> LakeTable:
    """Return ``frames`` with the columns of the first readable episode and of every camera."""
    cameras, depth = cameras_of(ingestion, gops)
    recording = _first_readable(ingestion, tasks)
    fields = [] if recording is None else episode_fields(recording, cameras, depth)
    metadata = {} if recording is None else _facts(ingestion, recording)
    schema = table_schema([*frames_base_fields(), *fields], metadata)
    table = ingestion.workplace.lake.ensure_frames(ingestion.dataset, schema)
    absent = [f for f in fields if f.name not in table.schema.names]
    fps = {"rdp.camera_fps": _with_new_cameras(table, metadata)}
    return grow_schema(table.uri, absent, fps) if absent else table


def _with_new_cameras(table: LakeTable, metadata: dict[str, str]) -> str:
    """Return the rates of the table's cameras, and of those that this upload adds, as JSON."""
    rates = (json.loads(m.get("rdp.camera_fps", "{}")) for m in (metadata, table.metadata))
    return json.dumps({name: rate for part in rates for name, rate in part.items()})


def _first_readable(ingestion: Ingestion, tasks: Sequence[EpisodeTask]) -> Recording | None:
    with open_ingestion_source(ingestion) as source:
        for task in tasks:
            try:
                recording = read_recording(ingestion, source, task.ref)
            except (DataFaultError, InvalidInputError):
                continue  # read again, and put in quarantine with the reason, by its worker
            if recording.signals:
                return recording
    return None


def _facts(ingestion: Ingestion, recording: Recording) -> dict[str, str]:
    """Return what the table says of itself, measured on the first episode."""
    stated = table_entries(episode_conventions(recording, ingestion.profile))
    return {
        **{key: value for key, value in stated.items() if value is not None},
        "rdp.camera_fps": json.dumps({c.name: rate_hz(c.timestamp_ns) for c in recording.cameras}),
        "rdp.gop_size": str(ingestion.settings.gop_size),
    }


def align_batch(task: FramesTask) -> BatchResult:
    """Align some episodes and write their rows as one fragment (runs in a worker)."""
    ingestion = task.batch.ingestion
    lake = ingestion.workplace.lake
    table = lake.open(ingestion.dataset, "frames")
    gops = lake.open(ingestion.dataset, "gops", task.gops_version)
    streams = streams_by_episode(task.batch, gops)
    result = BatchResult()
    with open_ingestion_source(ingestion) as source:

        def rows() -> Iterator[pa.RecordBatch]:
            for episode in task.batch.episodes:
                try:
                    recording = read_recording(ingestion, source, episode.ref)
                    mine = streams.get(episode.episode_index, {})
                    check_episode(
                        episode.ref.source_key,
                        episode_conventions(recording, ingestion.profile),
                        ingestion.conventions,
                    )
                    check_streams(recording, mine, ingestion)
                    check_kinds(episode.ref.source_key, mine, table.schema)
                    _note_missing(recording, mine, table.schema, result)
                    if result.missing:
                        continue
                    part = episode_rows(recording, episode.episode_index, mine, table.schema)
                except (DataFaultError, InvalidInputError) as err:
                    result.findings_by_task[episode] = [quarantine(err, source, episode)]
                    continue
                yield from part.to_batches()

        fragments = write_rows(table.uri, table.schema, rows())
    result.fragments = [] if result.missing else [f for f in fragments if _num_rows(f)]
    return result


def _num_rows(fragment: str) -> int:
    return int(json.loads(fragment).get("physical_rows") or 0)


def _note_missing(
    recording: Recording,
    streams: Mapping[str, StreamIndex],
    schema: pa.Schema,
    result: BatchResult,
) -> None:
    if not recording.signals:
        return
    known = set(schema.names)
    depth = [camera for camera, stream in streams.items() if stream.is_depth]
    fields = episode_fields(recording, sorted(streams), depth)
    result.missing += [f for f in fields if f.name not in known]
