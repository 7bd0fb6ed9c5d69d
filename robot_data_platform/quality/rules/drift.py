"""Rules on numbers beside those of earlier uploads of the dataset."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robot_data_platform.core.finding import Finding, Severity
from robot_data_platform.quality.rules.values import Floats
from robot_data_platform.quality.runs import name_list
from robot_data_platform.quality.thresholds import Thresholds


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalRange:
    """Between which values a signal lies."""

    name: str
    low: Floats
    """(D,)"""
    high: Floats
    """(D,)"""


def range_is_as_before(
    mine: SignalRange, before: SignalRange | None, limits: Thresholds
) -> list[Finding]:
    """Tell of dimensions outside all that earlier uploads hold: warn where the scale is another.

    Parameters
    ----------
    mine : SignalRange
        Of the episode.
    before : SignalRange or None
        Of all episodes of earlier uploads; None = there are none of this width.
    """
    if before is None:
        return []
    width, usual = mine.high - mine.low, before.high - before.low
    is_known = (usual > 0) & (width > 0)
    is_apart = is_known & ((mine.low > before.high + usual) | (mine.high < before.low - usual))
    is_wide = is_known & (width > limits.drift_range.value * usual)
    is_bad = is_apart | is_wide
    if not is_bad.any():
        return []
    worst = int(np.argmax(np.where(is_bad, width / np.where(usual > 0, usual, np.inf), -1)))
    return [
        Finding(
            rule="range_is_as_before",
            severity=Severity.WARN if is_wide.any() else Severity.INFO,
            message=f"{int(is_bad.sum())} of {len(width)} dimensions of {mine.name!r} are far from "
            f"what earlier uploads hold, {name_list([str(d) for d in np.flatnonzero(is_bad)])}: "
            f"dimension {worst} has {mine.low[worst]:.4g} to {mine.high[worst]:.4g}, before "
            f"{before.low[worst]:.4g} to {before.high[worst]:.4g}. Its unit, or the robot's zero, "
            "may be another.",
            where=f"{mine.name}[{','.join(str(d) for d in np.flatnonzero(is_bad))}]",
            value=float(width[worst] / usual[worst]),
            threshold=limits.drift_range.value,
            unit=limits.drift_range.unit,
        )
    ]
