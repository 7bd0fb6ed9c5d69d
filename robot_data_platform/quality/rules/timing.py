"""Rules on clocks: time stamps increase, at the rate they should, without gaps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from robot_data_platform.core.finding import Finding, Severity
from robot_data_platform.core.time_base import NS_PER_S
from robot_data_platform.quality.runs import Bools, Ints, name_runs
from robot_data_platform.quality.thresholds import Thresholds

NS_PER_MS = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Clock:
    """The time stamps of an episode's rows, or of one camera's frames."""

    place: str
    """How findings name it: ``rows``, or ``camera=env frames``."""
    timestamp_ns: Ints
    """(N,) int64, in stored order."""
    nominal_hz: float | None
    """Rate that the dataset states; None = not stated, so not compared."""


def period_ns(timestamp_ns: Ints) -> float | None:
    """Return the usual step of a clock: the median of its forward steps; None without one."""
    steps = np.diff(timestamp_ns)
    steps = steps[steps > 0]
    return float(np.median(steps)) if len(steps) else None


def timestamps_increase(clock: Clock) -> list[Finding]:
    """Fail where a time stamp is not later than the one before it."""
    is_late = np.concatenate([[False], np.diff(clock.timestamp_ns) <= 0])
    if not is_late.any():
        return []
    count = int(np.count_nonzero(is_late))
    return [
        Finding(
            rule="timestamps_increase",
            severity=Severity.FAIL,
            message=f"{count} time stamps of {clock.place} are not later than the one before, at "
            f"{name_runs(is_late)}: expected an increasing clock.",
            where=f"{clock.place} {name_runs(is_late)}",
            value=count,
            threshold=0,
            unit="samples",
        )
    ]


def rows_count_up(frame_index: Ints) -> list[Finding]:
    """Fail where the rows' ``frame_index`` is not 0, 1, 2 ... in stored order."""
    is_off = frame_index != np.arange(len(frame_index))
    if not is_off.any():
        return []
    first = int(np.argmax(is_off))
    return [
        Finding(
            rule="rows_count_up",
            severity=Severity.FAIL,
            message=f"Row {first} has frame_index {int(frame_index[first])}: expected {first}. "
            f"{int(np.count_nonzero(is_off))} rows are out of place.",
            where=f"rows {name_runs(is_off)}",
            value=int(np.count_nonzero(is_off)),
            threshold=0,
            unit="rows",
        )
    ]


def no_gaps(clock: Clock, limits: Thresholds) -> list[Finding]:
    """Tell of samples that a clock leaves out: warn of a long gap or of many, else inform."""
    period = period_ns(clock.timestamp_ns)
    if period is None:
        return []
    steps = np.diff(clock.timestamp_ns)
    is_gap = steps > limits.missing_step.value * period
    if not is_gap.any():
        return []
    missing = int(np.rint(steps[is_gap] / period - 1).sum())
    share = missing / (missing + len(clock.timestamp_ns))
    longest_ms = float(steps.max()) / NS_PER_MS
    is_bad = longest_ms >= limits.gap.value or share > limits.missing_rows_share.value
    return [
        Finding(
            rule="no_gaps",
            severity=Severity.WARN if is_bad else Severity.INFO,
            message=f"About {missing} samples ({share:.1%}) of {clock.place} are missing, after "
            f"{name_runs(_at_left(is_gap))}; the longest step is {longest_ms:.1f} ms where "
            f"{period / NS_PER_MS:.1f} ms is usual.",
            where=f"{clock.place} {name_runs(_at_left(is_gap))}",
            value=longest_ms,
            threshold=limits.gap.value,
            unit=limits.gap.unit,
        )
    ]


def _at_left(is_step: Bools) -> Bools:
    """Return a mask of samples from a mask of steps: true for the sample before the step."""
    return np.concatenate([is_step, [False]])


