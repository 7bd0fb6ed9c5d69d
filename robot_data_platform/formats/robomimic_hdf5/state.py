"""Which dataset of a demo is the robot's state, and how the observed joints relate to it."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robot_data_platform.core.finding import Finding, Severity
from robot_data_platform.core.recording import STATE, FloatArray, Signal

ABSOLUTE = "joint positions, absolute"
CANDIDATES = {
    "obs/state": "the state by its name",
    "obs/robot0_joint_pos": ABSOLUTE,
    "obs/joint_states": ABSOLUTE,
    "obs/joint_pos": "joint positions; nothing states whether they are absolute, or relative to a "
    "default pose as Isaac Lab writes them",
    "robot_states": "gripper, hand position and hand orientation",
}
"""Datasets that may be the state, the better ones first; after Isaac Lab's absolute joints."""
DOUBTFUL = "obs/joint_pos"
_ARTICULATION = re.compile(r"states/articulation/([^/]+)/joint_position")
ROBOT = "robot"
"""Name of the articulation that is taken where there are several."""
OBSERVED_JOINTS = "observation_joint_pos"
"""Signal of the joints that Isaac Lab writes to ``states`` too."""
LAG_TOLERANCE = 1e-5
"""Largest change over the rows of a difference that counts as constant: float32 holds angles of a
few rad to less than 1e-6."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lag:
    """How a demo's observed joints relate to its states, measured."""

    num_rows: int
    """Observation k + num_rows is state k."""
    offset: npt.NDArray[np.float64]
    """(D,) state minus observation, the same in all rows."""


def state_dataset(paths: Collection[str]) -> str | None:
    """Return the path of the state among a demo's datasets, or None where none is known as one."""
    robots = {m.group(1): path for path in paths if (m := _ARTICULATION.fullmatch(path))}
    if "obs/state" not in paths and (ROBOT in robots or len(robots) == 1):
        return robots.get(ROBOT) or next(iter(robots.values()))
    return next((path for path in CANDIDATES if path in paths), None)


def state_findings(
    state: str | None, paths: Collection[str], lag: Lag | None, subject: str
) -> tuple[Finding, ...]:
    """Return what has to be known of the state: which dataset it is, and of which row."""
    if state is None:
        return (_no_state(subject),)
    others = [path for path in CANDIDATES if path in paths and path != state]
    also = f" Also there: {', '.join(others)}." if others else ""
    which = Finding(
        rule="state_dataset_is_stated",
        severity=Severity.WARN if state == DOUBTFUL else Severity.INFO,
        message=f"{subject}: observation_state is {state!r} ({CANDIDATES.get(state, ABSOLUTE)}), "
        f"taken by its name: the file does not say which dataset is.{also}{_offset_text(lag)}",
        where=state,
    )
    return (which, *_lag_findings(lag, state, subject))


def measure_lag(signals: Sequence[Signal], state: str | None) -> Lag | None:
    """Return by how many rows a demo's observed joints trail its states.

    None where it has not both, or where they fit at no offset of -1, 0 or 1 rows, or at several.
    """
    values = {signal.name: signal.values for signal in signals}
    if state is None or not _ARTICULATION.fullmatch(state) or OBSERVED_JOINTS not in values:
        return None
    states, seen = values[STATE], values[OBSERVED_JOINTS]
    return _lag(states, seen) if states.shape == seen.shape else None


def _lag(states: FloatArray, seen: FloatArray) -> Lag | None:
    fitting = []
    for num_rows in (-1, 0, 1):
        with np.errstate(invalid="ignore"):  # infinity less infinity is no constant
            differences = _shifted(states, -num_rows).astype(np.float64) - _shifted(seen, num_rows)
        if len(differences) > 1 and np.ptp(differences, axis=0).max() <= LAG_TOLERANCE:
            offset = np.median(differences, axis=0)
            fitting.append(Lag(num_rows=num_rows, offset=offset))
    return fitting[0] if len(fitting) == 1 else None


def _shifted(values: FloatArray, num_rows: int) -> FloatArray:
    """Return the rows from ``num_rows`` on, or those before the last ``-num_rows``."""
    return values[num_rows:] if num_rows >= 0 else values[:num_rows]


def _lag_findings(lag: Lag | None, state: str, subject: str) -> tuple[Finding, ...]:
    if lag is None or lag.num_rows == 0:
        return ()
    consequence = " A state holds after the action of its row." if lag.num_rows > 0 else ""
    finding = Finding(
        rule="observations_share_the_row_of_states",
        severity=Severity.WARN,
        message=f"{subject}: state k of {state!r} is what {DOUBTFUL!r} observes in row "
        f"k + {lag.num_rows}: got {lag.num_rows} rows between them, expected the same row."
        f"{consequence} Both were kept as recorded.",
        where=DOUBTFUL,
        value=lag.num_rows,
        threshold=0,
        unit="rows",
    )
    return (finding,)


def _offset_text(lag: Lag | None) -> str:
    if lag is None or np.abs(lag.offset).max() <= LAG_TOLERANCE:
        return ""
    pose = ", ".join(f"{value:.4g}" for value in lag.offset)
    return f" {DOUBTFUL!r} is relative to a default pose of [{pose}]."


def _no_state(subject: str) -> Finding:
    return Finding(
        rule="state_is_recorded",
        severity=Severity.WARN,
        message=f"{subject} has no observation_state: got none of {[*CANDIDATES]} nor "
        "'states/articulation/<robot>/joint_position', expected one. What else is there was read.",
        where="observation_state",
    )
