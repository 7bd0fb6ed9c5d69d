"""Quality checks per episode in workers: stored measurements are taken where they fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from robot_data_platform.core.measurement_schema import MEASUREMENTS
from robot_data_platform.quality.episode import check_episode, fits, snapshot_at
from robot_data_platform.quality.measurement_rows import episode_measurements, measurement_rows
from robot_data_platform.quality.measurements import MEASUREMENTS_VERSION
from robot_data_platform.quality.report import CameraLag, worst_lag
from robot_data_platform.quality.stored_episode import read_episode
from robot_data_platform.storage.commit import write_rows
from robot_data_platform.storage.lake import Lake
from robot_data_platform.storage.predicate import all_of, equals

if TYPE_CHECKING:
    from collections.abc import Mapping

    from robot_data_platform.core.finding import Finding
    from robot_data_platform.quality.measurements import EpisodeMeasurements
    from robot_data_platform.quality.report import EpisodeKeys
    from robot_data_platform.quality.stored_episode import StoredEpisode
    from robot_data_platform.quality.thresholds import Thresholds
    from robot_data_platform.storage.table import LakeTable


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckTask:
    """One episode to check at fixed versions."""

    lake_root: str
    dataset: str
    versions: Mapping[str, int]
    """Of ``episodes``, ``frames``, ``gops`` and ``measurements``."""
    keys: EpisodeKeys
    content_digest: str
    limits: Thresholds


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedEpisode:
    """What the rules found in one episode, and its measurements where they are new."""

    findings: tuple[Finding, ...]
    lag: CameraLag | None
    fragments: tuple[str, ...]
    """Rows of ``measurements`` that no version names yet."""


def check_task(task: CheckTask) -> CheckedEpisode:
    """Judge one episode, measuring it where that was not done before (runs in a worker)."""
    snapshot = snapshot_at(task.lake_root, task.dataset, task.versions)
    lake, index = Lake(task.lake_root), task.keys.episode_index
    table = lake.open(task.dataset, MEASUREMENTS, task.versions[MEASUREMENTS])
    stored = read_episode(snapshot, index)
    known = _known(table, task.content_digest, stored)
    check = check_episode(snapshot, stored, task.limits, known)
    fragments: list[str] = []
    if known is None:
        rows = measurement_rows(task.content_digest, index, check.measured)
        fragments = write_rows(table.uri, table.schema, rows.cast(table.schema).to_batches())
    return CheckedEpisode(
        findings=check.findings,
        lag=worst_lag(check.measured, task.limits),
        fragments=tuple(fragments),
    )


def _known(
    table: LakeTable, content_digest: str, stored: StoredEpisode
) -> EpisodeMeasurements | None:
    """Return what was measured of equal content by this code, or None."""
    where = all_of(
        equals("content_digest", content_digest),
        equals("measurements_version", MEASUREMENTS_VERSION),
    )
    cameras = [stream.camera for stream in stored.streams]
    known = episode_measurements(table.read(where=where).to_pylist(), cameras)
    return known if known is not None and fits(known, stored) else None
