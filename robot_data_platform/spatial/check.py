"""All spatial checks of one episode: what is declared, what pictures show, and the cause."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from robot_data_platform.core.finding import Finding, Severity
from robot_data_platform.spatial.camera_details import CameraDetails
from robot_data_platform.spatial.declared_checks import check_declared
from robot_data_platform.spatial.diagnosis import Diagnosis, diagnose
from robot_data_platform.spatial.episode_input import SpatialInput
from robot_data_platform.spatial.mask_sources import Segmenter
from robot_data_platform.spatial.measure import measure_camera
from robot_data_platform.spatial.measurements import CameraMeasurements
from robot_data_platform.spatial.reading import CameraReading
from robot_data_platform.spatial.thresholds import THRESHOLDS, SpatialThresholds
from robot_data_platform.spatial.verdict import CameraStatus, camera_status, judge_camera

CAUSE_RULE = "cause_of_contradiction"
"""Rule of the finding that tells the cause."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CameraCheck:
    """What one camera came to."""

    measured: CameraMeasurements
    status: CameraStatus
    findings: tuple[Finding, ...]
    diagnosis: Diagnosis | None = None
    """None = nothing to explain, or no explanation."""

    @property
    def name(self) -> str:
        """Name of the camera."""
        return self.measured.camera

    @property
    def proposed(self) -> CameraReading | None:
        """How it should be read; None = nothing is proposed."""
        proposal = self.diagnosis and self.diagnosis.proposal
        return proposal.reading() if proposal else None

    @property
    def is_doubtful(self) -> bool:
        """Whether its pictures contradict its calibration."""
        return is_doubtful(self.status)


def is_doubtful(status: CameraStatus) -> bool:
    """Return whether a camera of this status is explained."""
    return status in (CameraStatus.WARN, CameraStatus.FAIL, CameraStatus.NOT_VISIBLE)


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeCheck:
    """What the spatial checks of an episode came to; picklable."""

    findings: tuple[Finding, ...]
    """Of what is declared; those of cameras are with them."""
    cameras: tuple[CameraCheck, ...]

    @property
    def all_findings(self) -> tuple[Finding, ...]:
        """Every finding, those of cameras too."""
        return (*self.findings, *(f for camera in self.cameras for f in camera.findings))


def check_episode(
    episode: SpatialInput,
    limits: SpatialThresholds = THRESHOLDS,
    *,
    segmenter: Segmenter | None = None,
) -> EpisodeCheck:
    """Return what the checks of one episode come to, with the causes of what is wrong.

    Raises
    ------
    InvalidInputError
        ``not-installed``: the extra ``spatial`` is not.
    DataFaultError
        ``missing-file``: a robot without meshes.
    """
    cameras = [
        _judged(measure_camera(episode, camera, segmenter=segmenter), limits)
        for camera in episode.cameras
    ]
    doubtful = [camera.name for camera in cameras if camera.is_doubtful]
    causes = diagnose(episode, doubtful, segmenter=segmenter) if doubtful else {}
    return EpisodeCheck(
        findings=tuple(check_declared(episode, limits)),
        cameras=tuple(_explained(camera, causes.get(camera.name)) for camera in cameras),
    )


def judge_again(
    episode: SpatialInput,
    known: Mapping[str, CameraDetails],
    limits: SpatialThresholds = THRESHOLDS,
) -> EpisodeCheck | None:
    """Return what measurements that were made before come to by these limits.

    Parameters
    ----------
    episode : SpatialInput
        What is declared; no picture of it is looked at.
    known : mapping of str to CameraDetails
        Every camera of it, by name.
    limits : SpatialThresholds
        What the measurements are held against.

    Returns
    -------
    EpisodeCheck or None
        None where they put a camera in doubt that was not: its cause is not known.
    """
    cameras = [_judged(known[camera.name].measured, limits) for camera in episode.cameras]
    if any(c.is_doubtful and not is_doubtful(_status(known[c.name])) for c in cameras):
        return None
    return EpisodeCheck(
        findings=tuple(check_declared(episode, limits)),
        cameras=tuple(
            _explained(camera, known[camera.name].diagnosis if camera.is_doubtful else None)
            for camera in cameras
        ),
    )


def _status(details: CameraDetails) -> CameraStatus:
    return CameraStatus(details.status)


def _judged(measured: CameraMeasurements, limits: SpatialThresholds) -> CameraCheck:
    findings = judge_camera(measured, limits)
    status = camera_status(measured, findings, limits)
    return CameraCheck(measured=measured, status=status, findings=tuple(findings))


def _explained(camera: CameraCheck, found: Diagnosis | None) -> CameraCheck:
    """Return a camera with its cause, and the finding that tells it."""
    if found is None:
        return camera
    told = Finding(
        rule=CAUSE_RULE,
        severity=Severity.INFO,
        message=f"Most likely {found.says}: agreement {found.score_best:.2f}, "
        f"{found.score_declared:.2f} as declared, {found.score_second:.2f} for the next best "
        f"({found.second or 'none'}).",
        where=f"camera={camera.name} cause={found.cause}",
        value=found.score_best,
        threshold=found.score_declared,
        unit="1",
    )
    return replace(camera, diagnosis=found, findings=(*camera.findings, told))


def verdict_of(findings: Sequence[Finding], statuses: Sequence[CameraStatus]) -> str | None:
    """Return one word for an episode; None = no camera was measured, and nothing is wrong."""
    severities = {finding.severity for finding in findings}
    for severity in (Severity.FAIL, Severity.WARN):
        if severity in severities:
            return severity.value
    if CameraStatus.OK in statuses:
        return CameraStatus.OK.value
    measured = [s for s in statuses if s is not CameraStatus.NO_CALIBRATION]
    return measured[0].value if measured else None
