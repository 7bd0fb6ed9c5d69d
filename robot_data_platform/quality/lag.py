"""How late one series follows others in time, in milliseconds, with a confidence.

At each lag the followed speeds are fitted to the shown motion; how well they fit, over all lags,
gives the likelihood of each. Neighbouring samples err alike, so they count as fewer.

Nothing is known of the robot's shape here; where it is, `spatial.time_lag` predicts what a camera
should see move.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robot_data_platform.core.peak import peak_shift
from robot_data_platform.quality.rules.values import Floats, SignalRows
from robot_data_platform.quality.runs import Ints

SEARCH_MS = 600
"""Lags that are tried each way; less in short episodes, of which `_SEARCH_SHARE` is tried."""
STEP_MS = 10
NEAR_MS = 30
"""The confidence is the probability that the lag is at most this far from the one given."""
_SEARCH_SHARE = 0.15
_MIN_SAMPLES = 30
_RIDGE = 0.1
"""Weight, over the mean power of the speeds, that keeps joints that move alike from cancelling."""
_MOTION_FLOOR = 1e-3
"""Grey levels: a picture whose mean change is below shows nothing move."""
_MIN_RANGE, _RANGE_SHARE = 0.01, 0.05
"""Least range of a dimension that moves: in its unit, and beside the one that moves farthest."""
_FEWEST_VALUES = 8
"""A dimension of fewer distinct values is a switch."""

Curve = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lag:
    """By how much one series is late, and how sure that is."""

    lag_ms: float | None
    """Positive where it is late; None = not measured."""
    confidence: float
    """Probability, 0 to 1, that the lag is within `NEAR_MS` of this; 0 where not measured."""
    reason: str = ""
    """Why it was not measured."""


def picture_lag(signal: SignalRows | None, row_ns: Ints, motion: Floats, pts_ns: Ints) -> Lag:
    """Return how late pictures show what the joints did.

    Parameters
    ----------
    signal : SignalRows or None
        The measured state, or where there is none the action.
    row_ns : ndarray of int64, shape (N,)
        Time of the rows.
    motion : ndarray, shape (F,)
        Change of each picture since the one before; NaN where unknown.
    pts_ns : ndarray of int64, shape (F,)
        Stated time of the pictures.
    """
    if signal is None or len(row_ns) < 2 or len(pts_ns) < 2:
        return _unknown("there is no state to compare with")
    path = _path(signal)
    if not path.shape[1]:
        return _unknown("no joint moves")
    row_ms, frame_ms = _ms(row_ns, row_ns[0]), _ms(pts_ns, row_ns[0])
    lags = _lags(row_ms)
    is_used = _is_inside(frame_ms, row_ms, lags) & np.isfinite(motion[1:])
    shown = np.sqrt((motion[1:] / np.maximum(np.diff(frame_ms), 1e-3))[is_used].astype(np.float64))
    if len(shown) < _MIN_SAMPLES:
        return _unknown("too few pictures lie well within the rows")
    if float(np.mean(motion[1:][is_used])) < _MOTION_FLOOR or not shown.std():
        return _unknown("the pictures show no motion")
    fits = [_fit(_speeds(path, row_ms, frame_ms - lag)[is_used], shown) for lag in lags]
    return _most_likely(lags, fits)


def command_lag(state: SignalRows, action: SignalRows, row_ns: Ints) -> Lag:
    """Return how late the state follows the action of the same dimensions.

    Parameters
    ----------
    state, action : SignalRows
        Of one width.
    row_ns : ndarray of int64, shape (N,)
        Time of the rows.
    """
    if len(row_ns) < 2:
        return _unknown("there are too few rows")
    moving = _moving(state) & _moving(action)
    if not moving.any():
        return _unknown("no dimension moves in both")
    row_ms = _ms(row_ns, row_ns[0])
    lags = _lags(row_ms)
    is_used = _is_inside(row_ms, row_ms, lags)
    if np.count_nonzero(is_used) < _MIN_SAMPLES:
        return _unknown("the episode is too short")
    follows, leads = _known(state.values[:, moving]), _known(action.values[:, moving])
    shown = _velocities(follows, row_ms, row_ms)[is_used]
    fits = [_fit_each(_velocities(leads, row_ms, row_ms - lag)[is_used], shown) for lag in lags]
    return _most_likely(lags, fits)


def _unknown(reason: str) -> Lag:
    return Lag(lag_ms=None, confidence=0.0, reason=reason)


def _ms(times_ns: Ints, origin_ns: int) -> Curve:
    return np.asarray((times_ns - origin_ns) / 1e6, dtype=np.float64)


def _lags(row_ms: Curve) -> Curve:
    reach = min(SEARCH_MS, _SEARCH_SHARE * float(row_ms[-1]))
    count = max(1, int(reach // STEP_MS))
    return np.arange(-count, count + 1, dtype=np.float64) * STEP_MS


def _is_inside(sample_ms: Curve, row_ms: Curve, lags: Curve) -> npt.NDArray[np.bool_]:
    """Return which steps lie within the rows at every lag, so that all fits are of the same."""
    early, late = sample_ms[:-1] - lags[-1], sample_ms[1:] - lags[0]
    return np.asarray((early >= row_ms[0]) & (late <= row_ms[-1]))


def _moving(signal: SignalRows) -> npt.NDArray[np.bool_]:
    """Return (D,) which dimensions move visibly beside the others, switches left out."""
    values = _known(signal.values)
    spread = np.ptp(values, axis=0)
    least = max(_MIN_RANGE, _RANGE_SHARE * float(spread.max(initial=0.0)))
    is_switch = [len(np.unique(column)) < _FEWEST_VALUES for column in values.T]
    return np.asarray((spread >= least) & ~np.array(is_switch, dtype=np.bool_))


def _known(values: Floats) -> Curve:
    """Return values with the last known one in place of those that are missing."""
    is_known = np.isfinite(values)
    last = np.maximum.accumulate(np.where(is_known, np.arange(len(values))[:, None], 0), axis=0)
    held = np.take_along_axis(values, last, axis=0)
    return np.asarray(np.where(np.isfinite(held), held, 0.0), dtype=np.float64)


def _path(signal: SignalRows) -> Curve:
    """Return how far each moving dimension has come up to each row, in parts of its range."""
    values = _known(signal.values[:, _moving(signal)])
    steps = np.abs(np.diff(values, axis=0, prepend=values[:1]))
    return np.asarray(np.cumsum(steps, axis=0) / np.ptp(values, axis=0))


def _at(values: Curve, row_ms: Curve, times_ms: Curve) -> Curve:
    """Return (N, D) values between rows, linearly."""
    left = np.clip(np.searchsorted(row_ms, times_ms, side="right") - 1, 0, len(row_ms) - 2)
    share = (times_ms - row_ms[left]) / np.maximum(row_ms[left + 1] - row_ms[left], 1e-9)
    share = np.clip(share, 0, 1)[:, None]
    return np.asarray(values[left] * (1 - share) + values[left + 1] * share)


def _velocities(values: Curve, row_ms: Curve, times_ms: Curve) -> Curve:
    step = np.diff(_at(values, row_ms, times_ms), axis=0)
    return np.asarray(step / np.maximum(np.diff(times_ms), 1e-3)[:, None])


def _speeds(path: Curve, row_ms: Curve, times_ms: Curve) -> Curve:
    """Return the root of speeds: a picture's change grows slower than what moves in it."""
    return np.sqrt(np.maximum(_velocities(path, row_ms, times_ms), 0))


