"""What is worked out over whole columns equals what a loop over episodes works out."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from robot_data_platform.compute.episode_prints import num_shared
from robot_data_platform.compute.signal_ranges import widened
from robot_data_platform.core.schema import signal_statistics_type
from robot_data_platform.quality.rules.drift import SignalRange

HASHES = st.one_of(st.integers(-(2**63), 2**63 - 1), st.integers(0, 9), st.just(7 + (5 << 16)))
NUMBERS = st.one_of(st.floats(-9, 9), st.just(float("nan")), st.none())
SIGNALS = st.fixed_dictionaries(
    {
        "signal": st.sampled_from(["state", "action"]),
        "ends": st.one_of(st.none(), st.lists(st.tuples(NUMBERS, NUMBERS), max_size=3)),
    }
)
EPISODES = st.lists(st.one_of(st.none(), st.lists(SIGNALS, max_size=3)), max_size=6)


@given(
    st.lists(st.one_of(st.none(), st.lists(HASHES, max_size=8)), max_size=6),
    st.sets(HASHES, max_size=8),
)
def test_shared_hashes_are_counted(sketches: list[list[int] | None], hashes: set[int]) -> None:
    wanted = np.array(sorted(hashes), dtype=np.int64)
    counted = num_shared(pa.array(sketches, pa.list_(pa.int64())), wanted)
    assert counted.to_pylist() == [sum(h in hashes for h in sketch or ()) for sketch in sketches]


@given(st.lists(EPISODES, max_size=3))
def test_ranges_are_widened(batches: list[list[list[dict[str, object]] | None]]) -> None:
    ranges: dict[str, SignalRange] = {}
    slowly: dict[str, tuple[list[float], list[float]]] = {}
    for batch in batches:
        rows = [None if e is None else [stated(one) for one in e] for e in batch]
        ranges = widened(ranges, pa.array(rows, signal_statistics_type()))
        for episode in rows:
            for one in episode or ():
                widen_slowly(slowly, one)
    assert ranges.keys() == slowly.keys()
    for name, (low, high) in slowly.items():
        np.testing.assert_array_equal(ranges[name].low, low)
        np.testing.assert_array_equal(ranges[name].high, high)


def stated(one: dict[str, object]) -> dict[str, object]:
    ends = one["ends"]
    assert ends is None or isinstance(ends, list)
    low, high = ([pair[n] for pair in ends] if ends is not None else None for n in (0, 1))
    return {"signal": one["signal"], "min": low, "max": high}


def widen_slowly(
    ranges: dict[str, tuple[list[float], list[float]]], one: dict[str, object]
) -> None:
    if not one["min"]:
        return
    low, high = (np.asarray(one[end], dtype=np.float64).tolist() for end in ("min", "max"))
    name = str(one["signal"])
    old = ranges.setdefault(name, (low, high))
    if len(old[0]) == len(low):
        ranges[name] = (np.fmin(old[0], low).tolist(), np.fmax(old[1], high).tolist())