def rate_matches_nominal(clock: Clock, limits: Thresholds) -> list[Finding]:
    """Warn where the measured rate, gaps left out, is not the stated one."""
    period = period_ns(clock.timestamp_ns)
    if period is None or clock.nominal_hz is None:
        return []
    measured_hz = NS_PER_S / float(np.mean(_whole_steps(clock, period, limits)))
    error = measured_hz / clock.nominal_hz - 1
    if abs(error) <= limits.rate_error.value:
        return []
    return [
        Finding(
            rule="rate_matches_nominal",
            severity=Severity.WARN,
            message=f"The rate of {clock.place} is {measured_hz:.2f} Hz: expected "
            f"{clock.nominal_hz:.2f} Hz, the dataset's rate; {error:+.1%} off.",
            where=clock.place,
            value=abs(error),
            threshold=limits.rate_error.value,
            unit=limits.rate_error.unit,
        )
    ]


def _whole_steps(clock: Clock, period: float, limits: Thresholds) -> Ints:
    """Return the forward steps between which no sample is missing."""
    steps = np.diff(clock.timestamp_ns)
    return steps[(steps > 0) & (steps <= limits.missing_step.value * period)]


def steps_are_regular(clock: Clock, limits: Thresholds) -> list[Finding]:
    """Inform where one step in twenty, or more, is far from the usual one."""
    period = period_ns(clock.timestamp_ns)
    if period is None:
        return []
    deviation = np.abs(_whole_steps(clock, period, limits) - period) / period
    jitter = float(np.percentile(deviation, 95))
    if jitter <= limits.jitter.value:
        return []
    return [
        Finding(
            rule="steps_are_regular",
            severity=Severity.INFO,
            message=f"One step in twenty of {clock.place} is {jitter:.2f} periods or more away "
            f"from the usual {period / NS_PER_MS:.1f} ms.",
            where=clock.place,
            value=jitter,
            threshold=limits.jitter.value,
            unit=limits.jitter.unit,
        )
    ]


def clocks_agree(camera: str, row_ns: Ints, pts_ns: Ints, limits: Thresholds) -> list[Finding]:
    """Fail where all pictures of a camera are far before or after the rows: on another clock."""
    if not len(row_ns) or not len(pts_ns):
        return []
    apart_ns = max(int(pts_ns[0] - row_ns[-1]), int(row_ns[0] - pts_ns[-1]))
    if apart_ns <= limits.clocks_apart.value * NS_PER_S:
        return []
    return [
        Finding(
            rule="clocks_agree",
            severity=Severity.FAIL,
            message=f"All {len(pts_ns)} pictures of camera {camera!r} are "
            f"{'after' if pts_ns[0] > row_ns[-1] else 'before'} the rows, by "
            f"{apart_ns / NS_PER_S:.1f} s or more: expected one clock. Correct the times of one "
            "of them, and upload again.",
            where=f"camera={camera}",
            value=apart_ns / NS_PER_S,
            threshold=limits.clocks_apart.value,
            unit=limits.clocks_apart.unit,
        )
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class CameraSpan:
    """When a camera's first and last frame were taken, no earlier and no later than the rows."""

    camera: str
    start_ns: int
    end_ns: int


def cameras_start_together(spans: Sequence[CameraSpan], limits: Thresholds) -> list[Finding]:
    """Warn of a camera whose pictures start well after another's, within the rows."""
    earliest = min((span.start_ns for span in spans), default=0)
    lags = {span.camera: (span.start_ns - earliest) / NS_PER_MS for span in spans}
    return _apart("cameras_start_together", "starts", "after the first camera", lags, limits)


def cameras_end_together(spans: Sequence[CameraSpan], limits: Thresholds) -> list[Finding]:
    """Warn of a camera whose pictures end well before another's, within the rows."""
    latest = max((span.end_ns for span in spans), default=0)
    leads = {span.camera: (latest - span.end_ns) / NS_PER_MS for span in spans}
    return _apart("cameras_end_together", "ends", "before the last camera", leads, limits)


def _apart(
    rule: str, verb: str, than: str, apart_ms: dict[str, float], limits: Thresholds
) -> list[Finding]:
    return [
        Finding(
            rule=rule,
            severity=Severity.WARN,
            message=f"Camera {camera!r} {verb} {value:.0f} ms {than}: expected less than "
            f"{limits.camera_spread.value:.0f} ms.",
            where=f"camera={camera}",
            value=value,
            threshold=limits.camera_spread.value,
            unit=limits.camera_spread.unit,
        )
        for camera, value in apart_ms.items()
        if value >= limits.camera_spread.value
    ]
