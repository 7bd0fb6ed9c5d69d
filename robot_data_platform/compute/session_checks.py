"""The same physical camera over the episodes of a session: its declared place is one."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from robot_data_platform.compute.calibrations import accepted_calibrations, accepted_for
from robot_data_platform.core.calibration_json import calibrations_from_json
from robot_data_platform.core.time_base import NS_PER_S
from robot_data_platform.spatial.camera_checks import SessionPose, same_camera_stays_put
from robot_data_platform.storage.predicate import all_of, equals

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from robot_data_platform.compute.calibrations import Accepted
    from robot_data_platform.compute.ingestion import Ingestion
    from robot_data_platform.core.finding import Finding
    from robot_data_platform.spatial.thresholds import SpatialThresholds

PAUSE_S = 3600
"""Seconds between two episodes after which the later one is of another session: somebody may have
moved a camera meanwhile, and calibrated it anew."""

_Placed = tuple[str, SessionPose]
"""What a camera is mounted on, and where it is."""


def check_sessions(ingestion: Ingestion, limits: SpatialThresholds) -> dict[int, list[Finding]]:
    """Return where a camera's declared place changes within a session, by ``episode_index``.

    Episodes of an upload are of one session until a pause; cameras are told apart by their serial
    numbers, so those without one are not held against each other.
    """
    lake, dataset = ingestion.workplace.lake, ingestion.dataset
    columns = ["episode_index", "source_key", "start_ns", "end_ns", "calibrations_json"]
    mine = all_of(ingestion.where(), equals("upload", ingestion.upload))
    table = lake.open(dataset, "episodes").read(columns, mine)
    rows = sorted(table.to_pylist(), key=lambda row: (row["start_ns"] or 0, row["episode_index"]))
    accepted = accepted_calibrations(lake, dataset, ingestion.upload)
    found: dict[int, list[Finding]] = defaultdict(list)
    index_of = {row["source_key"]: row["episode_index"] for row in rows}
    for session in _sessions(rows):
        placed = [pose for row in session for pose in _placed(row, accepted)]
        for finding in _moves(placed, limits):
            found[index_of[finding.where.partition(" episode=")[2]]].append(finding)
    return found


def _sessions(rows: Sequence[dict[str, object]]) -> Iterator[list[dict[str, object]]]:
    session: list[dict[str, object]] = []
    for row in rows:
        if session and _ns(row["start_ns"]) - _ns(session[-1]["end_ns"]) > PAUSE_S * NS_PER_S:
            yield session
            session = []
        session.append(row)
    yield session


def _ns(value: object) -> int:
    return value if isinstance(value, int) else 0


def _placed(row: dict[str, object], accepted: Sequence[Accepted]) -> Iterator[_Placed]:
    declared = row["calibrations_json"]
    if not isinstance(declared, str) or '"serial"' not in declared:
        return
    known = calibrations_from_json(declared)
    for each in accepted_for(declared, accepted):
        known |= calibrations_from_json(each.calibration_json)
    for camera in known.values():
        if camera.serial is not None and camera.base_from_cam is not None:
            yield (
                camera.parent_frame,
                SessionPose(
                    serial=camera.serial,
                    episode=str(row["source_key"]),
                    base_from_cam=camera.base_from_cam,
                ),
            )


def _moves(placed: Iterable[_Placed], limits: SpatialThresholds) -> Iterator[Finding]:
    by_parent: dict[str, list[SessionPose]] = defaultdict(list)
    for parent, pose in placed:
        by_parent[parent].append(pose)
    for poses in by_parent.values():
        yield from same_camera_stays_put(poses, limits)