@dataclass(frozen=True, slots=True)
class _Fit:
    unexplained: float
    """Share of the shown motion's variance."""
    num_free: float
    """Samples that err by themselves."""


def _fit(speeds: Curve, shown: Curve) -> _Fit:
    """Fit the motion by all speeds together."""
    inputs, output = speeds - speeds.mean(axis=0), shown - shown.mean()
    gram = inputs.T @ inputs
    ridge = _RIDGE * max(float(np.trace(gram)) / len(gram), 1e-12)
    weights = np.linalg.solve(gram + ridge * np.eye(len(gram)), inputs.T @ output)
    return _judge_fit(output, output - inputs @ weights)


def _fit_each(velocities: Curve, shown: Curve) -> _Fit:
    """Fit each dimension by its own."""
    inputs = velocities - velocities.mean(axis=0)
    output = (shown - shown.mean(axis=0)) / np.maximum(shown.std(axis=0), 1e-12)
    power = np.maximum(np.square(inputs).sum(axis=0), 1e-12)
    weights = (inputs * output).sum(axis=0) / power
    return _judge_fit(output, output - inputs * weights)


def _judge_fit(output: Curve, rest: Curve) -> _Fit:
    total, left = float(np.square(output).sum()), float(np.square(rest).sum())
    alike = float((rest[1:] * rest[:-1]).sum()) / max(left, 1e-12)
    share = float(np.clip(alike, 0, 0.99))
    return _Fit(left / max(total, 1e-12), len(rest) * (1 - share) / (1 + share))


def _most_likely(lags: Curve, fits: list[_Fit]) -> Lag:
    unexplained = np.maximum([fit.unexplained for fit in fits], 1e-6)
    best = int(np.argmin(unexplained))
    if best in (0, len(lags) - 1):
        return _unknown(f"no lag within {abs(lags[0]):.0f} ms stands out")
    likely = -0.5 * fits[best].num_free * np.log(unexplained / unexplained[best])
    weight = np.exp(likely)
    near = np.abs(lags - lags[best]) <= NEAR_MS
    return Lag(
        lag_ms=float(lags[best] + STEP_MS * peak_shift(-unexplained, best)),
        confidence=float(weight[near].sum() / weight.sum()),
    )
