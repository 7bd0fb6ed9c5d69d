"""What a camera came to as JSON, and back: measurements that other limits judge anew."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from robot_data_platform.spatial.diagnosis import Diagnosis
from robot_data_platform.spatial.mask_sources import MaskSource
from robot_data_platform.spatial.measurements import CameraMeasurements, FrameMeasurements
from robot_data_platform.spatial.proposal import Proposal

Json = dict[str, Any]
"""An object of the JSON text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CameraDetails:
    """One camera of an episode, as it was measured and explained."""

    measured_as: str
    """Digest of what measurements follow from, beside the pictures."""
    status: str
    measured: CameraMeasurements
    diagnosis: Diagnosis | None


def details_to_json(details: CameraDetails) -> str:
    """Return details as JSON; numbers that are not finite become null."""
    return json.dumps(_plain(asdict(details)), allow_nan=False)


def details_from_json(text: str) -> CameraDetails | None:
    """Return what `details_to_json` wrote; None for a text of an earlier version."""
    read = json.loads(text)
    if "measured_as" not in read:
        return None
    return CameraDetails(
        measured_as=read["measured_as"],
        status=read["status"],
        measured=_measured(read["measured"]),
        diagnosis=read["diagnosis"] and _diagnosis(read["diagnosis"]),
    )


def _measured(read: Json) -> CameraMeasurements:
    frames = tuple(FrameMeasurements(**frame) for frame in read["frames"])
    source = MaskSource(read["mask_source"])
    return CameraMeasurements(**{**read, "frames": frames, "mask_source": source})


def _diagnosis(read: Json) -> Diagnosis:
    proposal = read["proposal"]
    if proposal is not None:
        matrices = {name: np.array(proposal[name]) for name in ("parent_from_cam", "intrinsics_px")}
        proposal = Proposal(**{**proposal, **matrices})
    return Diagnosis(**{**read, "group": tuple(read["group"]), "proposal": proposal})


def _plain(value: object) -> object:
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value
