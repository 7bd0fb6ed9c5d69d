"""Quality checks of an upload: findings to ``quality``, verdicts to columns of ``episodes``."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from robot_data_platform.compute.episodes_map import Fanout, Progress, map_episodes
from robot_data_platform.compute.findings import record_checks
from robot_data_platform.core.finding import (
    STATUS_FLAGGED,
    STATUS_OK,
    STATUS_QUARANTINED,
    Finding,
    Severity,
)
from robot_data_platform.quality.episode import check_episode_at
from robot_data_platform.quality.report import (
    EpisodeKeys,
    Rollup,
    findings_by_episode,
    findings_table,
    rollup,
)
from robot_data_platform.quality.thresholds import RULES_VERSION
from robot_data_platform.storage.commit import rewrite_columns
from robot_data_platform.storage.predicate import all_of, equals

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from robot_data_platform.compute.ingestion import (
        Ingestion,
    )
    from robot_data_platform.core.run import RunInfo
    from robot_data_platform.storage.table import LakeTable

WORST_SHOWN = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class QualityResult:
    """What checking an upload came to, for the materialization's metadata."""

    quality_version: int
    reads: dict[str, int]
    is_new: bool
    num_by_status: dict[str, int]
    num_findings_by_rule: dict[str, int]
    reasons: tuple[tuple[str, str, str], ...]
    """(episode, status, reason) of episodes that are not ok, worst first."""

    @property
    def num_ok(self) -> int:
        """Episodes without a doubt."""
        return self.num_by_status.get(STATUS_OK, 0)

    @property
    def num_flagged(self) -> int:
        """Episodes with a doubt."""
        return self.num_by_status.get(STATUS_FLAGGED, 0)

    @property
    def num_quarantined(self) -> int:
        """Episodes that could not be ingested."""
        return self.num_by_status.get(STATUS_QUARANTINED, 0)

    def worst_markdown(self) -> str:
        """Return the episodes that are not ok as a Markdown table."""
        lines = ["| episode | status | reason |", "|---|---|---|"]
        lines += [f"| {' | '.join(_cell(c) for c in row)} |" for row in self.reasons[:WORST_SHOWN]]
        return "\n".join(lines) if self.reasons else "Every episode is ok."


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckTask:
    """One episode to check at fixed versions."""

    lake_root: str
    dataset: str
    versions: Mapping[str, int]
    keys: EpisodeKeys


def write_quality(
    ingestion: Ingestion, fanout: Fanout, run: RunInfo, progress: Progress | None = None
) -> QualityResult:
    """Check every episode of an upload that these rules have not judged yet.

    Findings are written first, verdicts second, each in one commit; where both are there,
    nothing is written.
    """
    lake, dataset = ingestion.workplace.lake, ingestion.dataset
    versions = {n: lake.open(dataset, n).version for n in ("episodes", "frames", "gops")}
    episodes = lake.open(dataset, "episodes", versions["episodes"])
    unjudged = _unjudged(ingestion, episodes)
    if unjudged:
        found = _check_all(ingestion, unjudged, versions, fanout, progress)
        record_checks(ingestion, findings_table(found), RULES_VERSION, run)
        verdicts = _verdicts(ingestion, unjudged, dict(found))
        rewrite_columns(episodes.uri, verdicts, key="episode_index", properties=run.properties())
    return _summary(ingestion, versions, is_new=bool(unjudged))


def _unjudged(ingestion: Ingestion, episodes: LakeTable) -> dict[EpisodeKeys, bool]:
    """Return the episodes without a verdict of these rules, and whether each is in quarantine."""
    columns = ["episode_index", "episode_id", "upload", "status", "q_version"]
    mine = all_of(
        equals("upload", ingestion.upload), equals("ingestion_id", ingestion.ingestion_id)
    )
    rows = episodes.read(columns, mine).to_pylist()
    return {
        EpisodeKeys(
            episode_index=row["episode_index"],
            episode_id=row["episode_id"],
            upload=row["upload"],
        ): row["status"] == STATUS_QUARANTINED
        for row in rows
        if row["q_version"] != RULES_VERSION
    }


def _check_all(
    ingestion: Ingestion,
    unjudged: Mapping[EpisodeKeys, bool],
    versions: Mapping[str, int],
    fanout: Fanout,
    progress: Progress | None,
) -> list[tuple[EpisodeKeys, tuple[Finding, ...]]]:
    tasks = [
        CheckTask(
            lake_root=ingestion.workplace.lake_root,
            dataset=ingestion.dataset,
            versions=versions,
            keys=keys,
        )
        for keys, is_quarantined in unjudged.items()
        if not is_quarantined
    ]
    outcomes = map_episodes(check_task, tasks, fanout, progress)
    return [(task.keys, o.result()) for task, o in zip(tasks, outcomes, strict=True)]


def check_task(task: CheckTask) -> tuple[Finding, ...]:
    """Return what the rules find in one episode (runs in a worker)."""
    keys = task.keys
    return check_episode_at(
        task.lake_root, task.dataset, task.versions, keys.episode_index
    ).findings


def _verdicts(
    ingestion: Ingestion,
    unjudged: Mapping[EpisodeKeys, bool],
    found: Mapping[EpisodeKeys, Sequence[Finding]],
) -> pa.Table:
    """Return the columns of ``episodes`` that these findings and those of ingestion come to."""
    lake = ingestion.workplace.lake
    earlier = findings_by_episode(
        lake.open(ingestion.dataset, "quality").read(
            where=equals("rules_version", ingestion.ingestion_id)
        )
    )
    rows = []
    for keys, is_quarantined in unjudged.items():
        before = earlier.get(keys.episode_index, [])
        now = list(found.get(keys, ()))
        verdict = rollup(now, earlier=before, is_quarantined=is_quarantined)
        rows.append(_columns(keys, verdict, [*before, *now]))
    schema = lake.open(ingestion.dataset, "episodes").schema
    return pa.Table.from_pylist(rows, schema=pa.schema([schema.field(name) for name in rows[0]]))


def _columns(keys: EpisodeKeys, verdict: Rollup, findings: Sequence[Finding]) -> dict[str, object]:
    doubts = [f for f in findings if f.severity is not Severity.INFO]
    worst = sorted(doubts, key=lambda f: f.severity is not Severity.FAIL)
    return {
        "episode_index": keys.episode_index,
        "status_reason": worst[0].message if worst else None,
        **asdict(verdict),
    }


def _summary(ingestion: Ingestion, versions: dict[str, int], *, is_new: bool) -> QualityResult:
    lake = ingestion.workplace.lake
    quality = lake.ensure(ingestion.dataset, "quality")
    episodes = lake.open(ingestion.dataset, "episodes")
    columns = ["source_key", "status", "status_reason"]
    rows = episodes.read(columns, equals("upload", ingestion.upload)).to_pylist()
    mine = all_of(ingestion.where(), equals("rules_version", RULES_VERSION))
    doubtful = sorted(
        (row["status"], row["source_key"], row["status_reason"] or "")
        for row in rows
        if row["status"] != STATUS_OK
    )
    return QualityResult(
        quality_version=quality.version,
        reads=versions,
        is_new=is_new,
        num_by_status=dict(Counter(row["status"] for row in rows)),
        num_findings_by_rule=dict(Counter(quality.read(["rule"], mine)["rule"].to_pylist())),
        reasons=tuple((key, status, reason) for status, key, reason in reversed(doubtful)),
    )


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
