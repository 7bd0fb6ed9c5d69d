"""What an episode's rows come to as a whole: fingerprints by which a copy is known, and lags."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robot_data_platform.core.recording import ACTION, STATE
from robot_data_platform.quality.lag import Lag, command_lag
from robot_data_platform.quality.rules.values import Floats, SignalRows
from robot_data_platform.quality.runs import Ints

SKETCH_SIZE = 64
"""Row hashes kept: the shared part of two episodes is known to about 6 %."""
_KEPT_BITS = np.uint32(0xFFFFFF00)
"""Of a float32: what survives another way of storing it, five digits."""
_FACTORS = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9))

Sketch = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class RowMeasurements:
    """Fingerprints of an episode's numbers, and how late its state follows its action."""

    digest: str
    """Of all values of all signals, times left out."""
    sketch: Sketch
    """The `SKETCH_SIZE` smallest hashes of distinct rows of state and action, increasing."""
    num_distinct: int
    """Distinct rows."""
    num_moving: int
    """Dimensions that take several values."""
    command: Lag
    """How late the state is behind the action."""


def measure_rows(signals: Sequence[SignalRows], row_ns: Ints) -> RowMeasurements:
    """Return the fingerprints of an episode's rows."""
    hasher = hashlib.sha256()
    for signal in signals:
        hasher.update(signal.name.encode())
        hasher.update(np.ascontiguousarray(signal.values, dtype=np.float32).tobytes())
    by_name = {s.name: s for s in signals if s.is_present.any()}
    numbers = [by_name[name].values for name in (STATE, ACTION) if name in by_name]
    both = np.concatenate([np.zeros((len(row_ns), 0), np.float32), *numbers], axis=1)
    hashes = np.unique(_row_hashes(both) if both.shape[1] else np.zeros(0, np.int64))
    return RowMeasurements(
        digest=hasher.hexdigest(),
        sketch=hashes[:SKETCH_SIZE],
        num_distinct=len(hashes),
        num_moving=int(np.count_nonzero(np.ptp(both, axis=0) > 0)) if len(both) else 0,
        command=_command(by_name.get(STATE), by_name.get(ACTION), row_ns),
    )


def _row_hashes(values: Floats) -> Sketch:
    """Return a 63-bit hash of each row, (N,), of the first digits of its values."""
    bits = np.ascontiguousarray(values, dtype=np.float32).view(np.uint32)
    rounded = ((bits + np.uint32(0x80)) & _KEPT_BITS).astype(np.uint64)
    hashes = np.full(len(values), _FACTORS[0], dtype=np.uint64)
    for column in rounded.T:
        hashes = (hashes ^ column) * _FACTORS[1]
        hashes ^= hashes >> np.uint64(29)
    return np.asarray(hashes >> np.uint64(1), dtype=np.int64)


def _command(state: SignalRows | None, action: SignalRows | None, row_ns: Ints) -> Lag:
    if state is None or action is None or state.values.shape[1] != action.values.shape[1]:
        reason = "state and action are not of the same dimensions"
        return Lag(lag_ms=None, confidence=0.0, reason=reason)
    if state.names != action.names and state.names and action.names:
        reason = "state and action have other names"
        return Lag(lag_ms=None, confidence=0.0, reason=reason)
    return command_lag(state, action, row_ns)
