"""Proposed calibrations: listed, and accepted by a person as a recorded act.

What is declared stays as it is. An accepted calibration stands in for it in checks, for the
episodes of one upload that declare the same.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np
import pyarrow as pa

from robot_data_platform.compute.standing import SPATIAL
from robot_data_platform.core.calibration import CameraCalibration
from robot_data_platform.core.calibration_json import (
    calibrations_from_json,
    calibrations_to_json,
)
from robot_data_platform.core.fingerprint import digest
from robot_data_platform.errors import ErrorKind, NotFoundError
from robot_data_platform.storage.commit import append_rows
from robot_data_platform.storage.predicate import all_of, equals

if TYPE_CHECKING:
    from collections.abc import Sequence

    from robot_data_platform.core.run import RunInfo
    from robot_data_platform.storage.lake import Lake

CALIBRATIONS = "calibrations"
Row = dict[str, Any]
"""A row of a table, or an object of its JSON."""


class ProposalFacts(TypedDict):
    """What is proposed for one camera of an episode."""

    episode_index: int
    camera: str
    status: str
    cause: str
    says: str
    group: list[str]
    score_declared: float
    score_best: float
    score_second: float
    second: str
    can_be_accepted: bool
    shift_cm: float | None
    turn_deg: float | None
    expected_error_cm: float | None
    expected_error_deg: float | None
    proposed: dict[str, object] | None
    """``base_from_cam``, ``intrinsics_px`` and ``parent_frame``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """A calibration that somebody accepted."""

    acceptance_id: str
    upload: str
    camera: str
    declared_json: str | None
    """What the episodes declare that it stands in for."""
    calibration_json: str


def proposals(lake: Lake, dataset: str, episode_index: int | None = None) -> list[ProposalFacts]:
    """Return the causes and proposals that hold of what is published now.

    Raises
    ------
    NotFoundError
        ``dataset-not-found``.
    """
    return [
        _facts(row["episode_index"], row["camera"], details)
        for row, details in _diagnosed(lake, dataset, episode_index)
    ]


def accept(
    lake: Lake, dataset: str, episode_index: int, camera: str, accepted_by: str, run: RunInfo
) -> Accepted:
    """Record that the calibration proposed for a camera stands in for the declared one.

    Accepting the same again records nothing.

    Raises
    ------
    NotFoundError
        ``camera-not-found``: nothing is proposed for this camera of this episode.
    """
    for row, details in _diagnosed(lake, dataset, episode_index):
        if row["camera"] == camera and details["diagnosis"]["proposal"] is not None:
            return _record(lake, dataset, row, details["diagnosis"], accepted_by, run)
    known = sorted({p["camera"] for p in proposals(lake, dataset, episode_index)})
    raise NotFoundError(
        f"Dataset {dataset!r} episode {episode_index} camera {camera!r} has no proposed "
        f"calibration: expected one of the cameras {known} whose cause lies in their own "
        f"calibration. See `rdp calibration show {dataset}`.",
        kind=ErrorKind.CAMERA_NOT_FOUND,
        dataset=dataset,
        camera=camera,
    )


def accepted_calibrations(lake: Lake, dataset: str, upload: str) -> list[Accepted]:
    """Return what was accepted for an upload, the last one for each declared calibration."""
    table = lake.find_catalog(CALIBRATIONS)
    if table is None:
        return []
    where = all_of(equals("dataset", dataset), equals("upload", upload))
    columns = [*Accepted.__slots__, "accepted_ns"]
    rows = table.read(columns, where).sort_by("accepted_ns").to_pylist()
    latest = {(row["camera"], row["declared_json"]): row for row in rows}
    return [Accepted(**{k: row[k] for k in Accepted.__slots__}) for row in latest.values()]


def accepted_for(declared_json: str | None, accepted: Sequence[Accepted]) -> list[Accepted]:
    """Return the acceptances that hold for an episode with these declared calibrations."""
    declared = calibrations_from_json(declared_json) if declared_json else {}
    return [a for a in accepted if a.declared_json == _one(a.camera, declared.get(a.camera))]


def _one(camera: str, known: CameraCalibration | None) -> str | None:
    return calibrations_to_json({camera: known}) if known is not None else None


