"""Vectors of a topic, before it is known at which times and under which name."""

from __future__ import annotations

from dataclasses import dataclass

from robot_data_platform.core.recording import FloatArray, Int64Array


@dataclass(frozen=True, slots=True, kw_only=True)
class Samples:
    """One vector for each of some messages of a topic."""

    suffix: str
    """What its name has beyond the topic's: ``velocity``; empty = it is the topic's main one."""
    index: Int64Array
    """(N,) int64, number of the message that each vector is from."""
    values: FloatArray
    """(N, D) float64."""
    names: tuple[str, ...] | None
    """D names of the dimensions; None where the messages name none."""
