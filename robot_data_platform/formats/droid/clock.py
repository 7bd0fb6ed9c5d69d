"""Times of a DROID trajectory: milliseconds since 1970 on the clock of the recording computer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from robot_data_platform.core.alignment import match_nearest
from robot_data_platform.core.finding import Finding, Severity
from robot_data_platform.core.recording import Int64Array
from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform.formats.hdf5_files import check_chunk, check_size
from robot_data_platform.formats.hdf5_members import dataset_at
from robot_data_platform.formats.hdf5_signals import check_length
from robot_data_platform.formats.profile import Profile
from robot_data_platform.formats.row_rate import RowTimes, times_at_rate
from robot_data_platform.formats.timing import check_increasing, integer_times

if TYPE_CHECKING:
    import h5py

TIMESTAMP = "observation/timestamp"
ROW_CLOCKS = (f"{TIMESTAMP}/robot_state/read_start", f"{TIMESTAMP}/control/step_start")
"""Datasets that may be the rows' clock, the better one first: when the state of a step was asked
for, and when the step began. The robot's own ``robot_timestamp_*`` is on another computer."""
CAMERA_CLOCKS = ("estimated_capture", "frame_received", "read_end", "read_start")
"""Times of one camera, the better ones first: the recorder's estimate of the exposure, which is
the arrival less a fixed latency, then what is known of the arrival."""
NS_PER_MS = 1_000_000
_LATEST_MS = (1 << 63) // NS_PER_MS
_EARLIEST_NS = 10**17


def row_times(file: h5py.File, num_rows: int, profile: Profile, subject: str) -> RowTimes:
    """Return the times of an episode's rows.

    Raises
    ------
    DataFaultError
        ``time-not-increasing``, ``row-mismatch``: the recorded times can't be those of the rows.
    InvalidInputError
        ``invalid-profile``: the file records no times, and the profile states no rate.
    """
    for path in ROW_CLOCKS:
        dataset = dataset_at(file, path, subject)
        if dataset is not None:
            times, unit = times_ns(dataset, num_rows, subject)
            findings = _unit_findings(path, unit, subject)
            return RowTimes(timestamp_ns=times, clock=f"{path} ({unit})", findings=findings)
    return times_at_rate(num_rows, profile, None, f"{ROW_CLOCKS[0]!r}", subject)


def camera_times(
    file: h5py.File, serial: str, rows: RowTimes, subject: str
) -> tuple[Int64Array, str, tuple[Finding, ...]]:
    """Return when each picture of a camera was taken, the clock's path, and doubts.

    Picture k was read in step k: where its times are absent or can't be, it gets those of the
    row.
    """
    for clock in CAMERA_CLOCKS if rows.clock.startswith(TIMESTAMP) else ():
        path = f"{TIMESTAMP}/cameras/{serial}_{clock}"
        dataset = dataset_at(file, path, subject)
        if dataset is None:
            continue
        try:
            times, unit = times_ns(dataset, len(rows.timestamp_ns), subject)
        except DataFaultError as err:
            return rows.timestamp_ns, rows.clock, (_no_times(serial, str(err), subject),)
        return times, f"{path} ({unit})", ()
    why = f"got none of {[*CAMERA_CLOCKS]} on a clock of the rows, expected one."
    return rows.timestamp_ns, rows.clock, (_no_times(serial, why, subject),)


def times_ns(dataset: h5py.Dataset, num_rows: int, subject: str) -> tuple[Int64Array, str]:
    """Return recorded times as int64 ns, and the unit that they were in.

    Raises
    ------
    DataFaultError
        ``row-mismatch``: another number than rows. ``time-not-increasing``: they don't increase,
        are no integers, or are neither milliseconds nor nanoseconds.
    """
    name = f"{subject} dataset {dataset.name!r}"
    if dataset.ndim != 1:
        raise _no_clock(name, f"the shape {dataset.shape}", "one time per row")
    check_length(dataset, num_rows, subject)
    check_chunk(dataset, name)
    check_size(dataset.dtype.itemsize * num_rows, name)
    times = integer_times(dataset[()], name)
    ns_per_tick, unit = _unit(times, name)
    times = times * ns_per_tick
    check_increasing(times, name)
    return times, unit


def _unit(times: Int64Array, name: str) -> tuple[int, str]:
    # No millisecond that fits int64 nanoseconds is as large as the nanoseconds of the year 1973.
    earliest, latest = int(times.min()), int(times.max())
    if earliest > -_LATEST_MS and latest < _LATEST_MS:
        return NS_PER_MS, "ms"
    if earliest >= _EARLIEST_NS:
        return 1, "ns"
    raise _no_clock(name, f"times from {earliest} to {latest}", "milliseconds since 1970")


def _unit_findings(path: str, unit: str, subject: str) -> tuple[Finding, ...]:
    if unit == "ms":
        return ()
    finding = Finding(
        rule="time_unit_as_layout_states",
        severity=Severity.INFO,
        message=f"{subject}: times of {path!r} were read as {unit}: got numbers too large for the "
        "ms that are expected.",
        where=path,
    )
    return (finding,)


def _no_times(serial: str, why: str, subject: str) -> Finding:
    return Finding(
        rule="camera_times_are_recorded",
        severity=Severity.WARN,
        message=f"{subject}: pictures of camera {serial!r} got the times of the rows that they "
        f"were read in, since their own can't be used: {why}",
        where=f"camera={serial}",
    )


def _no_clock(name: str, got: str, expected: str) -> DataFaultError:
    return DataFaultError(
        f"{name} is no clock: got {got}, expected {expected}. Correct the times, or drop the "
        "episode.",
        kind=ErrorKind.TIME_NOT_INCREASING,
    )


def pairing_findings(
    row_ns: Int64Array, picture_ns: Int64Array, camera: str, subject: str
) -> tuple[Finding, ...]:
    """Return a finding where rows find, by time, the picture of another step, or none."""
    nearest = match_nearest(row_ns, picture_ns).index
    num_others = int((nearest != np.arange(len(row_ns))).sum())
    if not num_others:
        return ()
    offset_ms = float(np.median(picture_ns - row_ns)) / NS_PER_MS
    finding = Finding(
        rule="pictures_match_their_steps",
        severity=Severity.INFO,
        message=f"{subject}: {num_others} of {len(row_ns)} rows find, by time, another picture of "
        f"camera {camera!r} than the one that was read in their step, or none: got pictures "
        f"{offset_ms:+.1f} ms from the state of their step by the median, expected less than half "
        "a step.",
        where=f"camera={camera}",
        value=num_others,
        threshold=0,
        unit="rows",
    )
    return (finding,)
