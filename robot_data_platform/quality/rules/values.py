"""Rules on the values of signals: finite, varying, continuous, within declared limits."""

from __future__ import annotations

from dataclasses import dataclass
from math import pi

import numpy as np
import numpy.typing as npt

from robot_data_platform.core.finding import Finding, Severity
from robot_data_platform.core.recording import ACTION, STATE
from robot_data_platform.quality.runs import Bools, name_list, name_runs, span
from robot_data_platform.quality.thresholds import Thresholds

Floats = npt.NDArray[np.float32] | npt.NDArray[np.float64]

Units = tuple[str | None, ...]
"""Unit of each dimension; None = not stated."""

_SUBJECTS = {STATE: "state", ACTION: "action"}
_HALF_TURNS = {"deg": 180.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalRows:
    """One signal as an episode's rows hold it."""

    name: str
    """Column name (``observation_state``)."""
    values: Floats
    """(N, D); rows without a value are NaN."""
    is_present: Bools
    """(N,) which rows have a value."""
    names: tuple[str, ...] | None
    """D names of the dimensions, or None."""
    units: Units
    """D units."""
    limits: Floats | None = None
    """(D, 2) lowest and highest value that the source declares, NaN where it declares none;
    None = none at all."""
    rate_hz: float | None = None
    """Measured rate of the rows."""


def _rule(signal: SignalRows, predicate: str) -> str:
    return f"{_SUBJECTS.get(signal.name, 'signal')}_{predicate}"


def _dimension(signal: SignalRows, number: int) -> str:
    return f"{number} {signal.names[number]!r}" if signal.names else str(number)


def _where(signal: SignalRows, is_bad: Bools) -> str:
    """Return ``signal[dims] rows first..last`` for a (N, D) mask."""
    dimensions = ",".join(str(d) for d in np.flatnonzero(is_bad.any(axis=0)))
    return f"{signal.name}[{dimensions}] rows {span(np.any(is_bad, axis=1))}"


def _places(signal: SignalRows, is_bad: Bools) -> str:
    """Return each dimension of a (N, D) mask with its rows, the first few named."""
    return name_list(
        [
            f"dimension {_dimension(signal, d)} rows {name_runs(is_bad[:, d])}"
            for d in np.flatnonzero(is_bad.any(axis=0)).tolist()
        ]
    )


def is_finite(signal: SignalRows) -> list[Finding]:
    """Fail where a recorded value is NaN or infinite (``state_is_finite`` and so on)."""
    is_bad = ~np.isfinite(signal.values) & signal.is_present[:, None]
    if not is_bad.any():
        return []
    return [
        Finding(
            rule=_rule(signal, "is_finite"),
            severity=Severity.FAIL,
            message=f"{int(is_bad.sum())} values of {signal.name!r} are NaN or infinite: "
            f"{_places(signal, is_bad)}.",
            where=_where(signal, is_bad),
            value=int(is_bad.sum()),
            threshold=0,
            unit="values",
        )
    ]


def varies(signal: SignalRows, limits: Thresholds) -> list[Finding]:
    """Inform of dimensions that hold one value throughout (``state_varies`` and so on)."""
    if np.count_nonzero(signal.is_present) < 2:
        return []
    with np.errstate(invalid="ignore"):
        spread = np.fmax.reduce(signal.values) - np.fmin.reduce(signal.values)
    constant = np.flatnonzero(spread <= limits.constant_spread.value)
    if not len(constant):
        return []
    named = name_list([_dimension(signal, d) for d in constant.tolist()])
    return [
        Finding(
            rule=_rule(signal, "varies"),
            severity=Severity.INFO,
            message=f"{len(constant)} of {len(spread)} dimensions of {signal.name!r} are constant "
            f"in this episode: {named}.",
            where=f"{signal.name}[{','.join(str(d) for d in constant)}]",
            value=len(constant),
            threshold=0,
            unit="dimensions",
        )
    ]


def has_no_jumps(signal: SignalRows, limits: Thresholds) -> list[Finding]:
    """Warn of values that leap as no motion does (``state_has_no_jumps``).

    A leap is a step far above the dimension's fast ones that nothing around it announces, or a
    single value away from both its neighbours. Dimensions of a few values are switches, and an
    angle that wraps makes no leap.
    """
    if signal.rate_hz is None or signal.rate_hz < limits.jump_min_rate.value:
        return []
    if len(signal.values) < 4:
        return []
    with np.errstate(invalid="ignore"):
        is_bad = _leaps(signal, limits) & ~takes_few_values(signal.values, limits)
    if not is_bad.any():
        return []
    return [
        Finding(
            rule=_rule(signal, "has_no_jumps"),
            severity=Severity.WARN,
            message=f"{int(is_bad.sum())} values of {signal.name!r} leap away from the one "
            f"before: {_places(signal, is_bad)}.",
            where=_where(signal, is_bad),
            value=int(is_bad.sum()),
            threshold=0,
            unit="values",
        )
    ]


def _leaps(signal: SignalRows, limits: Thresholds) -> Bools:
    """Return (N, D), true for each value that leaps away from the one before it."""
    values = signal.values
    step = np.abs(np.diff(values, axis=0))
    usual = np.percentile(np.where(np.isfinite(step), step, 0), 95, axis=0)
    spread = np.fmax.reduce(values) - np.fmin.reduce(values)
    is_large = step > limits.jump_over_usual.value * usual
    is_large &= step > limits.jump_range_share.value * spread
    is_large &= (step > visible_range(spread, limits)) & ~_wraps(signal, step)
    near = limits.jump_neighbour_share.value * step
    is_leap = np.zeros(values.shape, dtype=np.bool_)
    is_leap[2:-1] |= is_large[1:-1] & (step[:-2] <= near[1:-1]) & (step[2:] <= near[1:-1])
    returns = np.abs(values[2:] - values[:-2])
    is_leap[1:-1] |= is_large[:-1] & is_large[1:] & (returns <= near[:-1])
    return is_leap


def _wraps(signal: SignalRows, step: Floats) -> Bools:
    """Return which steps are an angle going on from one end of its turn to the other."""
    half = np.array([_HALF_TURNS.get(unit or "", pi) for unit in signal.units])
    is_angle = np.fmax.reduce(np.abs(signal.values)) <= half * 1.001
    return np.asarray((step > half) & is_angle)


def visible_range(spread: Floats, limits: Thresholds) -> float:
    """Return the least range that counts as motion, given the (D,) ranges of all dimensions."""
    share = limits.motion_range_share.value * float(np.max(spread, initial=0.0))
    return max(limits.motion_min_range.value, share)


def takes_few_values(values: Floats, limits: Thresholds) -> Bools:
    """Return (D,) which dimensions of (N, D) values take only a few distinct ones."""
    fewest = limits.fewest_values.value
    return np.array([len(np.unique(column)) < fewest for column in values.T], dtype=np.bool_)


def is_within_limits(signal: SignalRows, limits: Thresholds) -> list[Finding]:
    """Warn of values beyond the declared limits; dimensions without any are not judged."""
    if signal.limits is None:
        return []
    low, high = signal.limits[:, 0], signal.limits[:, 1]
    slack = limits.limit_slack_share.value * (high - low)
    with np.errstate(invalid="ignore"):
        is_bad = (signal.values < low - slack) | (signal.values > high + slack)
    if not is_bad.any():
        return []
    return [
        Finding(
            rule=_rule(signal, "is_within_limits"),
            severity=Severity.WARN,
            message=f"{int(is_bad.sum())} values of {signal.name!r} are beyond the declared "
            f"limits: {_places(signal, is_bad)}; {_farthest(signal)}.",
            where=_where(signal, is_bad),
            value=int(is_bad.sum()),
            threshold=0,
            unit="values",
        )
    ]


def _farthest(signal: SignalRows) -> str:
    """Return which dimension goes farthest beyond its limits, and how far, beside its range."""
    assert signal.limits is not None
    low, high = signal.limits[:, 0], signal.limits[:, 1]
    beyond = np.fmax(low - signal.values, signal.values - high)
    share = beyond / np.maximum(high - low, 1e-12)
    row, dimension = np.unravel_index(int(np.nanargmax(share)), share.shape)
    got, unit = float(signal.values[row, dimension]), signal.units[dimension] or "(no unit)"
    return (
        f"dimension {_dimension(signal, int(dimension))} comes to {got:.4g} {unit} where "
        f"{low[dimension]:.4g} to {high[dimension]:.4g} is declared"
    )


def is_not_saturated(signal: SignalRows, limits: Thresholds) -> list[Finding]:
    """Inform of dimensions that rest at a declared limit for many rows."""
    if signal.limits is None or not len(signal.values):
        return []
    low, high = signal.limits[:, 0], signal.limits[:, 1]
    slack = limits.limit_slack_share.value * (high - low)
    with np.errstate(invalid="ignore"):
        is_at_end = (np.abs(signal.values - low) <= slack) | (np.abs(signal.values - high) <= slack)
    share = is_at_end.mean(axis=0)
    is_bad = is_at_end & (share > limits.saturated_rows_share.value)
    if not is_bad.any():
        return []
    return [
        Finding(
            rule=_rule(signal, "is_not_saturated"),
            severity=Severity.INFO,
            message=f"{signal.name!r} rests at a declared limit in up to {share.max():.0%} of the "
            f"rows: {_places(signal, is_bad)}.",
            where=_where(signal, is_bad),
            value=float(share.max()),
            threshold=limits.saturated_rows_share.value,
            unit=limits.saturated_rows_share.unit,
        )
    ]
