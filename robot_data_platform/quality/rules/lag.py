"""Rules on time between streams: pictures against joints, the state against the action."""

from __future__ import annotations

from robot_data_platform.core.finding import Finding, Severity
from robot_data_platform.quality.lag import Lag
from robot_data_platform.quality.thresholds import Thresholds


def camera_is_on_time(camera: str, lag: Lag, period_ms: float, limits: Thresholds) -> list[Finding]:
    """Tell of pictures that show what the joints did at another time: warn of a long while.

    Parameters
    ----------
    camera : str
        The camera.
    lag : Lag
        By how much its pictures are late.
    period_ms : float
        Usual time between two of its pictures.
    """
    if lag.lag_ms is None or lag.confidence < limits.lag_confidence.value:
        return []
    usual_ms = limits.lag_periods.value * period_ms
    if abs(lag.lag_ms) <= max(limits.lag_told.value, usual_ms):
        return []
    limit_ms = max(limits.lag.value, usual_ms)
    return [
        Finding(
            rule="camera_is_on_time",
            severity=Severity.WARN if abs(lag.lag_ms) > limit_ms else Severity.INFO,
            message=f"Pictures of camera {camera!r} show what the joints did "
            f"{abs(lag.lag_ms):.0f} ms {'before' if lag.lag_ms > 0 else 'after'} their time stamps "
            f"({abs(lag.lag_ms) / period_ms:.1f} frames), with confidence {lag.confidence:.2f}: "
            f"expected at most {limit_ms:.0f} ms.",
            where=f"camera={camera}",
            value=lag.lag_ms,
            threshold=limit_ms,
            unit=limits.lag.unit,
        )
    ]


def camera_lag_is_known(camera: str, lag: Lag, limits: Thresholds) -> list[Finding]:
    """Inform of a camera whose lag is not known, since little moves or motions are alike."""
    if lag.lag_ms is not None and lag.confidence >= limits.lag_confidence.value:
        return []
    best = f"{lag.lag_ms:.0f} ms is the most likely" if lag.lag_ms is not None else lag.reason
    return [
        Finding(
            rule="camera_lag_is_known",
            severity=Severity.INFO,
            message=f"Whether pictures of camera {camera!r} are late is not known: {best}, with "
            f"confidence {lag.confidence:.2f}; {limits.lag_confidence.value:.2f} is needed.",
            where=f"camera={camera}",
            value=lag.confidence,
            threshold=limits.lag_confidence.value,
            unit=limits.lag_confidence.unit,
        )
    ]


def state_follows_action(lag: Lag, limits: Thresholds) -> list[Finding]:
    """Warn of a state before its action, inform of one long after it; where they are alike."""
    if lag.lag_ms is None or lag.confidence < limits.lag_confidence.value:
        return []
    is_early = lag.lag_ms < -limits.command_lead.value
    if not is_early and lag.lag_ms <= limits.command_lag.value:
        return []
    limit = limits.command_lead if is_early else limits.command_lag
    return [
        Finding(
            rule="state_follows_action",
            severity=Severity.WARN if is_early else Severity.INFO,
            message=f"The state moves {abs(lag.lag_ms):.0f} ms {'before' if is_early else 'after'} "
            f"the action, with confidence {lag.confidence:.2f}: expected at most "
            f"{limit.value:.0f} ms. The rows of one of them may be shifted.",
            where="observation_state",
            value=lag.lag_ms,
            threshold=-limit.value if is_early else limit.value,
            unit=limit.unit,
        )
    ]
