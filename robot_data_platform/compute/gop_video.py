"""Camera video of an upload to rows of ``gops``: workers write fragments, one commit shows them."""

from __future__ import annotations

import hashlib
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING

import numpy as np
import pyarrow as pa

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
from robot_data_platform.core.finding import Finding, Severity
from robot_data_platform.core.identity import gop_key, ref_id
from robot_data_platform.errors import DataFaultError, InvalidInputError
from robot_data_platform.storage.commit import Committed, commit_fragments, write_rows
from robot_data_platform.storage.table import BLOB_COLUMN, LakeTable, blob_array
from robot_data_platform.video.cut import StreamReport, cut_stream

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from robot_data_platform.core.gop import Gop, StreamFormat
    from robot_data_platform.core.recording import CameraStream, Recording
    from robot_data_platform.core.run import RunInfo

STAGE = "gop_video"
ROWS_PER_BATCH = 64
"""GOPs held in memory at a time while a fragment is written."""
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
    table = lake.ensure_gops(ingestion.dataset)
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
    rows = table.read(columns, ingestion.where())
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
    with open_ingestion_source(batch.ingestion) as source, tempfile.TemporaryFile() as spool:
        rows: list[SpooledGop] = []
        for task in batch.episodes:
            try:
                recording = read_recording(batch.ingestion, source, task.ref)
                new = spool_episode(batch.ingestion, task, recording, spool, result)
            except (DataFaultError, InvalidInputError) as err:
                result.findings_by_task[task] = [quarantine(err, source)]
                continue
            rows += new
        if rows:
            batches = _batches(rows, spool, table.schema)
            result.fragments = write_rows(table.uri, table.schema, batches)
    return result


@dataclass(frozen=True, slots=True, kw_only=True)
class SpooledGop:
    """A finished row whose payload waits on disk until its episode is known to be whole."""

    row: dict[str, object]
    spool_offset: int
    num_bytes: int


def spool_episode(
    ingestion: Ingestion,
    task: EpisodeTask,
    recording: Recording,
    spool: IO[bytes],
    result: BatchResult,
) -> list[SpooledGop]:
    """Cut every camera of an episode into ``spool``; return the rows, all or (by error) none."""
    rows: list[SpooledGop] = []
    findings = list(recording.findings)
    for number, stream in enumerate(sorted(recording.cameras, key=lambda s: s.name)):
        cut = cut_stream(stream, ingestion.settings)
        stream_ref_id = ref_id(task.episode_index, number)
        rows += [
            _spool(_row(task, stream, stream_ref_id, gop, cut.format), gop.data, spool)
            for gop in cut.gops()
        ]
        findings += _stream_findings(stream, cut.report)
        if cut.report.psnr_db is not None:
            result.psnr_db.append(cut.report.psnr_db)
        if cut.report.reencode_reason is not None:
            result.reencode_reasons[cut.report.reencode_reason] += 1
    if findings:
        result.findings_by_task[task] = findings
    return rows


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


def _spool(row: dict[str, object], payload: bytes, spool: IO[bytes]) -> SpooledGop:
    spool_offset = spool.seek(0, 2)
    spool.write(payload)
    return SpooledGop(row=row, spool_offset=spool_offset, num_bytes=len(payload))


def _row(
    task: EpisodeTask, stream: CameraStream, stream_ref_id: int, gop: Gop, form: StreamFormat
) -> dict[str, object]:
    last = gop.first_frame + gop.num_frames
    return {
        "gop_key": gop_key(stream_ref_id, gop.gop_index),
        "ref_id": stream_ref_id,
        "gop_index": gop.gop_index,
        "episode_index": task.episode_index,
        "camera": stream.name,
        "first_frame": gop.first_frame,
        "num_frames": gop.num_frames,
        "pts_ns": stream.timestamp_ns[gop.first_frame : last],
        "packet_size_bytes": gop.packets.size_bytes,
        "packet_display_index": gop.packets.display_index,
        "packet_is_reference": gop.packets.is_reference,
        "packet_is_key": gop.packets.is_key,
        "codec": form.codec,
        "profile": form.profile,
        "width_px": form.width_px,
        "height_px": form.height_px,
        "coded_width_px": form.coded_width_px,
        "coded_height_px": form.coded_height_px,
        "pix_fmt": form.pix_fmt,
        "color_range": form.color_range,
        "color_space": form.color_space,
        "color_primaries": form.color_primaries,
        "color_trc": form.color_trc,
        "extradata": form.extradata,
        "sha256": hashlib.sha256(gop.data).hexdigest(),
    }


def _batches(
    rows: Sequence[SpooledGop], spool: IO[bytes], schema: pa.Schema
) -> Iterator[pa.RecordBatch]:
    """Yield the spooled rows with their payloads, in episode, camera and time order."""
    plain = pa.schema([f for f in schema if f.name != BLOB_COLUMN], metadata=schema.metadata)
    for start in range(0, len(rows), ROWS_PER_BATCH):
        part = rows[start : start + ROWS_PER_BATCH]
        columns = pa.Table.from_pylist([p.row for p in part], schema=plain)
        payloads = blob_array([_payload(p, spool) for p in part])
        table = columns.append_column(schema.field(BLOB_COLUMN), payloads)
        yield from table.select(schema.names).cast(schema).to_batches()


def _payload(gop: SpooledGop, spool: IO[bytes]) -> bytes:
    spool.seek(gop.spool_offset)
    return spool.read(gop.num_bytes)
