"""Rules on holes: rows that a camera or a signal leaves without a value."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robot_data_platform.core.finding import Finding, Severity
from robot_data_platform.quality.rules.timing import NS_PER_MS, period_ns
from robot_data_platform.quality.runs import Bools, Ints, name_runs, runs_of, span
from robot_data_platform.quality.thresholds import Thresholds


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """Which rows have a picture of one camera, or a value of one signal."""

    name: str
    """The camera or the signal."""
    timestamp_ns: Ints
    """(N,) time of the rows."""
    is_covered: Bools
    """(N,)"""
    period_ns: float
    """Time between two pictures or samples: shorter holes at either end of the rows are none,
    since two clocks need not start and stop at once."""


def camera_covers_rows(rows: Coverage, limits: Thresholds) -> list[Finding]:
    """Tell of rows without a picture: warn of many or of a long hole, inform of a few."""
    if len(rows.is_covered) and not rows.is_covered.any():
        return [_absent("camera_is_recorded", f"camera={rows.name}", f"camera {rows.name!r}")]
    return _holes("camera_covers_rows", f"camera={rows.name}", "picture", rows, limits)


def signal_covers_rows(rows: Coverage, limits: Thresholds) -> list[Finding]:
    """Tell of rows without a value of a signal, the same way."""
    if len(rows.is_covered) and not rows.is_covered.any():
        return [_absent("signal_is_recorded", rows.name, f"signal {rows.name!r}")]
    return _holes("signal_covers_rows", rows.name, "value", rows, limits)


def _absent(rule: str, where: str, what: str) -> Finding:
    return Finding(
        rule=rule,
        severity=Severity.INFO,
        message=f"The episode has no {what}, which other episodes of the dataset have.",
        where=where,
    )


def _holes(rule: str, where: str, what: str, rows: Coverage, limits: Thresholds) -> list[Finding]:
    is_hole = _holes_within(rows) if len(rows.is_covered) else rows.is_covered
    if not is_hole.any():
        return []
    share = float(is_hole.mean())
    longest_ms = _longest_ms(is_hole, rows.timestamp_ns)
    is_bad = share > limits.rows_without_value_share.value or longest_ms >= limits.hole.value
    return [
        Finding(
            rule=rule,
            severity=Severity.WARN if is_bad else Severity.INFO,
            message=f"{int(is_hole.sum())} of {len(is_hole)} rows ({share:.1%}) have no {what} of "
            f"{rows.name!r}: rows {name_runs(is_hole)}; the longest hole lasts "
            f"{longest_ms:.0f} ms (limits {limits.rows_without_value_share.value:.0%}, "
            f"{limits.hole.value:.0f} ms).",
            where=f"{where} rows {span(is_hole)}",
            value=share,
            threshold=limits.rows_without_value_share.value,
            unit=limits.rows_without_value_share.unit,
        )
    ]


def _holes_within(rows: Coverage) -> Bools:
    """Return the rows without a value, but for short holes at the ends."""
    is_hole = ~rows.is_covered
    covered = np.flatnonzero(rows.is_covered)
    first, last = rows.timestamp_ns[covered[[0, -1]]]
    is_edge = (rows.timestamp_ns < first) & (first - rows.timestamp_ns[0] <= rows.period_ns)
    is_edge |= (rows.timestamp_ns > last) & (rows.timestamp_ns[-1] - last <= rows.period_ns)
    return np.asarray(is_hole & ~is_edge)


def _longest_ms(is_hole: Bools, timestamp_ns: Ints) -> float:
    """Return how long the longest hole lasts, a row lasting one period."""
    runs = runs_of(is_hole)
    lasts = timestamp_ns[runs[:, 1] - 1] - timestamp_ns[runs[:, 0]]
    return (int(lasts.max()) + (period_ns(timestamp_ns) or 0)) / NS_PER_MS
