"""Quality checks of an upload: findings to ``quality``, verdicts to columns of ``episodes``."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from robot_data_platform.compute.episode_checks import CheckTask, check_task
from robot_data_platform.compute.episodes_map import Fanout, Progress, map_episodes
from robot_data_platform.compute.findings import record_checks
from robot_data_platform.compute.older_tables import with_columns_of
from robot_data_platform.compute.set_checks import check_sets
from robot_data_platform.compute.standing import (
    SPATIAL,
    columns_of_episodes,
    findings_of,
    status_columns,
    worst_markdown,
)
from robot_data_platform.core.finding import (
    STATUS_FLAGGED,
    STATUS_OK,
    STATUS_QUARANTINED,
    Finding,
)
from robot_data_platform.core.measurement_schema import MEASUREMENTS
from robot_data_platform.core.schema import episodes_schema
from robot_data_platform.quality.report import (
    CameraLag,
    EpisodeKeys,
    findings_by_episode,
    findings_table,
    rollup,
)
from robot_data_platform.quality.thresholds import THRESHOLDS, Thresholds, rules_version
from robot_data_platform.storage.commit import commit_fragments, rewrite_columns
from robot_data_platform.storage.predicate import all_of, equals

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

    from robot_data_platform.compute.ingestion import (
        Ingestion,
    )
    from robot_data_platform.core.run import RunInfo
    from robot_data_platform.storage.table import LakeTable

WORST_SHOWN = 10
READ_TABLES = ("episodes", "frames", "gops")
"""What findings follow from; measurements are a shorter way there, and no source."""


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
        return worst_markdown(
            ("episode", "status", "reason"),
            self.reasons[:WORST_SHOWN],
            otherwise="Every episode is ok.",
        )


def write_quality(
    ingestion: Ingestion,
    fanout: Fanout,
    run: RunInfo,
    progress: Progress | None = None,
    limits: Thresholds = THRESHOLDS,
) -> QualityResult:
    """Check every episode of an upload that these rules have not judged yet.

    Measurements are written first, findings second, verdicts third, each in one commit; where all
    are there, nothing is written. Episodes that were measured before are only judged anew.

    Parameters
    ----------
    ingestion : Ingestion
        The upload.
    fanout : Fanout
        Where to work.
    run : RunInfo
        Kept with the commits.
    progress : callable, optional
        Called after each episode.
    limits : Thresholds
        What measurements are held against.
    """
    lake, dataset, version = ingestion.workplace.lake, ingestion.dataset, rules_version(limits)
    episodes = with_columns_of(lake.open(dataset, "episodes"), episodes_schema())
    versions = {name: lake.open(dataset, name).version for name in READ_TABLES}
    unjudged = _unjudged(ingestion, episodes, version)
    if unjudged:
        found = _check_all(ingestion, unjudged, versions, fanout, run, progress, limits)
        told = [(keys, episode.findings) for keys, episode in found.items()]
        record_checks(ingestion, findings_table(told, version), version, run)
        lags = {keys: episode.lag for keys, episode in found.items()}
        verdicts = _verdicts(ingestion, unjudged, lags, version)
        rewrite_columns(episodes.uri, verdicts, key="episode_index", properties=run.properties())
    return _summary(ingestion, versions, version, is_new=bool(unjudged))


@dataclass(frozen=True, slots=True)
class _Unjudged:
    """An episode without a verdict of these rules."""

    content_digest: str
    is_quarantined: bool


@dataclass(frozen=True, slots=True)
class _Found:
    """What the rules came to for one episode."""

    findings: tuple[Finding, ...]
    lag: CameraLag | None


def _unjudged(
    ingestion: Ingestion, episodes: LakeTable, version: str
) -> dict[EpisodeKeys, _Unjudged]:
    columns = ["episode_index", "episode_id", "upload", "status", "q_version", "content_digest"]
    mine = all_of(
        equals("upload", ingestion.upload), equals("ingestion_id", ingestion.ingestion_id)
    )
    rows = episodes.read(columns, mine).to_pylist()
    return {
        EpisodeKeys(
            episode_index=row["episode_index"],
            episode_id=row["episode_id"],
            upload=row["upload"],
        ): _Unjudged(row["content_digest"], row["status"] == STATUS_QUARANTINED)
        for row in rows
        if row["q_version"] != version
    }


def _check_all(
    ingestion: Ingestion,
    unjudged: Mapping[EpisodeKeys, _Unjudged],
    versions: Mapping[str, int],
    fanout: Fanout,
    run: RunInfo,
    progress: Progress | None,
    limits: Thresholds,
) -> dict[EpisodeKeys, _Found]:
    """Return what the rules find in each episode by itself, then beside the others."""
    lake, dataset = ingestion.workplace.lake, ingestion.dataset
    measured = lake.ensure(dataset, MEASUREMENTS).version
    tasks = [
        CheckTask(
            lake_root=ingestion.workplace.lake_root,
            dataset=dataset,
            versions={**versions, MEASUREMENTS: measured},
            keys=keys,
            content_digest=facts.content_digest,
            limits=limits,
        )
        for keys, facts in unjudged.items()
        if not facts.is_quarantined
    ]
    checked = [o.result() for o in map_episodes(check_task, tasks, fanout, progress)]
    commit_fragments(
        lake.table_uri(dataset, MEASUREMENTS),
        [fragment for episode in checked for fragment in episode.fragments],
        properties=run.properties(),
    )
    indices = [task.keys.episode_index for task in tasks]
    beside = check_sets(lake, dataset, versions["episodes"], indices, limits)
    return {
        task.keys: _Found(
            (*episode.findings, *beside.get(task.keys.episode_index, ())), episode.lag
        )
        for task, episode in zip(tasks, checked, strict=True)
    }


def _verdicts(
    ingestion: Ingestion,
    unjudged: Mapping[EpisodeKeys, _Unjudged],
    lags: Mapping[EpisodeKeys, CameraLag | None],
    version: str,
) -> pa.Table:
    """Return the columns of ``episodes`` that the findings of these rules and of ingestion come to.

    Findings are taken as they are recorded: an ingestion that is published again keeps those that
    it had, even where it would be judged otherwise beside the episodes of today.
    """
    lake = ingestion.workplace.lake
    quality = lake.open(ingestion.dataset, "quality")
    earlier = findings_by_episode(
        quality.read(where=equals("rules_version", ingestion.ingestion_id))
    )
    mine = all_of(ingestion.where(), equals("rules_version", version))
    found = findings_by_episode(quality.read(where=mine))
    rows, spatial = [], findings_of(ingestion, SPATIAL)
    for keys, facts in unjudged.items():
        before = earlier.get(keys.episode_index, [])
        now = found.get(keys.episode_index, [])
        verdict = rollup(
            now,
            version,
            earlier=before,
            is_quarantined=facts.is_quarantined,
            lag=lags.get(keys),
        )
        standing = [*before, *now, *spatial.get(keys.episode_index, [])]
        status = status_columns(standing, is_quarantined=facts.is_quarantined)
        rows.append({"episode_index": keys.episode_index, **asdict(verdict), **status})
    return columns_of_episodes(lake, ingestion.dataset, rows)


def _summary(
    ingestion: Ingestion, versions: dict[str, int], version: str, *, is_new: bool
) -> QualityResult:
    lake = ingestion.workplace.lake
    quality = lake.ensure(ingestion.dataset, "quality")
    episodes = lake.open(ingestion.dataset, "episodes")
    columns = ["source_key", "status", "status_reason"]
    rows = episodes.read(columns, equals("upload", ingestion.upload)).to_pylist()
    mine = all_of(ingestion.where(), equals("rules_version", version))
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
