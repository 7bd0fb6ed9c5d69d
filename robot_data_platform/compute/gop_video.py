"""Camera video of an upload to rows of ``gops``: workers write fragments, one commit shows them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING

import numpy as np

from robot_data_platform.compute.episodes_map import Fanout, Progress, map_episodes
from robot_data_platform.compute.findings import quarantine, record_findings
from robot_data_platform.compute.ingestion import (
    BatchTask,
    EpisodeTask,
    Ingestion,
    batch_tasks,
    list_tasks,
    open_ingestion_source,
    read_recording,
)
from robot_data_platform.compute.older_tables import with_columns_of
from robot_data_platform.compute.rendering import Renderer, recorded_renditions
from robot_data_platform.compute.spooled_gops import (
    SpooledGop,
    gop_row,
    row_batches,
    spool_file,
    spooled,
)
from robot_data_platform.compute.unreferenced_frames import frames_after_the_last_row
from robot_data_platform.core.calibration_json import calibrations_to_json
from robot_data_platform.core.finding import Finding, Severity
from robot_data_platform.core.identity import ref_id
from robot_data_platform.core.schema import gops_schema
from robot_data_platform.errors import DataFaultError, InvalidInputError
from robot_data_platform.storage.commit import Committed, commit_fragments, write_rows
from robot_data_platform.storage.predicate import all_of, in_slot
from robot_data_platform.storage.table import LakeTable
from robot_data_platform.video.cut import StreamReport, cut_stream

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from robot_data_platform.core.gop import Gop
    from robot_data_platform.core.recording import CameraStream, Int64Array, Recording
    from robot_data_platform.core.run import RunInfo

STAGE = "gop_video"
MIN_PSNR_DB = 30.0
"""Re-encoded video below this PSNR against its source is reported."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VideoResult:
    """What the step came to, for the materialization's metadata."""

    gops_version: int
    quality_version: int
    is_new: bool
    num_gops: int
    num_frames: int
    num_bytes: int
    num_quarantined: int
    num_streams_by_profile: dict[str, int]
    min_psnr_db: float | None
    """Of the streams encoded by this call, the worst sampled PSNR; None where none was."""
    num_streams_by_reencode_reason: dict[str, int]
    """Why streams were encoded anew by this call instead of being copied."""


@dataclass(slots=True, kw_only=True)
class BatchResult:
    """What one worker did."""

    fragments: list[str] = field(default_factory=list)
    findings_by_task: dict[EpisodeTask, list[Finding]] = field(default_factory=dict)
    psnr_db: list[float] = field(default_factory=list)
    reencode_reasons: Counter[str] = field(default_factory=Counter)


def write_gop_video(
    ingestion: Ingestion, fanout: Fanout, run: RunInfo, progress: Progress | None = None
) -> VideoResult:
    """Cut, encode or copy every camera stream of an upload, and commit its GOPs at once.

    Nothing is written where the ingestion's GOPs are there. Episodes whose video can't be
    read are put in quarantine by a finding; the rest goes on.
    """
    lake = ingestion.workplace.lake
    table = with_columns_of(lake.ensure_gops(ingestion.dataset), gops_schema())
    results: list[BatchResult] = []
    committed = Committed(table.version, is_new=False)
    if not _is_there(ingestion, table):
        results = _encode_all(ingestion, fanout, progress)
        findings = {t: f for r in results for t, f in r.findings_by_task.items()}
        record_findings(ingestion, STAGE, findings, run)
        committed = _commit(ingestion, table.uri, [f for r in results for f in r.fragments], run)
    return _summary(ingestion, committed, results)


def _is_there(ingestion: Ingestion, table: LakeTable) -> bool:
    return table.count_rows(ingestion.where()) > 0


def _encode_all(
    ingestion: Ingestion, fanout: Fanout, progress: Progress | None
) -> list[BatchResult]:
    batches = batch_tasks(ingestion, list_tasks(ingestion), fanout)
    return [o.result() for o in map_episodes(encode_batch, batches, fanout, progress)]


def _commit(ingestion: Ingestion, uri: str, fragments: Sequence[str], run: RunInfo) -> Committed:
    if not fragments:
        return Committed(ingestion.workplace.lake.ensure_gops(ingestion.dataset).version, False)
    return commit_fragments(
        uri,
        fragments,
        properties=run.properties(),
        is_done=lambda at: _is_there(ingestion, at),
    )


