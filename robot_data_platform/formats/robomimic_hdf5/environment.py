"""What the attributes of a robomimic file say of the environment: rate, robot and task."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from robot_data_platform.formats.hdf5_attributes import text_attributes
from robot_data_platform.formats.row_rate import StatedRate

if TYPE_CHECKING:
    import h5py

JSON_ATTRIBUTES = ("env_args", "env_info", "problem_info")
"""Attributes of the group ``data`` that hold JSON: of robomimic, of robosuite, of LIBERO."""
EPISODE_META = "ep_meta"
"""JSON attribute of a demo (RoboCasa)."""
UPSIDE_DOWN = "opengl"
"""Value of ``macros_image_convention`` of pictures whose first row is the bottom (robosuite)."""
LOOKED_AT = "`control_freq`, or `dt` and `decimation`, in `env_args`"


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """What was simulated, as far as the file says."""

    rate: StatedRate | None
    robot: str | None
    task: str | None
    is_upside_down: bool
    """Whether the pictures' first row is the bottom."""


def read_environment(data: h5py.Group, demo: h5py.Group) -> Environment:
    """Return what a file, and one of its demos, say of the environment."""
    attributes = text_attributes(data)
    stated = {key: json_object(attributes.get(key)) for key in JSON_ATTRIBUTES}
    stated[EPISODE_META] = json_object(text_attributes(demo).get(EPISODE_META))
    robots = _at(stated, "env_args", "env_kwargs", "robots")
    names = robots if isinstance(robots, list) else [robots]
    tasks = (
        _at(stated, EPISODE_META, "lang"),
        _at(stated, "problem_info", "language_instruction"),
        _at(stated, "env_args", "lang"),
    )
    return Environment(
        rate=_rate(stated),
        robot=", ".join(name for name in names if isinstance(name, str)) or None,
        task=next((task for task in tasks if isinstance(task, str) and task), None),
        is_upside_down=attributes.get("macros_image_convention") == UPSIDE_DOWN,
    )


def json_object(text: str | None) -> dict[str, object] | None:
    """Return the JSON object that a text spells, or None where it spells none."""
    try:
        value = None if text is None else json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _rate(stated: object) -> StatedRate | None:
    for keys in (("env_args", "env_kwargs", "control_freq"), ("env_info", "control_freq")):
        frequency = _number(stated, *keys)
        if frequency is not None:
            return StatedRate(hz=frequency, where=f"`control_freq` of `{keys[0]}`")
    dt_s = _number(stated, "env_args", "sim_args", "dt")
    decimation = _number(stated, "env_args", "sim_args", "decimation")
    if dt_s is None or decimation is None:
        return None
    step_s = dt_s * decimation
    where = "`dt` times `decimation` of `env_args`"
    return StatedRate(hz=1 / step_s if step_s else 0.0, where=where)


def _number(stated: object, *keys: str) -> float | None:
    """Return a number that a float holds, or None where there is none."""
    value = _at(stated, *keys)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if abs(value) <= sys.float_info.max else None


def _at(stated: object, *keys: str) -> object:
    for key in keys:
        stated = stated.get(key) if isinstance(stated, dict) else None
    return stated
