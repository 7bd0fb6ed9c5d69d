"""Ranges of signals over many episodes, from their statistics, whole columns at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow.compute as pc

from robot_data_platform.quality.rules.drift import SignalRange

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt
    import pyarrow as pa


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
    signals = pc.struct_field(facts, "signal").dictionary_encode()
    code = signals.indices.to_numpy(zero_copy_only=False)
    ends = [_Lists.of(pc.struct_field(facts, end)) for end in ("min", "max")]
    for number, name in enumerate(signals.dictionary.to_pylist()):
        place = np.flatnonzero((code == number) & (ends[0].length > 0))
        if len(place):
            width = len(ranges[name].low) if name in ranges else int(ends[0].length[place[0]])
            same = place[ends[0].length[place] == width]
            if len(same):
                low, high = (end.at(same, width) for end in ends)
                reached = SignalRange(name=name, low=np.fmin.reduce(low), high=np.fmax.reduce(high))
                ranges[name] = _union(ranges[name], reached) if name in ranges else reached
    return ranges


@dataclass(frozen=True, slots=True)
class _Lists:
    """Lists of numbers as arrays: values back to back, start and length of each."""

    values: npt.NDArray[np.float64]
    start: npt.NDArray[np.int64]
    length: npt.NDArray[np.int64]

    @classmethod
    def of(cls, lists: pa.ListArray) -> _Lists:
        length = pc.fill_null(pc.list_value_length(lists), 0).to_numpy().astype(np.int64)
        values = lists.flatten().to_numpy(zero_copy_only=False)
        return cls(values, np.cumsum(length) - length, length)

    def at(self, place: npt.NDArray[np.intp], width: int) -> npt.NDArray[np.float64]:
        """Return some lists, all as long as ``width``, as rows."""
        rows: npt.NDArray[np.float64] = self.values[self.start[place][:, None] + np.arange(width)]
        return rows


def _union(one: SignalRange, other: SignalRange) -> SignalRange:
    return SignalRange(
        name=one.name, low=np.fmin(one.low, other.low), high=np.fmax(one.high, other.high)
    )
