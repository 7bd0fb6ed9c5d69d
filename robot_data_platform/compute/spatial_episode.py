"""The spatial checks of one episode of a lake: what a worker does, and the rows it comes to."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from robot_data_platform.compute.known_cameras import known_cameras, measured_as
from robot_data_platform.compute.spatial_input import StatedFacts, spatial_input
from robot_data_platform.core.finding import Finding, Severity
from robot_data_platform.core.finding_rows import EpisodeKeys, finding_row
from robot_data_platform.errors import DataFaultError, ErrorKind, InvalidInputError
from robot_data_platform.quality.stored_episode import read_episode
from robot_data_platform.spatial.camera_details import CameraDetails, details_to_json
from robot_data_platform.spatial.check import (
    EpisodeCheck,
    check_episode,
    judge_again,
    verdict_of,
)
from robot_data_platform.spatial.judgement import not_measured
from robot_data_platform.spatial.overlay import overlays
from robot_data_platform.spatial.segmenters import segmenter_named
from robot_data_platform.spatial.verdict import CameraStatus
from robot_data_platform.storage.lake import Lake
from robot_data_platform.storage.snapshot import Snapshot
from robot_data_platform.video.picture import contact_sheet

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from robot_data_platform.quality.stored_episode import StoredEpisode
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
    """Of ``episodes``, ``frames``, ``gops`` and ``spatial``."""
    keys: EpisodeKeys
    stated: StatedFacts
    limits: SpatialThresholds
    rules_version: str
    beside: tuple[Finding, ...] = ()
    """What was found of it beside the other episodes."""
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
    return _rows(task, _with_doubts(task.beside, checked), sheets)


def _check(task: SpatialTask, snapshot: Snapshot) -> tuple[EpisodeCheck, dict[str, bytes]]:
    """Return what an episode comes to, and a sheet of overlays by camera.

    What was measured before is only judged anew, and no picture is read.
    """
    stored = read_episode(snapshot, task.keys.episode_index)
    return _judged_again(task, snapshot, stored) or _measured(task, snapshot, stored)


def _judged_again(
    task: SpatialTask, snapshot: Snapshot, stored: StoredEpisode
) -> tuple[EpisodeCheck, dict[str, bytes]] | None:
    """Return what earlier measurements come to; None where they don't suffice."""
    spatial = Lake(task.lake_root).open(task.dataset, "spatial", task.versions["spatial"])
    index = task.keys.episode_index
    known = known_cameras(spatial, index, measured_as(task.stated))
    if not known or task.stated.pictured(stored) - known.keys():
        return None
    episode, doubts = spatial_input(snapshot.gops, stored, task.keys.episode_id, task.stated, ())
    if episode is None:
        return _nothing(*doubts), {}
    details = {name: camera.details for name, camera in known.items()}
    checked = judge_again(episode, details, task.limits)
    if checked is None:
        return None
    sheets = {name: camera.overlay for name, camera in known.items() if camera.overlay is not None}
    return _with_doubts(doubts, checked), sheets


def _measured(
    task: SpatialTask, snapshot: Snapshot, stored: StoredEpisode
) -> tuple[EpisodeCheck, dict[str, bytes]]:
    episode, doubts = spatial_input(snapshot.gops, stored, task.keys.episode_id, task.stated)
    if episode is None:
        return _nothing(*doubts), {}
    segmenter = segmenter_named(task.stated.segmenter) if task.stated.segmenter else None
    checked = check_episode(episode, task.limits, segmenter=segmenter)
    sheets = {
        camera.name: contact_sheet(drawn, MAX_OVERLAY_BYTES)
        for camera, shown in zip(episode.cameras, checked.cameras, strict=True)
        if (task.is_shown or shown.is_doubtful)
        and (drawn := overlays(episode, camera, shown.proposed))
    }
    return _with_doubts(doubts, checked), sheets


def _with_doubts(doubts: Sequence[Finding], checked: EpisodeCheck) -> EpisodeCheck:
    return EpisodeCheck(findings=(*doubts, *checked.findings), cameras=checked.cameras)


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
    """Return the row that holds what was measured; a camera without pictures to measure has one."""
    finding = Finding(
        rule=CAMERA_RULE,
        severity=Severity.INFO,
        message=f"Measured in {camera.measured.num_frames} frames: {camera.status}.",
        where=f"camera={camera.name}",
    )
    details = CameraDetails(
        measured_as=measured_as(task.stated),
        status=camera.status.value,
        measured=camera.measured,
        diagnosis=camera.diagnosis,
    )
    return {**_row(task, finding), "details_json": details_to_json(details)}
