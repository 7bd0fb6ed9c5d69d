"""Topics that describe a camera's lens: CameraInfo and its like."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robot_data_platform.core.calibration import CameraCalibration
from robot_data_platform.errors import InvalidInputError
from robot_data_platform.formats.ros.fields import frame_id_of, member, members

_NUM_K = 9
"""Numbers of a camera matrix, row by row."""


class LensTopic:
    """The lens that a topic describes."""

    def __init__(self) -> None:
        self.lens: CameraCalibration | None = None
        """What the first message says; None = nothing, as of a camera that is not calibrated."""
        self.frame_id = ""
        """The camera's optical frame."""
        self.fault: str | None = None
        """Why the first message can't be read as a lens."""
        self.num_others = 0
        """Messages that say something else than the first one."""
        self._first: dict[str, object] | None = None

    def add(self, message: object) -> None:
        """Look at the next message."""
        facts = _facts(message)
        if self._first is None:
            self._first = facts
            self.frame_id = frame_id_of(message)
            try:
                self.lens = _lens(facts)
            except InvalidInputError as err:
                self.fault = str(err)
        self.num_others += facts != self._first


def _facts(message: object) -> dict[str, object]:
    """Return what a message says of the lens; ROS 1 and foxglove write K and D as capitals."""
    named = {name.lower(): value for name, value in members(message)}
    return {
        "k": _floats(named.get("k")),
        "d": _floats(named.get("d")),
        "width": named.get("width"),
        "height": named.get("height"),
        "model": str(member(message, "distortion_model") or ""),
        "part": _part_of_sensor(message),
    }


def _part_of_sensor(message: object) -> tuple[object, ...]:
    """Return binning and region of interest where they are set: K holds for the whole sensor."""
    roi = member(message, "roi")
    inside = tuple(member(roi, name) for name in ("x_offset", "y_offset"))
    binning = tuple(member(message, name) for name in ("binning_x", "binning_y"))
    is_whole = not any(inside) and all(value in (None, 0, 1) for value in binning)
    return () if is_whole else (*binning, *inside)


def _lens(facts: dict[str, object]) -> CameraCalibration | None:
    k, d, width, height = facts["k"], facts["d"], facts["width"], facts["height"]
    is_sized = isinstance(width, int) and isinstance(height, int) and width > 0 and height > 0
    if not isinstance(k, tuple) or len(k) != _NUM_K or not any(k) or facts["part"]:
        return None  # ROS writes zeros for a camera that is not calibrated
    return CameraCalibration(
        intrinsics_px=np.array(k).reshape(3, 3),
        intrinsics_origin="data",
        width_px=int(str(width)) if is_sized else None,
        height_px=int(str(height)) if is_sized else None,
        distortion_model=str(facts["model"]) or None,
        distortion_coefficients=d if isinstance(d, tuple) else (),
    )


def _floats(values: object) -> tuple[float, ...]:
    if isinstance(values, np.ndarray):
        return tuple(values.tolist())
    if isinstance(values, Sequence) and not isinstance(values, str | bytes):
        return tuple(float(value) for value in values)
    return ()
