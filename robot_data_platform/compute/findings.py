"""Findings of ingestion: written before what they speak of, read back by later steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from robot_data_platform.core.finding import Finding, Severity
from robot_data_platform.core.finding_rows import EpisodeKeys, finding_row
from robot_data_platform.storage.commit import append_rows
from robot_data_platform.storage.predicate import all_of, equals

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from robot_data_platform.compute.ingestion import (
        EpisodeTask,
        Ingestion,
    )
    from robot_data_platform.core.run import RunInfo
    from robot_data_platform.core.source import Source
    from robot_data_platform.errors import RobotDataError
    from robot_data_platform.storage.table import LakeTable

QUARANTINE_RULE = "episode_can_be_ingested"
"""Rule of the finding that puts an episode in quarantine; its message is the reason."""

SOURCE_EPISODE_INDEX = -1
"""``episode_index`` of a finding about a source as a whole."""

_SOURCE_ROWS = equals("episode_index", SOURCE_EPISODE_INDEX)


def quarantine(error: RobotDataError, source: Source) -> Finding:
    """Return the finding that says why an episode can't be ingested.

    Its message names files where the upload has them, not where they were fetched to.
    """
    return Finding(
        rule=QUARANTINE_RULE,
        severity=Severity.FAIL,
        message=str(error).replace(str(source.local_folder), source.label),
        where=error.kind.value,
    )


def record_source_findings(
    ingestion: Ingestion, findings: Sequence[Finding], run: RunInfo
) -> LakeTable:
    """Write what the source as a whole contradicts; return ``quality`` as it is then."""
    keys = EpisodeKeys(episode_index=SOURCE_EPISODE_INDEX, episode_id="", upload=ingestion.upload)
    rows = [_row(ingestion, keys, "raw_episodes", finding) for finding in findings]
    return _append(ingestion, "raw_episodes", rows, _SOURCE_ROWS, run)


def record_findings(
    ingestion: Ingestion,
    stage: str,
    findings_by_task: Mapping[EpisodeTask, Sequence[Finding]],
    run: RunInfo,
) -> LakeTable:
    """Write the findings of one step of an ingestion, once; return ``quality`` as it is then."""
    rows = [
        _row(ingestion, _keys(ingestion, task), stage, finding)
        for task, findings in findings_by_task.items()
        for finding in findings
    ]
    return _append(ingestion, stage, rows, ingestion.where(), run)


def record_checks(
    ingestion: Ingestion,
    rows: pa.Table,
    rules_version: str,
    run: RunInfo,
    *,
    table: str = "quality",
) -> None:
    """Write to ``quality`` or ``spatial`` what a set of rules found in an ingestion, once."""
    mine = all_of(ingestion.where(), equals("rules_version", rules_version))
    if rows.num_rows:
        append_rows(
            ingestion.workplace.lake.ensure(ingestion.dataset, table).uri,
            rows,
            properties=run.properties(),
            is_done=lambda at: at.count_rows(mine) > 0,
        )


def quarantined(ingestion: Ingestion) -> dict[int, str]:
    """Return the reason by episode index of every episode put in quarantine so far."""
    table = ingestion.workplace.lake.ensure(ingestion.dataset, "quality")
    where = all_of(equals("rules_version", ingestion.ingestion_id), equals("rule", QUARANTINE_RULE))
    rows = table.read(["episode_index", "message"], where).to_pylist()
    return {row["episode_index"]: row["message"] for row in rows}


def _append(
    ingestion: Ingestion, stage: str, rows: list[dict[str, object]], where: str, run: RunInfo
) -> LakeTable:
    lake = ingestion.workplace.lake
    table = lake.ensure(ingestion.dataset, "quality")
    mine = all_of(equals("rules_version", ingestion.ingestion_id), equals("stage", stage), where)
    if rows:
        append_rows(
            table.uri,
            pa.Table.from_pylist(rows, schema=table.schema),
            properties=run.properties(),
            is_done=lambda at: at.count_rows(mine) > 0,
        )
    return lake.open(ingestion.dataset, "quality")


def _keys(ingestion: Ingestion, task: EpisodeTask) -> EpisodeKeys:
    return EpisodeKeys(
        episode_index=task.episode_index, episode_id=task.episode_id, upload=ingestion.upload
    )


def _row(
    ingestion: Ingestion, keys: EpisodeKeys, stage: str, finding: Finding
) -> dict[str, object]:
    return finding_row(keys, finding, stage=stage, rules_version=ingestion.ingestion_id)
