"""The commit that makes an upload visible: its rows of ``episodes``, old out and new in."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from robot_data_platform.compute.abandonment import refuse_given_up
from robot_data_platform.compute.conventions import published_conventions, refuse_mixed
from robot_data_platform.compute.episode_facts import DescribeTask, describe_batch
from robot_data_platform.compute.episodes_map import Fanout, Progress, map_episodes
from robot_data_platform.compute.findings import QUARANTINE_RULE
from robot_data_platform.compute.ingestion import Ingestion, batch_tasks, list_tasks
from robot_data_platform.compute.older_tables import with_columns_of
from robot_data_platform.compute.restating import restate_frames
from robot_data_platform.compute.retired import retired_ids, without_retired
from robot_data_platform.core.finding import (
    STATUS_FLAGGED,
    STATUS_QUARANTINED,
    Severity,
)
from robot_data_platform.core.schema import episodes_schema
from robot_data_platform.storage.commit import append_built
from robot_data_platform.storage.predicate import all_of, equals

if TYPE_CHECKING:
    from collections.abc import Mapping

    from robot_data_platform.core.run import RunInfo
    from robot_data_platform.storage.table import LakeTable

    pass


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


def publish_episodes(
    ingestion: Ingestion, fanout: Fanout, run: RunInfo, progress: Progress | None = None
) -> PublishResult:
    """Describe every episode of an upload and swap the upload's rows in one commit.

    Nothing is written where this very ingestion is published. Episodes in quarantine get a row
    too, with the reason, so that nothing is missing without a word.

    Raises
    ------
    DataFaultError
        ``mixed-conventions``: an upload that was published meanwhile contradicts this one.
    NotFoundError
        ``upload-not-found``: it took longer than maintenance keeps a reservation.
    """
    lake = ingestion.workplace.lake
    table = with_columns_of(lake.ensure(ingestion.dataset, "episodes"), episodes_schema())
    reads = {
        name: lake.open(ingestion.dataset, name).version for name in ("gops", "frames", "quality")
    }
    rows: list[dict[str, object]] = []
    if not _is_published(ingestion, table):
        rows = _describe_all(ingestion, reads, fanout, run, progress)
    new = pa.Table.from_pylist(rows, schema=table.schema)
    committed = append_built(
        table.uri,
        lambda _: without_retired(new, retired_ids(lake, ingestion.dataset)),
        properties=run.properties(),
        is_done=lambda at: _is_published(ingestion, at) or _is_refused(ingestion, at),
        replace=equals("upload", ingestion.upload),
    )
    restate_frames(lake, ingestion.dataset, lake.open(ingestion.dataset, "episodes"))
    return _summary(ingestion, committed.version, committed.is_new, reads)


def _is_published(ingestion: Ingestion, table: LakeTable) -> bool:
    mine = all_of(equals("ingestion_id", ingestion.ingestion_id), ingestion.where())
    return table.count_rows(mine) > 0


def _is_refused(ingestion: Ingestion, table: LakeTable) -> bool:
    """Refuse to publish what was given up, or contradicts an upload published meanwhile."""
    refuse_given_up(table, ingestion.upload, ingestion.index_range)
    published = published_conventions(ingestion.workplace.lake, ingestion.dataset, table)
    refuse_mixed(ingestion.dataset, ingestion.upload, ingestion.conventions, published)
    return False


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