def _diagnosed(lake: Lake, dataset: str, episode_index: int | None) -> list[tuple[Row, Row]]:
    episodes, table = lake.open(dataset, "episodes"), lake.find(dataset, SPATIAL.table)
    if table is None:
        return []
    held = episodes.read(["episode_index", SPATIAL.version_column]).to_pylist()
    version_of = {row["episode_index"]: row[SPATIAL.version_column] for row in held}
    where = all_of(
        "`details_json` IS NOT NULL",
        None if episode_index is None else equals("episode_index", episode_index),
    )
    columns = ["episode_index", "upload", "rules_version", "camera", "details_json"]
    rows = table.read(columns, where).to_pylist()
    parsed = [
        (row, json.loads(row["details_json"]))
        for row in sorted(rows, key=lambda row: (row["episode_index"], row["camera"]))
        if version_of.get(row["episode_index"]) == row["rules_version"]
    ]
    return [(row, details) for row, details in parsed if details["diagnosis"] is not None]


def _facts(episode_index: int, camera: str, details: Row) -> ProposalFacts:
    found = details["diagnosis"]
    proposal = found["proposal"] or {}
    error_m = proposal.get("expected_error_m")
    return ProposalFacts(
        episode_index=episode_index,
        camera=camera,
        status=details["status"],
        cause=found["cause"],
        says=found["says"],
        group=found["group"],
        second=found["second"],
        score_declared=found["score_declared"],
        score_best=found["score_best"],
        score_second=found["score_second"],
        can_be_accepted=bool(proposal),
        shift_cm=100 * proposal["shift_m"] if proposal else None,
        turn_deg=proposal.get("turn_deg"),
        expected_error_cm=None if error_m is None else 100 * error_m,
        expected_error_deg=proposal.get("expected_error_deg"),
        proposed={
            "base_from_cam": proposal["parent_from_cam"],
            "intrinsics_px": proposal["intrinsics_px"],
            "parent_frame": proposal["parent_link"],
        }
        if proposal
        else None,
    )


def _record(
    lake: Lake,
    dataset: str,
    row: Row,
    found: Row,
    accepted_by: str,
    run: RunInfo,
) -> Accepted:
    camera, index = str(row["camera"]), int(str(row["episode_index"]))
    columns = ["calibrations_json", "episode_id", "cameras"]
    (episode,) = (
        lake.open(dataset, "episodes").read(columns, equals("episode_index", index)).to_pylist()
    )
    declared = calibrations_from_json(episode["calibrations_json"])[camera]
    size = next(c for c in episode["cameras"] if c["name"] == camera)
    meant = _calibration(declared, found["proposal"], size)
    accepted = Accepted(
        acceptance_id="ca_"
        + digest([dataset, row["upload"], camera, _one(camera, declared), _one(camera, meant)])[
            :24
        ],
        upload=str(row["upload"]),
        camera=camera,
        declared_json=_one(camera, declared),
        calibration_json=str(_one(camera, meant)),
    )
    values = {
        **{name: getattr(accepted, name) for name in Accepted.__slots__},
        "dataset": dataset,
        "episode_id": episode["episode_id"],
        "rules_version": row["rules_version"],
        "cause": found["cause"],
        "accepted_by": accepted_by,
        "accepted_ns": run.created_ns,
        "run_id": run.run_id,
        "code_version": run.code_version,
    }
    table = lake.ensure_catalog(CALIBRATIONS)
    append_rows(
        table.uri,
        pa.Table.from_pylist([values], schema=table.schema),
        properties=run.properties(),
        is_done=lambda at: at.count_rows(equals("acceptance_id", accepted.acceptance_id)) > 0,
    )
    return accepted


def _calibration(declared: CameraCalibration, proposal: Row, size: Row) -> CameraCalibration:
    return replace(
        declared,
        intrinsics_px=np.array(proposal["intrinsics_px"]),
        width_px=size["width_px"],
        height_px=size["height_px"],
        intrinsics_origin="accepted",
        base_from_cam=np.array(proposal["parent_from_cam"]),
        parent_frame=str(proposal["parent_link"]),
        pose_origin="accepted",
        stated_direction="base_from_cam",
        stated_axes="opencv",
        stated_rotation="matrix",
    )
