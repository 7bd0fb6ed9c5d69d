"""House-keeping of a dataset: nothing that a release or the present state reaches is touched."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

import numpy as np

from robot_data_platform.compute.scrub_findings import record_damaged_gops
from robot_data_platform.core.measurement_schema import MEASUREMENTS
from robot_data_platform.core.schema import TABLES
from robot_data_platform.storage.predicate import equals, in_range
from robot_data_platform.storage.upkeep import (
    clean_up,
    compact,
    delete_rows,
    ensure_index,
    fold_indices,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from robot_data_platform.core.run import RunInfo
    from robot_data_platform.storage.lake import Lake
    from robot_data_platform.storage.table import LakeTable

INDEX_COLUMN = "episode_index"
INDEX_MIN_ROWS = 100_000
"""Below so many rows a scan is as fast as an index."""
BLOBS_PER_READ = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class UpkeepPolicy:
    """How long what nobody reaches is kept."""

    keep_versions: timedelta = timedelta(days=14)
    """Untagged versions younger than this stay readable."""
    grace: timedelta = timedelta(days=1)
    """Rows of an ingestion younger than this are left alone: it may still be running."""
    scrub: bool = True
    """Whether every GOP's bytes are held against their checksum."""


@dataclass(slots=True, kw_only=True)
class UpkeepReport:
    """What was done to one dataset."""

    dataset: str
    num_superseded_rows: int = 0
    num_versions_removed: int = 0
    num_bytes_removed: int = 0
    num_gops_scrubbed: int = 0
    damaged_gops: list[int] = field(default_factory=list)
    """``gop_key`` of each GOP whose bytes differ from its checksum."""
    compacted: list[str] = field(default_factory=list)
    """Tables of which fragments were merged."""


def maintain_dataset(
    lake: Lake, dataset: str, run: RunInfo, policy: UpkeepPolicy | None = None
) -> UpkeepReport:
    """Collect superseded rows, compact, fold indices, clean up and scrub one dataset."""
    policy = policy or UpkeepPolicy()
    report = UpkeepReport(dataset=dataset)
    tables = [name for name in (*TABLES, MEASUREMENTS) if lake.find(dataset, name) is not None]
    report.num_superseded_rows = _collect_superseded(lake, dataset, run, policy)
    for name in tables:
        uri = lake.table_uri(dataset, name)
        if compact(uri):
            report.compacted.append(name)
        _index(lake.open(dataset, name))
        cleaned = clean_up(uri, policy.keep_versions)
        report.num_versions_removed += cleaned.num_versions
        report.num_bytes_removed += cleaned.num_bytes
    if policy.scrub and "gops" in tables:
        _scrub(lake.open(dataset, "gops"), report)
        record_damaged_gops(lake, dataset, report.damaged_gops, run)
    return report


def _index(table: LakeTable) -> None:
    if INDEX_COLUMN in table.schema.names and table.count_rows() >= INDEX_MIN_ROWS:
        ensure_index(table.uri, INDEX_COLUMN)
    fold_indices(table.uri)


def superseded_ranges(
    lake: Lake, dataset: str, now_ns: int, grace: timedelta
) -> list[tuple[int, int]]:
    """Return half-open ranges of episode indices that nothing published names any more.

    An ingestion that was reserved less than ``grace`` ago is never among them: its rows may be
    waiting for the commit that publishes them.
    """
    uploads, episodes = lake.find_catalog("uploads"), lake.find(dataset, "episodes")
    if uploads is None:
        return []
    published = (
        set(episodes.read(["ingestion_id"])["ingestion_id"].to_pylist()) if episodes else set()
    )
    oldest_ns = now_ns - int(grace.total_seconds() * 1e9)
    columns = ["ingestion_id", "first_episode_index", "num_episodes", "created_ns"]
    rows = uploads.read(columns, equals("dataset", dataset)).to_pylist()
    return [
        (row["first_episode_index"], row["first_episode_index"] + row["num_episodes"])
        for row in rows
        if row["ingestion_id"] not in published and row["created_ns"] < oldest_ns
    ]


def _collect_superseded(lake: Lake, dataset: str, run: RunInfo, policy: UpkeepPolicy) -> int:
    num_rows = 0
    for first, stop in superseded_ranges(lake, dataset, run.created_ns, policy.grace):
        for name in ("frames", "gops", "quality", "spatial", MEASUREMENTS):
            if lake.find(dataset, name) is not None:
                where = in_range("episode_index", first, stop)
                uri = lake.table_uri(dataset, name)
                num_rows += delete_rows(uri, where, run.properties())
    return num_rows


def _scrub(gops: LakeTable, report: UpkeepReport) -> None:
    for part in _parts(gops.read(["gop_key", "sha256"], with_row_id=True)):
        blobs = gops.read_blobs(part["_rowid"].to_numpy().astype(np.uint64))
        report.num_gops_scrubbed += len(blobs)
        for blob, key, sha256 in zip(
            blobs, part["gop_key"].to_pylist(), part["sha256"].to_pylist(), strict=True
        ):
            if hashlib.sha256(blob).hexdigest() != sha256:
                report.damaged_gops.append(key)


def _parts(rows: pa.Table) -> Iterator[pa.Table]:
    for start in range(0, rows.num_rows, BLOBS_PER_READ):
        yield rows.slice(start, BLOBS_PER_READ)
