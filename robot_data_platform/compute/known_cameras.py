"""Cameras of an episode that were measured before, with what they were measured as."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from robot_data_platform.core.fingerprint import digest
from robot_data_platform.spatial.camera_details import details_from_json
from robot_data_platform.spatial.check import is_doubtful
from robot_data_platform.spatial.thresholds import CHECKS_VERSION
from robot_data_platform.spatial.verdict import CameraStatus
from robot_data_platform.storage.predicate import all_of, equals

if TYPE_CHECKING:
    from robot_data_platform.compute.spatial_input import StatedFacts
    from robot_data_platform.spatial.camera_details import CameraDetails
    from robot_data_platform.storage.table import LakeTable


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownCamera:
    """One camera that was measured before."""

    details: CameraDetails
    overlay: bytes | None


def measured_as(stated: StatedFacts) -> str:
    """Return what names measurements of one ingested episode: equal names, equal measurements.

    Limits are no part of it.
    """
    return "m_" + digest([CHECKS_VERSION, asdict(stated)])[:16]


def known_cameras(spatial: LakeTable, episode_index: int, name: str) -> dict[str, KnownCamera]:
    """Return the cameras of an episode that were measured as ``name`` says, by their own name.

    Of several rows one in doubt counts, since it tells the cause.
    """
    where = all_of(equals("episode_index", episode_index), "`details_json` IS NOT NULL")
    rows = spatial.read(["details_json", "overlay"], where).to_pylist()
    read = [(details_from_json(row["details_json"]), row["overlay"]) for row in rows]
    mine = [
        KnownCamera(details=details, overlay=overlay)
        for details, overlay in read
        if details is not None and details.measured_as == name
    ]
    mine.sort(key=lambda known: is_doubtful(CameraStatus(known.details.status)))
    return {known.details.measured.camera: known for known in mine}
