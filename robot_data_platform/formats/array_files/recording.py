"""Named arrays of an episode as a recording."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from robot_data_platform.core.finding import Finding, Severity
from robot_data_platform.core.recording import (
    EpisodeRef,
    FloatArray,
    Int64Array,
    Recording,
    Signal,
)
from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform.formats.array_files.cameras import read_cameras
from robot_data_platform.formats.array_files.episode_tree import Leaf
from robot_data_platform.formats.array_files.roles import TIME, Roles, roles_of, signal_name
from robot_data_platform.formats.array_files.stored_array import StoredArray, wrong_shape
from robot_data_platform.formats.hdf5_signals import as_floats
from robot_data_platform.formats.names import unique_names
from robot_data_platform.formats.profile import Profile
from robot_data_platform.formats.row_rate import RowTimes, times_at_rate
from robot_data_platform.formats.timing import check_increasing, check_rows, integer_times

TASKS = ("task", "language_instruction", "instruction")
"""Names of the text that is the task."""
MAX_VALUES = 1 << 24
"""Numbers of all signals of an episode; a shape is a claim, and a small file may unpack to much."""


def array_recording(
    ref: EpisodeRef, leaves: Mapping[str, Leaf], profile: Profile, subject: str
) -> Recording:
    """Return an episode made of named arrays; row k of each belongs together.

    Parameters
    ----------
    ref : EpisodeRef
        The episode.
    leaves : mapping
        Its values by name.
    profile : Profile
        States rate and channel order.
    subject : str
        The episode, for messages.

    Raises
    ------
    DataFaultError
        ``no-rows``: there is neither an action nor a state. ``time-not-increasing``;
        ``shape-mismatch``: an array claims to be absurdly large, or is not what it claims.
    InvalidInputError
        ``invalid-profile``: there is no clock, and the profile states no rate.
    """
    roles = roles_of(leaves, subject)
    single = check_rows(roles.num_rows, subject)
    # Read before times are made for as many rows as the arrays claim to have.
    values = _values(roles.signals, subject)
    rows = _times(roles, profile, subject)
    cameras, seen = read_cameras(roles.pictures, profile, rows.timestamp_ns, subject)
    return Recording(
        ref=ref,
        signals=_signals(values, rows.timestamp_ns, subject),
        cameras=cameras,
        task=next((roles.facts[name] for name in TASKS if name in roles.facts), None),
        robot=None,
        findings=(*single, *rows.findings, *seen, *_left_out(roles.others, subject)),
        metadata={**roles.facts, "clock": rows.clock},
    )


def _times(roles: Roles, profile: Profile, subject: str) -> RowTimes:
    num_rows, clock = roles.num_rows, roles.clock
    if clock is None:
        # One more: what is observed after the last action has a time too.
        return times_at_rate(num_rows + 1, profile, None, f"an array {TIME!r}", subject)
    if clock.shape != (num_rows,):
        raise DataFaultError(
            f"{subject} array {TIME!r} has another length than the rows: got {clock.shape}, "
            f"expected ({num_rows},). Record the episode again, or drop it.",
            kind=ErrorKind.ROW_MISMATCH,
        )
    times = integer_times(clock.load(subject), f"{subject} array {TIME!r}")
    check_increasing(times, f"{subject} array {TIME!r}")
    return RowTimes(timestamp_ns=times, clock=TIME)


def _values(arrays: Mapping[str, StoredArray], subject: str) -> dict[str, FloatArray]:
    num_values = sum(math.prod(array.shape) for array in arrays.values())
    if num_values > MAX_VALUES:
        raise wrong_shape(
            f"{subject}: its signals", f"{num_values} numbers", f"at most {MAX_VALUES}"
        )
    return {
        name: as_floats(array.load(f"{subject} array {name!r}"), array.shape[0])
        for name, array in arrays.items()
    }


def _signals(
    values: Mapping[str, FloatArray], times: Int64Array, subject: str
) -> tuple[Signal, ...]:
    names = unique_names(values, signal_name, subject)
    return tuple(
        Signal(name=names[name], timestamp_ns=times[: len(rows)], values=rows)
        for name, rows in values.items()
    )


def _left_out(others: Mapping[str, str], subject: str) -> Iterator[Finding]:
    for name, why in others.items():
        yield Finding(
            rule="columns_are_read",
            severity=Severity.INFO,
            message=f"{subject}: value {name!r} was left out: {why}.",
            where=name,
        )
