"""The spatial checks of one episode of a lake: what a worker does, and the rows it comes to."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np

from robot_data_platform.compute.spatial_input import StatedFacts, spatial_input
from robot_data_platform.core.finding import Finding, Severity
from robot_data_platform.core.finding_rows import EpisodeKeys, finding_row
from robot_data_platform.errors import DataFaultError, ErrorKind, InvalidInputError
from robot_data_platform.quality.stored_episode import read_episode
from robot_data_platform.spatial.check import EpisodeCheck, check_episode, verdict_of
from robot_data_platform.spatial.judgement import not_measured
from robot_data_platform.spatial.overlay import overlays
from robot_data_platform.spatial.verdict import CameraStatus
from robot_data_platform.storage.lake import Lake
from robot_data_platform.storage.snapshot import Snapshot
from robot_data_platform.video.picture import contact_sheet

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from robot_data_platform.spatial.check import CameraCheck
    from robot_data_platform.spatial.thresholds import SpatialThresholds

MAX_OVERLAY_BYTES = 30_000

STAGE = "spatial"
"""``stage`` of findings of these checks."""
CAMERA_RULE = "camera_was_measured"
"""Rule of the row that holds what was measured of a camera."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpatialTask:
    """One episode to check at fixed versions."""

    lake_root: str
    dataset: str
    versions: Mapping[str, int]
    keys: EpisodeKeys
    stated: StatedFacts
    limits: SpatialThresholds
    rules_version: str
    is_shown: bool = False
    """Whether to draw overlays of cameras that are ok, too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpatialRows:
    """What checking one episode came to, as rows and columns."""

    keys: EpisodeKeys
    rows: tuple[dict[str, object], ...]
    """Of ``spatial``."""
    findings: tuple[Finding, ...]
    columns: dict[str, object]
    """Of ``episodes``."""
    status_by_camera: dict[str, str]


def check_spatial_task(task: SpatialTask) -> SpatialRows:
    """Return what one episode comes to (runs in a worker); what fails is `not measured`."""
    snapshot = _snapshot(task)
    sheets: dict[str, bytes] = {}
    try:
        checked, sheets = _check(task, snapshot)
    except (InvalidInputError, DataFaultError) as err:
        is_absent = err.kind is ErrorKind.NOT_INSTALLED
        rule = "spatial_checks_are_installed" if is_absent else "episode_is_measurable"
        checked = _nothing(not_measured(rule, "episode", str(err).removesuffix(".")))
    return _rows(task, checked, sheets)


def _check(task: SpatialTask, snapshot: Snapshot) -> tuple[EpisodeCheck, dict[str, bytes]]:
    """Return what an episode comes to, and a sheet of overlays by camera."""
    stored = read_episode(snapshot, task.keys.episode_index)
    episode, doubts = spatial_input(snapshot.gops, stored, task.keys.episode_id, task.stated)
    if episode is None:
        return _nothing(*doubts), {}
    checked = check_episode(episode, task.limits)
    sheets = {
        camera.name: contact_sheet(drawn, MAX_OVERLAY_BYTES)
        for camera, shown in zip(episode.cameras, checked.cameras, strict=True)
        if (task.is_shown or shown.is_doubtful)
        and (drawn := overlays(episode, camera, shown.proposed))
    }
    found = EpisodeCheck(findings=(*doubts, *checked.findings), cameras=checked.cameras)
    return found, sheets


def _nothing(*findings: Finding) -> EpisodeCheck:
    return EpisodeCheck(findings=findings, cameras=())


def _snapshot(task: SpatialTask) -> Snapshot:
    lake = Lake(task.lake_root)
    episodes, frames, gops = (
        lake.open(task.dataset, name, task.versions[name])
        for name in ("episodes", "frames", "gops")
    )
    return Snapshot(
        dataset=task.dataset,
        episodes=episodes,
        frames=frames,
        gops=gops,
        splits=None,
        release=None,
    )


def _rows(task: SpatialTask, checked: EpisodeCheck, sheets: Mapping[str, bytes]) -> SpatialRows:
    found = checked.all_findings
    rows = [_row(task, finding) for finding in found]
    rows += [
        {**_camera_row(task, camera), "overlay": sheets.get(camera.name)}
        for camera in checked.cameras
        if camera.measured.frames
    ]
    return SpatialRows(
        keys=task.keys,
        rows=tuple(rows),
        findings=found,
        columns=spatial_columns(task.rules_version, found, checked),
        status_by_camera={camera.name: camera.status.value for camera in checked.cameras},
    )


def spatial_columns(
    version: str, findings: Sequence[Finding], checked: EpisodeCheck
) -> dict[str, object]:
    """Return what an episode's checks come to as columns of ``episodes``."""
    count = Counter(finding.severity for finding in findings)
    statuses = {camera.name: camera.status for camera in checked.cameras}
    causes = sorted({c.diagnosis.cause for c in checked.cameras if c.diagnosis is not None})
    return {
        "s_version": version,
        "s_verdict": verdict_of(findings, list(statuses.values())),
        "s_num_info": count[Severity.INFO],
        "s_num_warn": count[Severity.WARN],
        "s_num_fail": count[Severity.FAIL],
        "s_rules_broken": sorted({f.rule for f in findings if f.severity is not Severity.INFO}),
        "s_cause": ", ".join(causes) or None,
        "s_cameras_ok": sorted(n for n, status in statuses.items() if status is CameraStatus.OK),
    }


def _row(task: SpatialTask, finding: Finding) -> dict[str, object]:
    return {
        **finding_row(task.keys, finding, stage=STAGE, rules_version=task.rules_version),
        "camera": _camera_of(finding),
        "details_json": None,
        "overlay": None,
    }


def _camera_of(finding: Finding) -> str | None:
    head, _, name = finding.where.partition("camera=")
    return name.split(" ")[0] if name and not head else None


def _camera_row(task: SpatialTask, camera: CameraCheck) -> dict[str, object]:
    finding = Finding(
        rule=CAMERA_RULE,
        severity=Severity.INFO,
        message=f"Measured in {camera.measured.num_frames} frames: {camera.status}.",
        where=f"camera={camera.name}",
    )
    return {
        **_row(task, finding),
        "details_json": json.dumps(
            {
                "status": camera.status.value,
                "measured": _plain(asdict(camera.measured)),
                "diagnosis": camera.diagnosis and _plain(asdict(camera.diagnosis)),
            },
            allow_nan=False,
        ),
    }


def _plain(value: object) -> object:
    """Return a value as JSON takes it; numbers that are not finite become null."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float):
        return value if abs(value) < float("inf") else None
    return value
