"""Conventions as the metadata of ``frames`` and of its columns."""

from __future__ import annotations

import json
from typing import cast

from robot_data_platform.core.conventions import (
    CONTROL_HZ,
    DEPTH_UNIT_M,
    GRIPPER_CONVENTION,
    GRIPPER_RANGE,
    LIMITS,
    NAMES,
    QUATERNION_ORDER,
    ROBOT,
    UNIT,
    WIDTH,
    Conventions,
)
from robot_data_platform.core.recording import STATE
from robot_data_platform.core.schema import CAMERA_PREFIX, DEPTH_UNIT_KEY, signal_metadata

Entries = dict[str, str | None]
"""Metadata by key; None = no such key."""


def table_entries(conventions: Conventions) -> Entries:
    """Return what the schema of ``frames`` says of all rows."""
    unit = conventions.get(f"{STATE}.{UNIT}")
    gripper = {
        "convention": conventions.get(GRIPPER_CONVENTION),
        "range": conventions.get(GRIPPER_RANGE),
    }
    order = conventions.get(QUATERNION_ORDER)
    return {
        "rdp.robot": str(conventions.get(ROBOT, "")),
        "rdp.control_hz": json.dumps(conventions.get(CONTROL_HZ)),
        "rdp.joint_names": json.dumps(conventions.get(f"{STATE}.{NAMES}")),
        "rdp.joint_unit": unit if isinstance(unit, str) else "",
        "rdp.gripper": json.dumps(gripper) if any(gripper.values()) else None,
        "rdp.quaternion_order": None if order is None else str(order),
    }


def column_entries(conventions: Conventions, signal: str) -> Entries:
    """Return what a signal's column says of its dimensions; nothing of a signal that is unknown."""
    if f"{signal}.{WIDTH}" not in conventions:
        return {}
    names, unit, limits = (conventions.get(f"{signal}.{part}") for part in (NAMES, UNIT, LIMITS))
    stated = signal_metadata(
        cast("list[str] | None", names),
        unit if isinstance(unit, str) else None,
        units=unit if isinstance(unit, list) else None,
        limits=cast("list[tuple[float, float] | None] | None", limits),
    )
    return {"rdp.units": None, "rdp.limits": None, **stated}


def depth_entries(conventions: Conventions, camera: str) -> Entries:
    """Return what the columns of a camera of depth maps say of their unit."""
    unit_m = conventions.get(f"{CAMERA_PREFIX}{camera}.{DEPTH_UNIT_M}")
    return {DEPTH_UNIT_KEY: None if unit_m is None else json.dumps(unit_m)}
