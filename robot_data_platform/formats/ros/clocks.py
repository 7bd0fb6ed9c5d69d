"""Which of a message's times counts: chosen per stream by one rule, and told.

The rule: the time that the message itself gives, since it says when the sensor looked; else when
it was sent; else when the recorder got it. A clock that can't be right is passed over. If some
stream can't have the first kind, and the two kinds are hours apart, all streams get the recorder's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robot_data_platform.core.recording import Int64Array
from robot_data_platform.core.time_base import NS_PER_S
from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform.formats.stream_keys import Clock

MAX_REPEATED = 0.1
"""Share of messages that may have the time of another one: a driver that now and then sends a
sample twice stays far below, a clock of whole seconds far above."""
MAX_APART_NS = 3_600 * NS_PER_S
"""Largest distance of two clocks that may be one: network and buffers stay below seconds, another
epoch or time zone is an hour or more away."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageTimes:
    """The times that a stream's messages have; arrays of length N, int64 ns."""

    label: str
    """The topic, for findings."""
    header_ns: Int64Array | None
    """None where the messages have no stamp of their own."""
    publish_ns: Int64Array | None
    """None where the container does not keep it."""
    log_ns: Int64Array
    may_repeat: bool = True
    """Whether a message with the time of another one may be left out; frames of a video may not."""
    stated: Clock | None = None
    """What the profile says."""
    offset_ns: int = 0
    """What the profile adds."""

    def of(self, clock: Clock) -> Int64Array | None:
        """Return the times on a clock, or None where there are none."""
        by_clock = {Clock.HEADER: self.header_ns, Clock.PUBLISH: self.publish_ns}
        return by_clock.get(clock, self.log_ns)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenTimes:
    """A stream's times, in order, no two equal."""

    label: str
    clock: Clock
    timestamp_ns: Int64Array
    """(M,) int64, increasing."""
    index: npt.NDArray[np.intp]
    """(M,) position of each of the stream's messages."""
    num_repeated: int
    """Messages left out because an earlier one has the same time."""
    unusable: str | None
    """Why the stream's own stamps don't count, although it has some; None = they count."""


def choose_times(streams: Sequence[MessageTimes]) -> list[ChosenTimes]:
    """Return the times of each stream, all on clocks that can be compared where possible.

    Raises
    ------
    DataFaultError
        ``time-not-increasing``: too many messages of a stream have the time of another one, on
        every clock that it has.
    """
    clocks = [_clock_of(times) for times in streams]
    if _must_share(streams, clocks):
        clocks = [times.stated or Clock.LOG for times in streams]
    return [_chosen(times, clock) for times, clock in zip(streams, clocks, strict=True)]


def fault_of(timestamp_ns: Int64Array, *, may_repeat: bool = True) -> str | None:
    """Return why times can't be those of a stream, or None where they can."""
    num_messages = len(timestamp_ns)
    num_zero = int(np.count_nonzero(timestamp_ns == 0))
    if num_zero > 1 or num_zero == num_messages:
        return f"{num_zero} of {num_messages} are 0"
    num_repeated = num_messages - len(np.unique(timestamp_ns))
    if num_repeated > (MAX_REPEATED * num_messages if may_repeat else 0):
        return f"{num_repeated} of {num_messages} repeat another one"
    return None


def distance_ns(times: MessageTimes) -> int:
    """Return how far a stream's own stamps are from the recorder's clock, as a median."""
    if times.header_ns is None:
        return 0
    # In floats, since the difference of two int64 may not fit one.
    return int(np.median(times.header_ns.astype(np.float64) - times.log_ns.astype(np.float64)))


def _clock_of(times: MessageTimes) -> Clock:
    if times.stated is not None and times.of(times.stated) is not None:
        return times.stated
    repeat = times.may_repeat
    if times.header_ns is not None and not fault_of(times.header_ns, may_repeat=repeat):
        return Clock.HEADER
    sent = times.publish_ns
    if sent is None or np.array_equal(sent, times.log_ns) or fault_of(sent, may_repeat=repeat):
        return Clock.LOG
    is_near = np.abs(sent.astype(np.float64) - times.log_ns).max(initial=0) <= MAX_APART_NS
    return Clock.PUBLISH if is_near else Clock.LOG


def _must_share(streams: Sequence[MessageTimes], clocks: Sequence[Clock]) -> bool:
    is_mixed = Clock.HEADER in clocks and set(clocks) != {Clock.HEADER}
    own = [s for s, clock in zip(streams, clocks, strict=True) if clock is Clock.HEADER]
    return is_mixed and any(abs(distance_ns(times)) > MAX_APART_NS for times in own)


def _chosen(times: MessageTimes, clock: Clock) -> ChosenTimes:
    recorded = times.of(clock)
    timestamp_ns = (times.log_ns if recorded is None else recorded) + times.offset_ns
    unique_ns, index = np.unique(timestamp_ns, return_index=True)
    num_repeated = len(timestamp_ns) - len(unique_ns)
    if num_repeated > (MAX_REPEATED * len(timestamp_ns) if times.may_repeat else 0):
        raise _repeats(times.label, clock, num_repeated, len(timestamp_ns))
    unusable = None
    if times.header_ns is not None and clock is not Clock.HEADER and times.stated is None:
        fault = fault_of(times.header_ns, may_repeat=times.may_repeat)
        apart_s = distance_ns(times) / NS_PER_S
        unusable = fault or f"{apart_s:.0f} s from the log times, which others have alone"
    return ChosenTimes(
        label=times.label,
        clock=clock,
        timestamp_ns=unique_ns,
        index=index,
        num_repeated=num_repeated,
        unusable=unusable,
    )


def _repeats(label: str, clock: Clock, num_repeated: int, num_messages: int) -> DataFaultError:
    return DataFaultError(
        f"{label} has times that do not increase: got {num_repeated} of {num_messages} messages "
        f"with the time of another one on the clock {clock.value!r}, expected one time each. State "
        "another `clock` for it in the profile's `streams`, or skip it there.",
        kind=ErrorKind.TIME_NOT_INCREASING,
        num_repeated=num_repeated,
    )
