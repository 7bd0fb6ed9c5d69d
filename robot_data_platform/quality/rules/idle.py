"""Rules on how long the robot rests before and after what it does."""

from __future__ import annotations

from robot_data_platform.core.finding import Finding, Severity
from robot_data_platform.quality.rules.timing import NS_PER_MS
from robot_data_platform.quality.runs import Ints
from robot_data_platform.quality.thresholds import Thresholds


def motion_starts_soon(num_rows: int, row_ns: Ints, limits: Thresholds) -> list[Finding]:
    """Inform of a robot that stays long in its first pose.

    Parameters
    ----------
    num_rows : int
        Rows before it leaves that pose.
    row_ns : ndarray of int64, shape (N,)
        Time of all rows.
    """
    if not 0 < num_rows < len(row_ns):
        return []
    waits_ms = float(row_ns[num_rows] - row_ns[0]) / NS_PER_MS
    return _rest("motion_starts_soon", "before its first motion", waits_ms, (0, num_rows), limits)


def motion_lasts_to_the_end(num_rows: int, row_ns: Ints, limits: Thresholds) -> list[Finding]:
    """Inform of a robot that stays long in its last pose, of so many rows."""
    if not 0 < num_rows < len(row_ns):
        return []
    waits_ms = float(row_ns[-1] - row_ns[-1 - num_rows]) / NS_PER_MS
    rows = (len(row_ns) - num_rows, len(row_ns))
    return _rest("motion_lasts_to_the_end", "after its last motion", waits_ms, rows, limits)


def robot_moves(num_rows: int, row_ns: Ints, limits: Thresholds) -> list[Finding]:
    """Inform of a robot that never leaves its first pose, in which it is for so many rows."""
    if num_rows < len(row_ns) or not len(row_ns):
        return []
    rests_ms = float(row_ns[-1] - row_ns[0]) / NS_PER_MS
    return _rest("robot_moves", "all the time", rests_ms, (0, num_rows), limits)


def _rest(
    rule: str, when: str, rests_ms: float, rows: tuple[int, int], limits: Thresholds
) -> list[Finding]:
    if rests_ms < limits.idle.value:
        return []
    return [
        Finding(
            rule=rule,
            severity=Severity.INFO,
            message=f"The robot rests for {rests_ms:.0f} ms {when}, rows {rows[0]} to "
            f"{rows[1] - 1}: expected less than {limits.idle.value:.0f} ms.",
            where=f"rows {rows[0]}..{rows[1] - 1}",
            value=rests_ms,
            threshold=limits.idle.value,
            unit=limits.idle.unit,
        )
    ]
