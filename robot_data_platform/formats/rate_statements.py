"""Rates of a recording, held against the nominal ones that a profile states."""

from __future__ import annotations

from collections.abc import Iterator

from robot_data_platform.core.alignment import rate_hz, row_clock
from robot_data_platform.core.finding import Finding, Severity
from robot_data_platform.core.recording import Int64Array, Recording
from robot_data_platform.formats.profile import Profile

RATE_TOLERANCE = 0.05
"""Share by which a measured rate may be off the nominal one, as for the rules of quality."""


def rate_findings(recording: Recording, profile: Profile) -> Iterator[Finding]:
    """Yield the rows and the cameras that come at another rate than the profile states.

    Rates are measured by the median step: gaps do not count.
    """
    if profile.control_hz is not None and recording.signals:
        rows = row_clock(recording.signals)
        yield from _differences("rows", rows.timestamp_ns, profile.control_hz)
    for camera in recording.cameras:
        stated = profile.cameras.get(camera.name)
        if stated is not None and stated.fps is not None:
            yield from _differences(f"camera={camera.name}", camera.timestamp_ns, stated.fps)


def _differences(where: str, timestamp_ns: Int64Array, stated_hz: float) -> Iterator[Finding]:
    measured_hz = rate_hz(timestamp_ns)
    if measured_hz is not None and abs(measured_hz / stated_hz - 1) > RATE_TOLERANCE:
        yield Finding(
            rule="rate_as_profile_states",
            severity=Severity.WARN,
            message=f"{where} come at another rate than the profile states: got "
            f"{measured_hz:.2f} Hz, expected {stated_hz:g} Hz. The recorded times were kept.",
            where=where,
            value=measured_hz,
            threshold=stated_hz,
            unit="Hz",
        )
