"""All that is measured of an episode, before any threshold is held against it."""

from __future__ import annotations

from dataclasses import dataclass

from robot_data_platform.quality.lag import Lag
from robot_data_platform.quality.row_measurements import RowMeasurements
from robot_data_platform.quality.stream_measurements import StreamMeasurements

MEASUREMENTS_VERSION = "m_1"
"""Raised by hand when the same recording would be measured differently."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeMeasurements:
    """What an episode's rows and streams gave."""

    rows: RowMeasurements
    streams: tuple[StreamMeasurements, ...]
    lags: tuple[Lag, ...]
    """How late the pictures of each stream are, in the order of ``streams``."""
