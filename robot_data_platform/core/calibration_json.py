"""Calibrations as JSON, camera by camera: the text of ``episodes.calibrations``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from robot_data_platform.core.calibration import CameraCalibration
from robot_data_platform.errors import ErrorKind, InvalidInputError


def calibrations_to_json(calibration_by_camera: Mapping[str, CameraCalibration]) -> str | None:
    """Return the calibrations as one JSON object by camera; None where there is none.

    Floats read back as the same bits; keys are sorted, so equal calibrations are equal texts.
    What is not known is left out.
    """
    if not calibration_by_camera:
        return None
    entries = {camera: _entry(known) for camera, known in calibration_by_camera.items()}
    return json.dumps(entries, sort_keys=True, separators=(",", ":"), allow_nan=False)


def calibrations_from_json(text: str) -> dict[str, CameraCalibration]:
    """Return the calibrations by camera that `calibrations_to_json` wrote.

    Raises
    ------
    InvalidInputError
        ``invalid-argument``: not such a text, an unknown key, or numbers that are no calibration.
    """
    try:
        return {camera: _calibration(entry) for camera, entry in json.loads(text).items()}
    except (AttributeError, TypeError, json.JSONDecodeError) as err:
        raise InvalidInputError(
            f"Calibrations have to be a JSON object by camera, got {text!r:.80} ({err}).",
            kind=ErrorKind.INVALID_ARGUMENT,
        ) from err


def _entry(calibration: CameraCalibration) -> dict[str, object]:
    values = {field.name: getattr(calibration, field.name) for field in fields(calibration)}
    plain = {name: v.tolist() if isinstance(v, np.ndarray) else v for name, v in values.items()}
    return {name: value for name, value in plain.items() if value not in (None, ())}


def _calibration(entry: dict[str, Any]) -> CameraCalibration:
    coefficients = tuple(entry.pop("distortion_coefficients", ()))
    return CameraCalibration(**entry, distortion_coefficients=coefficients)
