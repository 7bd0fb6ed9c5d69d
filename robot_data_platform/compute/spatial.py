"""Spatial checks of an upload: findings to ``spatial``, verdicts to columns of ``episodes``."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from robot_data_platform.compute.calibrations import (
    Accepted,
    accepted_calibrations,
    accepted_for,
)
from robot_data_platform.compute.episodes_map import Fanout, Progress, map_episodes
from robot_data_platform.compute.older_tables import with_columns_of
from robot_data_platform.compute.session_checks import check_sessions
from robot_data_platform.compute.spatial_episode import SpatialTask, check_spatial_task
from robot_data_platform.compute.spatial_input import StatedFacts
from robot_data_platform.compute.standing import (
    QUALITY,
    SPATIAL,
    columns_of_episodes,
    findings_of,
    findings_of_ingestion,
    status_columns,
    worst_markdown,
)
from robot_data_platform.core.finding import STATUS_QUARANTINED
from robot_data_platform.core.finding_rows import EpisodeKeys
from robot_data_platform.core.findings_schema import spatial_schema
from robot_data_platform.core.schema import episodes_schema
from robot_data_platform.errors import DataFaultError, InvalidInputError
from robot_data_platform.spatial.optional_packages import is_spatial_installed
from robot_data_platform.spatial.robot_loader import robot_file
from robot_data_platform.spatial.segmenters import check_segmenter
from robot_data_platform.spatial.thresholds import THRESHOLDS, SpatialThresholds, checks_version
from robot_data_platform.storage.commit import append_rows, rewrite_columns
from robot_data_platform.storage.predicate import all_of, equals, is_in

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from robot_data_platform.compute.ingestion import Ingestion
    from robot_data_platform.compute.spatial_episode import SpatialRows
    from robot_data_platform.core.finding import Finding
    from robot_data_platform.core.run import RunInfo
    from robot_data_platform.storage.table import LakeTable

WORST_SHOWN = 10
READ_TABLES = ("episodes", "frames", "gops")
UNMEASURED = "-unmeasured"
"""End of the version of a verdict that was made without the means to measure."""
NOT_MEASURED = "not measured"
_WEIGHT = {"fail": 0, "warn": 1}


@dataclass(frozen=True, slots=True, kw_only=True)
class SpatialResult:
    """What checking an upload came to, for the materialization's metadata."""

    spatial_version: int
    reads: dict[str, int]
    is_new: bool
    num_by_verdict: dict[str, int]
    """Episodes by verdict; those without one are `NOT_MEASURED`."""
    num_findings_by_rule: dict[str, int]
    worst: tuple[tuple[str, str, str, str], ...]
    """(episode, severity, where, message) of what is wrong, worst first."""
    overlays: dict[str, bytes]
    """A JPEG by camera, of the episode in which it is worst."""

    def worst_markdown(self) -> str:
        """Return the worst findings as a Markdown table."""
        return worst_markdown(
            ("episode", "severity", "where", "what"),
            self.worst[:WORST_SHOWN],
            otherwise="Nothing that was measured is wrong.",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Due:
    """An episode to check."""

    keys: EpisodeKeys
    robot: str | None
    calibrations_json: str | None
    is_quarantined: bool
    segmenter: str | None
    version: str
    accepted: tuple[Accepted, ...]


def write_spatial(
    ingestion: Ingestion,
    fanout: Fanout,
    run: RunInfo,
    progress: Progress | None = None,
    limits: SpatialThresholds = THRESHOLDS,
    segmenter: str | None = None,
) -> SpatialResult:
    """Check every episode of an upload that these checks have not judged yet.

    Findings are written first, verdicts second, each in one commit; where both are there, nothing
    is written. A verdict made with the robot's model is never replaced by one without. Where no
    masks are recorded, the model ``segmenter`` makes them.

    Raises
    ------
    InvalidInputError
        ``invalid-argument``: no installed package has this segmenter.
    """
    if segmenter is not None:
        check_segmenter(segmenter)
    lake, dataset = ingestion.workplace.lake, ingestion.dataset
    episodes = with_columns_of(lake.open(dataset, "episodes"), episodes_schema())
    spatial = with_columns_of(lake.ensure(dataset, SPATIAL.table), spatial_schema())
    versions = {name: lake.open(dataset, name).version for name in READ_TABLES}
    due = _due(ingestion, episodes, limits, segmenter)
    if due:
        known = {**versions, SPATIAL.table: spatial.version}
        checked = _check_all(ingestion, due, known, limits, fanout, progress)
        _record(ingestion, checked, run)
        verdicts = _verdicts(ingestion, due, checked)
        rewrite_columns(episodes.uri, verdicts, key="episode_index", properties=run.properties())
    return _summary(ingestion, versions, is_new=bool(due))


def _due(
    ingestion: Ingestion, episodes: LakeTable, limits: SpatialThresholds, segmenter: str | None
) -> list[_Due]:
    columns = ["episode_index", "episode_id", "upload", "status", "robot", "calibrations_json"]
    mine = all_of(
        equals("upload", ingestion.upload), equals("ingestion_id", ingestion.ingestion_id)
    )
    rows = episodes.read([*columns, SPATIAL.version_column], mine).to_pylist()
    suffix = {robot: _suffix(robot) for robot in {row["robot"] for row in rows}}
    lake = ingestion.workplace.lake
    known = accepted_calibrations(lake, ingestion.dataset, ingestion.upload)
    accepted = [tuple(accepted_for(row["calibrations_json"], known)) for row in rows]
    listed = [
        _Due(
            keys=EpisodeKeys(
                episode_index=row["episode_index"],
                episode_id=row["episode_id"],
                upload=row["upload"],
            ),
            robot=row["robot"],
            calibrations_json=row["calibrations_json"],
            is_quarantined=row["status"] == STATUS_QUARANTINED,
            segmenter=segmenter,
            version=checks_version(limits, [a.acceptance_id for a in holding], segmenter)
            + suffix[row["robot"]],
            accepted=holding,
        )
        for row, holding in zip(rows, accepted, strict=True)
    ]
    held = [row[SPATIAL.version_column] for row in rows]
    return [new for new, old in zip(listed, held, strict=True) if _is_due(new.version, old)]


def _is_due(new: str, old: str | None) -> bool:
    was_measured = old is not None and not old.endswith(UNMEASURED)
    return new != old and not (new.endswith(UNMEASURED) and was_measured)


def _suffix(robot: str | None) -> str:
    """Return `UNMEASURED` where this machine lacks what a robot is measured with."""
    try:
        is_able = is_spatial_installed() and bool(robot) and robot_file(str(robot)).is_file()
    except (InvalidInputError, DataFaultError):
        is_able = False
    return "" if is_able else UNMEASURED


def _check_all(
    ingestion: Ingestion,
    due: Sequence[_Due],
    versions: Mapping[str, int],
    limits: SpatialThresholds,
    fanout: Fanout,
    progress: Progress | None,
) -> list[SpatialRows]:
    beside = check_sessions(ingestion, limits)
    tasks = [
        SpatialTask(
            lake_root=ingestion.workplace.lake_root,
            dataset=ingestion.dataset,
            versions=versions,
            keys=episode.keys,
            stated=StatedFacts.of(
                ingestion.profile,
                episode.robot,
                episode.calibrations_json,
                episode.accepted,
                episode.segmenter,
            ),
            limits=limits,
            rules_version=episode.version,
            beside=tuple(beside.get(episode.keys.episode_index, ())),
            is_shown=number == 0,
        )
        for number, episode in enumerate(e for e in due if not e.is_quarantined)
    ]
    return [o.result() for o in map_episodes(check_spatial_task, tasks, fanout, progress)]


def _record(ingestion: Ingestion, checked: Sequence[SpatialRows], run: RunInfo) -> None:
    rows = [row for episode in checked for row in episode.rows]
    if rows:
        versions = sorted({str(row["rules_version"]) for row in rows})
        mine = all_of(
            is_in("episode_index", [e.keys.episode_index for e in checked]),
            is_in("rules_version", versions),
        )
        append_rows(
            ingestion.workplace.lake.ensure(ingestion.dataset, SPATIAL.table).uri,
            pa.Table.from_pylist(rows, schema=spatial_schema()),
            properties=run.properties(),
            is_done=lambda at: at.count_rows(mine) > 0,
        )


def _verdicts(
    ingestion: Ingestion, due: Sequence[_Due], checked: Sequence[SpatialRows]
) -> pa.Table:
    """Return the columns of ``episodes`` that these findings and all others come to."""
    before, quality = findings_of_ingestion(ingestion), findings_of(ingestion, QUALITY)
    found = {episode.keys: episode for episode in checked}
    rows = []
    for episode in due:
        index, now = episode.keys.episode_index, found.get(episode.keys)
        standing = [*before.get(index, []), *quality.get(index, [])]
        standing += now.findings if now else []
        columns = now.columns if now else {**_UNJUDGED, "s_version": episode.version}
        status = status_columns(standing, is_quarantined=episode.is_quarantined)
        rows.append({"episode_index": index, **columns, **status})
    return columns_of_episodes(ingestion.workplace.lake, ingestion.dataset, rows)


_UNJUDGED: Mapping[str, object] = dict.fromkeys(
    field.name for field in episodes_schema() if field.name.startswith("s_")
)


def _summary(ingestion: Ingestion, versions: dict[str, int], *, is_new: bool) -> SpatialResult:
    lake, dataset = ingestion.workplace.lake, ingestion.dataset
    columns = ["episode_index", "source_key", "s_verdict"]
    rows = lake.open(dataset, "episodes").read(columns, equals("upload", ingestion.upload))
    key_of = dict(
        zip(rows["episode_index"].to_pylist(), rows["source_key"].to_pylist(), strict=True)
    )
    found = findings_of(ingestion, SPATIAL)
    wrong = [
        (_WEIGHT[finding.severity.value], key_of[index], finding)
        for index, findings in found.items()
        for finding in findings
        if index in key_of and finding.severity.value in _WEIGHT
    ]
    wrong.sort(key=lambda entry: (entry[0], entry[1]))
    return SpatialResult(
        spatial_version=lake.open(dataset, SPATIAL.table).version,
        reads=versions,
        is_new=is_new,
        num_by_verdict=dict(Counter(v or NOT_MEASURED for v in rows["s_verdict"].to_pylist())),
        num_findings_by_rule=dict(Counter(f.rule for fs in found.values() for f in fs)),
        worst=tuple((key, f.severity.value, f.where, f.message) for _, key, f in wrong),
        overlays=_overlays(ingestion, found),
    )


def _overlays(ingestion: Ingestion, found: Mapping[int, Sequence[Finding]]) -> dict[str, bytes]:
    """Return the overlay of each camera in the episode with most doubts that has one."""
    table = ingestion.workplace.lake.open(ingestion.dataset, SPATIAL.table)
    where = all_of(ingestion.where(), "`overlay` IS NOT NULL")
    rows = table.read(["episode_index", "rules_version", "camera"], where, with_row_id=True)
    weight = {index: sum(f.severity.value in _WEIGHT for f in fs) for index, fs in found.items()}
    best: dict[str, tuple[int, int]] = {}
    for row in rows.to_pylist():
        candidate = (weight.get(row["episode_index"], 0), row["_rowid"])
        best[row["camera"]] = max(best.get(row["camera"], candidate), candidate)
    ids = np.array([row_id for _, row_id in best.values()], dtype=np.uint64)
    sheets = table.take(ids, ["overlay"])["overlay"].to_pylist() if len(ids) else []
    return dict(zip(best, sheets, strict=True))
