"""What the published episodes of a dataset come to, summed a batch of columns at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from robot_data_platform.core.finding import STATUS_OK
from robot_data_platform.core.time_base import NS_PER_S
from robot_data_platform.storage.lake import Lake
from robot_data_platform.storage.predicate import all_of, equals, is_in

SEVERITIES = ("info", "warn", "fail")
STAGE_BY_PREFIX = {"q": "quality", "s": "spatial"}
"""First letter of the columns that hold a stage's verdict."""
COLUMNS = ("status", "upload", "num_rows", "start_ns", "end_ns", "cameras")
VERDICTS = tuple(f"{p}_num_{severity}" for p in STAGE_BY_PREFIX for severity in SEVERITIES)

GOP_RULES = ("gop_hash_matches", "gop_decodes_to_declared_frames")
"""Rules whose findings count GOPs that a reader can't read."""


@dataclass(slots=True, kw_only=True)
class EpisodeFigures:
    """Sums over the rows of ``episodes``."""

    by_status: Counter[str] = field(default_factory=Counter)
    num_rows: int = 0
    seconds: float = 0.0
    """Recorded time."""
    frames_by_camera: Counter[str] = field(default_factory=Counter)
    findings: Counter[tuple[str, str]] = field(default_factory=Counter)
    """By (stage, severity)."""
    ok_uploads: set[str] = field(default_factory=set)
    """Uploads with an episode that a release by the default spec takes."""
    damaged_gops: Counter[str] = field(default_factory=Counter)
    """By the stage that found them."""


def episode_figures(lake: Lake, dataset: str) -> EpisodeFigures:
    """Return the figures of a dataset; they cost a scan of a few columns of ``episodes``."""
    table = lake.open(dataset, "episodes")
    columns = [name for name in (*COLUMNS, *VERDICTS) if name in table.schema.names]
    figures = EpisodeFigures()
    for batch in table.batches(columns):
        _add(figures, batch)
    figures.damaged_gops = _damaged_gops(lake, dataset)
    return figures


def _add(figures: EpisodeFigures, batch: pa.RecordBatch) -> None:
    figures.by_status.update(_counts(batch["status"]))
    figures.num_rows += pc.sum(batch["num_rows"]).as_py() or 0
    span_ns = pc.sum(pc.subtract(batch["end_ns"], batch["start_ns"])).as_py() or 0
    figures.seconds += span_ns / NS_PER_S
    for camera, num_frames in _frames(batch["cameras"]):
        figures.frames_by_camera[camera] += num_frames or 0
    for name in VERDICTS:
        if name in batch.schema.names:
            stage, severity = STAGE_BY_PREFIX[name[0]], name.rpartition("_")[2]
            figures.findings[stage, severity] += pc.sum(batch[name]).as_py() or 0
    ok = batch["upload"].filter(pc.equal(batch["status"], STATUS_OK))
    figures.ok_uploads.update(ok.unique().to_pylist())


def _counts(column: pa.Array) -> dict[str, int]:
    return {str(c["values"]): int(c["counts"]) for c in column.value_counts().to_pylist()}


def _frames(cameras: pa.ListArray) -> Iterable[tuple[str, int | None]]:
    """Return (camera, frames) of some episodes' streams."""
    streams = cameras.flatten()
    facts = pa.table({name: pc.struct_field(streams, name) for name in ("name", "num_frames")})
    sums = facts.group_by("name").aggregate([("num_frames", "sum")])
    return zip(sums["name"].to_pylist(), sums["num_frames_sum"].to_pylist(), strict=True)


def _damaged_gops(lake: Lake, dataset: str) -> Counter[str]:
    """Return how many GOPs the findings that hold now speak of, by stage."""
    quality = lake.find(dataset, "quality")
    if quality is None:
        return Counter()
    where = all_of(is_in("rule", GOP_RULES), equals("severity", "fail"))
    found = quality.read(["episode_index", "rules_version", "stage", "value"], where).to_pylist()
    if not found:
        return Counter()
    versions = ["ingestion_id", "q_version"]
    rows = lake.open(dataset, "episodes").read(
        ["episode_index", *versions], is_in("episode_index", {f["episode_index"] for f in found})
    )
    holding = {(row["episode_index"], row[name]) for row in rows.to_pylist() for name in versions}
    damaged: Counter[str] = Counter()
    for finding in found:
        if (finding["episode_index"], finding["rules_version"]) in holding:
            damaged[finding["stage"]] += int(finding["value"])
    return damaged
