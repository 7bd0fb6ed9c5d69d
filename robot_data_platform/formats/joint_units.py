"""Units of joints, and the conversion that a profile declares."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from robot_data_platform.core.finding import Finding, Severity
from robot_data_platform.core.recording import FloatArray, Signal
from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform.formats.joint_keys import FACTOR_BY_UNITS, Joints, StoredAs

UnitOfEach = tuple[str | None, ...]
Limits = tuple[tuple[float, float] | None, ...]
Factors = npt.NDArray[np.float64]


def unit_of_each(signal: Signal) -> UnitOfEach:
    """Return the unit of each of the D dimensions; None where it is not known."""
    return signal.units or (signal.unit,) * signal.values.shape[1]


def with_unit_of_each(signal: Signal, units: Sequence[str | None]) -> Signal:
    """Return the signal with these D units."""
    if len(set(units)) == 1:
        return replace(signal, unit=units[0], units=None)
    return replace(signal, unit=None, units=tuple(units))


def with_stated_unit(signal: Signal, joints: Joints) -> Signal:
    """Return the signal with the profile's unit, where the data states none."""
    if joints.unit is None or any(unit_of_each(signal)):
        return signal
    width = signal.values.shape[1]
    stated = joints.unit if isinstance(joints.unit, tuple) else (joints.unit,) * width
    return with_unit_of_each(signal, stated) if len(stated) == width else signal


def converted(signal: Signal, stored_as: StoredAs, subject: str) -> Signal:
    """Return the signal as the profile declares that it is stored.

    Raises
    ------
    DataFaultError
        ``shape-mismatch``: the profile states another number of dimensions.
        ``metadata-contradiction``: it names no scale for a unit that the data states.
    """
    width = signal.values.shape[1]
    recorded = unit_of_each(signal)
    stored = _units(stored_as, recorded)
    scale = _factors(recorded, stored, subject) if stored_as.scale is None else stored_as.scale
    scale_each, shift_each = (
        np.array(n if isinstance(n, tuple) else (n,) * width, dtype=np.float64)
        for n in (scale, stored_as.shift or 0)
    )
    if not len(stored) == len(scale_each) == len(shift_each) == width:
        raise _other_width(signal, stored_as, subject)
    values: FloatArray = signal.values.astype(np.float64) * scale_each + shift_each
    if signal.values.dtype == np.float32:
        values = values.astype(np.float32)
    limits = _converted_limits(signal.limits, scale_each, shift_each)
    return with_unit_of_each(replace(signal, values=values, limits=limits), stored)


def _converted_limits(limits: Limits | None, scale: Factors, shift: Factors) -> Limits | None:
    if limits is None:
        return None
    return tuple(
        None if pair is None else (min(ends := [float(e * s + t) for e in pair]), max(ends))
        for pair, s, t in zip(limits, scale, shift, strict=True)
    )


def _units(stored_as: StoredAs, recorded: UnitOfEach) -> UnitOfEach:
    if isinstance(stored_as.unit, tuple):
        return stored_as.unit
    return recorded if stored_as.unit is None else (stored_as.unit,) * len(recorded)


def _factors(recorded: UnitOfEach, stored: UnitOfEach, subject: str) -> tuple[float, ...]:
    pairs = list(zip(recorded, stored, strict=False))
    for old, new in pairs:
        if old != new and (str(old), str(new)) not in FACTOR_BY_UNITS:
            raise DataFaultError(
                f"{subject}: joints can't be converted: got {old} in the data, expected what "
                f"becomes {new} without a scale. State `joints.stored_as.scale`.",
                kind=ErrorKind.METADATA_CONTRADICTION,
            )
    return tuple(FACTOR_BY_UNITS.get((str(old), str(new)), 1.0) for old, new in pairs)


def conversion_findings(old: Signal, new: Signal, subject: str) -> Iterator[Finding]:
    """Yield what was converted, where anything was."""
    if new is not old:
        yield Finding(
            rule="joints_as_profile_converts",
            severity=Severity.INFO,
            message=f"{subject}: {old.name} was recorded in {_said(old)} and is stored in "
            f"{_said(new)}, as the profile declares.",
            where=old.name,
        )


def _said(signal: Signal) -> str:
    units = unit_of_each(signal)
    return str(list(units) if signal.units else units[0] if units else None)


def _other_width(signal: Signal, stored_as: StoredAs, subject: str) -> DataFaultError:
    width = signal.values.shape[1]
    return DataFaultError(
        f"{subject}: {signal.name} can't be converted: got {width} dimensions, expected as many "
        f"as `joints.stored_as` states ({stored_as!r:.160}). Correct the profile.",
        kind=ErrorKind.SHAPE_MISMATCH,
        signal=signal.name,
        width=width,
    )