def _summary(
    ingestion: Ingestion, committed: Committed, results: Sequence[BatchResult]
) -> VideoResult:
    lake = ingestion.workplace.lake
    table = lake.open(ingestion.dataset, "gops", committed.version)
    columns = ["ref_id", "profile", "num_frames", "packet_size_bytes", "episode_index"]
    rows = table.read(columns, all_of(ingestion.where(), in_slot(0)))
    profile_by_stream = dict(
        zip(rows["ref_id"].to_pylist(), rows["profile"].to_pylist(), strict=True)
    )
    with_video = len(rows["episode_index"].unique())
    sizes = rows["packet_size_bytes"].combine_chunks().flatten()
    return VideoResult(
        gops_version=committed.version,
        quality_version=lake.ensure(ingestion.dataset, "quality").version,
        is_new=committed.is_new,
        num_gops=rows.num_rows,
        num_frames=int(np.sum(rows["num_frames"].to_numpy())) if rows.num_rows else 0,
        num_bytes=int(np.sum(sizes.to_numpy())) if len(sizes) else 0,
        num_quarantined=ingestion.num_episodes - with_video,
        num_streams_by_profile=dict(Counter(profile_by_stream.values())),
        min_psnr_db=min((db for result in results for db in result.psnr_db), default=None),
        num_streams_by_reencode_reason=dict(
            sum((result.reencode_reasons for result in results), Counter())
        ),
    )


def encode_batch(batch: BatchTask) -> BatchResult:
    """Cut the videos of some episodes and write them as one fragment (runs in a worker)."""
    result = BatchResult()
    table = batch.ingestion.workplace.lake.ensure_gops(batch.ingestion.dataset)
    with open_ingestion_source(batch.ingestion) as source, spool_file() as spool:
        rows: list[SpooledGop] = []
        renderer = Renderer(recorded_renditions(table))
        for task in batch.episodes:
            try:
                recording = read_recording(batch.ingestion, source, task.ref)
                new = spool_episode(batch.ingestion, task, recording, spool, renderer, result)
            except (DataFaultError, InvalidInputError) as err:
                result.findings_by_task[task] = [quarantine(err, source, task)]
                continue
            rows += new
        if rows:
            batches = row_batches(rows, spool, table.schema)
            result.fragments = write_rows(table.uri, table.schema, batches)
    return result


def spool_episode(
    ingestion: Ingestion,
    task: EpisodeTask,
    recording: Recording,
    spool: IO[bytes],
    renderer: Renderer,
    result: BatchResult,
) -> list[SpooledGop]:
    """Cut every camera of an episode into ``spool``; return the rows, all or (by error) none."""
    rows: list[SpooledGop] = []
    findings = list(recording.findings)
    for number, stream in enumerate(sorted(recording.cameras, key=lambda s: s.name)):
        cut = cut_stream(stream, ingestion.settings)
        stream_ref_id = ref_id(task.episode_index, number)
        for gop in cut.gops():
            row = gop_row(stream_ref_id, stream.name, gop, cut.format, _pts_ns(stream, gop))
            row["calibration_json"] = _calibration(stream) if gop.gop_index == 0 else None
            rows.append(spooled(row, gop.data, spool))
            rows += renderer.spool(rows[-1].row, gop, cut.format, spool)
        findings += _stream_findings(stream, cut.report)
        if cut.report.psnr_db is not None:
            result.psnr_db.append(cut.report.psnr_db)
        if cut.report.reencode_reason is not None:
            result.reencode_reasons[cut.report.reencode_reason] += 1
    if findings:
        result.findings_by_task[task] = findings
    return rows


def _calibration(stream: CameraStream) -> str | None:
    known = {} if stream.calibration is None else {stream.name: stream.calibration}
    return calibrations_to_json(known)


def _stream_findings(stream: CameraStream, report: StreamReport) -> Iterator[Finding]:
    if report.psnr_db is not None and report.psnr_db < MIN_PSNR_DB:
        yield Finding(
            rule="encoded_video_is_faithful",
            severity=Severity.WARN,
            message=f"Camera {stream.name!r} lost quality in encoding: {report.psnr_db:.1f} dB, "
            f"expected at least {MIN_PSNR_DB} dB. Lower the CRF.",
            where=f"camera={stream.name}",
            value=report.psnr_db,
            threshold=MIN_PSNR_DB,
            unit="dB",
        )
    yield from frames_after_the_last_row(stream, report)


def _pts_ns(stream: CameraStream, gop: Gop) -> Int64Array:
    return stream.timestamp_ns[gop.first_frame : gop.first_frame + gop.num_frames]
