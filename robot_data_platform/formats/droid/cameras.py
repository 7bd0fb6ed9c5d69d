"""Cameras of a DROID episode: which role each has, its video, its times, its calibration."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from robot_data_platform.core.calibration import CameraCalibration
from robot_data_platform.core.finding import Finding, Severity
from robot_data_platform.core.recording import CameraStream, VideoSegment
from robot_data_platform.core.source import Source
from robot_data_platform.formats.data_files import data_path
from robot_data_platform.formats.droid.calibration import (
    CONVENTION,
    LeftView,
    calibration_of,
    declared_findings,
    read_left_view,
)
from robot_data_platform.formats.droid.clock import camera_times, pairing_findings
from robot_data_platform.formats.droid.declared import ROLES, Declared
from robot_data_platform.formats.droid.folders import EpisodeFolder
from robot_data_platform.formats.hdf5_members import datasets, group_at
from robot_data_platform.formats.names import column_name, unique_names
from robot_data_platform.formats.row_rate import RowTimes

if TYPE_CHECKING:
    import h5py

CAMERA_TYPE = "observation/camera_type"
ON_THE_ARM = 0
"""Value of ``camera_type`` of a camera that moves with the arm (droid, camera_utils/info.py)."""


@dataclass(slots=True, kw_only=True)
class Cameras:
    """The cameras of one episode, and what their reading came to."""

    streams: list[CameraStream] = field(default_factory=list)
    views: dict[str, LeftView] = field(default_factory=dict)
    """Left views by camera name."""
    timed: set[str] = field(default_factory=set)
    """Serials whose clock was told of: the views of a camera share it."""
    findings: list[Finding] = field(default_factory=list)
    metadata: dict[str, str] = field(default_factory=dict)


def read_cameras(
    source: Source,
    folder: EpisodeFolder,
    file: h5py.File,
    declared: Declared,
    rows: RowTimes,
    subject: str,
) -> Cameras:
    """Return every camera of which there is a video; picture k was read in step k.

    Raises
    ------
    DataFaultError
        ``missing-file``, ``unreadable-file``: a video is empty or no video at all.
        ``metadata-contradiction``: two videos get the same name. ``row-mismatch``: calibrations of
        another length than the episode.
    """
    types = _camera_types(file, subject)
    roles = _roles(declared, types)
    names = unique_names(sorted(folder.videos), lambda stem: _name(stem, roles), subject)
    cameras = Cameras()
    for stem, name in names.items():
        video = str(data_path(source, folder.videos[stem]))
        _add(cameras, name, stem, video, _Episode(file, declared, rows, subject))
    cameras.findings += _role_findings(declared, types, subject)
    cameras.findings += _missing(folder, types, roles, subject)
    if cameras.views:
        cameras.metadata["camera_extrinsics"] = CONVENTION
    return cameras


@dataclass(frozen=True, slots=True)
class _Episode:
    file: h5py.File
    declared: Declared
    rows: RowTimes
    subject: str


def _add(cameras: Cameras, name: str, stem: str, video: str, episode: _Episode) -> None:
    serial, _, view = stem.partition("-")
    row_ns, subject = episode.rows.timestamp_ns, episode.subject
    times, clock, doubts = camera_times(episode.file, serial, episode.rows, subject)
    if serial not in cameras.timed:
        cameras.findings += (*doubts, *pairing_findings(row_ns, times, name, subject))
        cameras.timed.add(serial)
    pictures = VideoSegment(path=video, first_frame=0, num_frames=len(row_ns), is_last=True)
    calibration = None if view else _calibration(cameras, name, serial, episode)
    cameras.metadata |= {f"serial/{name}": serial, f"clock/{name}": clock}
    cameras.streams.append(
        CameraStream(name=name, timestamp_ns=times, pictures=pictures, calibration=calibration)
    )


def _calibration(
    cameras: Cameras, name: str, serial: str, episode: _Episode
) -> CameraCalibration | None:
    num_rows = len(episode.rows.timestamp_ns)
    left = read_left_view(episode.file, serial, num_rows, episode.subject)
    calibration, unusable = calibration_of(left, name, episode.subject)
    cameras.views[name] = left
    cameras.findings += unusable
    cameras.findings += declared_findings(episode.declared, left, name, episode.subject)
    cameras.metadata |= _vectors(left, name)
    return calibration and replace(calibration, serial=serial)


def _vectors(view: LeftView, name: str) -> dict[str, str]:
    stated = {"": view.extrinsics, "_gripper_offset": view.gripper_offset}
    return {
        f"camera_extrinsics/{name}{suffix}": json.dumps(vectors.first.tolist())
        for suffix, vectors in stated.items()
        if vectors is not None
    }


def _camera_types(file: h5py.File, subject: str) -> dict[str, int]:
    found = datasets(group_at(file, CAMERA_TYPE), subject)
    return {
        serial: int(dataset[0])
        for serial, dataset in found
        if dataset.dtype.kind in "iu" and dataset.ndim == 1 and len(dataset)
    }


def _roles(declared: Declared, types: Mapping[str, int]) -> dict[str, str]:
    """Return roles by serial: as declared, else by DROID's rule from the types."""
    stated = {declared.serial(role): role for role in ROLES}
    by_declaration = {serial: role for serial, role in stated.items() if serial is not None}
    return by_declaration or _roles_by_type(types)


def _roles_by_type(types: Mapping[str, int]) -> dict[str, str]:
    on_arm = [serial for serial in sorted(types) if types[serial] == ON_THE_ARM]
    fixed = [serial for serial in sorted(types) if types[serial] != ON_THE_ARM]
    roles = {serial: f"ext{number}" for number, serial in enumerate(fixed, start=1)}
    return roles | ({on_arm[0]: "wrist"} if len(on_arm) == 1 else {})


def _name(stem: str, roles: Mapping[str, str]) -> str:
    serial, _, view = stem.partition("-")
    role = roles.get(serial, f"camera_{column_name(serial)}")
    return f"{role}_{column_name(view)}" if view else role


def _role_findings(declared: Declared, types: Mapping[str, int], subject: str) -> Iterator[Finding]:
    for role in ROLES:
        serial = declared.serial(role)
        kind = types.get(serial or "")
        if kind is not None and (kind == ON_THE_ARM) != (role == "wrist"):
            yield Finding(
                rule="camera_roles_as_declared",
                severity=Severity.WARN,
                message=f"{subject}: camera {serial!r} is {role!r} in the JSON file: got "
                f"camera_type {kind} in the trajectory, expected "
                f"{'0' if role == 'wrist' else 'another one than 0'}. The role was kept.",
                where=f"camera={role}",
                value=kind,
            )


def _missing(
    folder: EpisodeFolder, types: Mapping[str, int], roles: Mapping[str, str], subject: str
) -> Iterator[Finding]:
    recorded = {stem.partition("-")[0] for stem in folder.videos}
    for serial in sorted({*types, *roles} - recorded):
        yield Finding(
            rule="camera_is_recorded",
            severity=Severity.WARN,
            message=f"{subject}: camera {roles.get(serial, serial)!r} was left out: got no "
            f"'recordings/MP4/{serial}.mp4', expected its video.",
            where=f"camera={roles.get(serial, serial)}",
            value=0,
            unit="files",
        )
