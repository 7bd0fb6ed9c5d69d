"""Ranges of signals over many episodes, from their statistics, whole columns at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from robot_data_platform.quality.rules.drift import SignalRange

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt


def widened(before: Mapping[str, SignalRange], statistics: pa.Array) -> dict[str, SignalRange]:
    """Return ranges widened by what some episodes reached.

    A signal that has another width than before, in some episode, is left out there.

    Parameters
    ----------
    before : mapping of str to SignalRange
        The ranges of the episodes before, by signal.
    statistics : pyarrow.ListArray
        ``episodes.statistics`` of the episodes that follow, in their order.
    """
    ranges = dict(before)
    facts = pc.list_flatten(statistics)
    facts = facts.filter(pc.greater(pc.list_value_length(pc.struct_field(facts, "min")), 0))
    signals = pc.struct_field(facts, "signal")
    for name in pc.unique(signals).to_pylist():
        of_signal = facts.filter(pc.equal(signals, name))
        low, high = (pc.struct_field(of_signal, end) for end in ("min", "max"))
        widths = pc.list_value_length(low)
        width = len(ranges[name].low) if name in ranges else widths[0].as_py()
        same = pc.equal(widths, width)
        if pc.any(same).as_py():
            reached = SignalRange(
                name=name,
                low=np.fmin.reduce(_numbers(low.filter(same), width)),
                high=np.fmax.reduce(_numbers(high.filter(same), width)),
            )
            ranges[name] = _union(ranges[name], reached) if name in ranges else reached
    return ranges


def _numbers(lists: pa.ListArray, width: int) -> npt.NDArray[np.float64]:
    values: npt.NDArray[np.float64] = lists.flatten().to_numpy(zero_copy_only=False)
    return values.reshape(-1, width)


def _union(one: SignalRange, other: SignalRange) -> SignalRange:
    return SignalRange(
        name=one.name, low=np.fmin(one.low, other.low), high=np.fmax(one.high, other.high)
    )
