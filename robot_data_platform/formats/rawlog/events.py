"""``events.json`` of a rawlog episode: who drove, and what the robot was told, by time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import cast

from robot_data_platform.core.recording import Interval
from robot_data_platform.core.source import Source
from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform.formats.data_files import unreadable
from robot_data_platform.formats.json_files import JsonObject, read_json

DRIVERS = ("human", "intervention", "policy")
"""Values of an event of kind ``source``."""
KINDS = ("instruction", "source")


@dataclass(frozen=True, slots=True, kw_only=True)
class Events:
    """Labels of one episode by kind, in the order of their starts."""

    instructions: tuple[Interval, ...] = ()
    sources: tuple[Interval, ...] = ()


def read_events(source: Source, relative: str) -> Events:
    """Return the labels of an episode.

    Raises
    ------
    DataFaultError
        ``missing-file``, ``unreadable-file``: an event lacks a key, or has a value that its kind
        can't take. ``metadata-contradiction``: two labels of one kind hold at once.
    """
    events = read_json(source, relative).get("events")
    if not isinstance(events, list):
        raise unreadable(source, relative, f"got events {events!r:.80}, expected a list")
    by_kind: dict[str, list[Interval]] = {kind: [] for kind in KINDS}
    for number, event in enumerate(events):
        kind, interval = _event(source, relative, number, event)
        by_kind[kind].append(interval)
    return Events(
        instructions=_in_order(by_kind["instruction"], source, relative),
        sources=_in_order(by_kind["source"], source, relative),
    )


def _event(source: Source, relative: str, number: int, event: object) -> tuple[str, Interval]:
    fields = cast("JsonObject", event) if isinstance(event, dict) else {}
    kind, value = fields.get("kind"), fields.get("value")
    start, end = fields.get("start_ns"), fields.get("end_ns")
    is_known = kind in KINDS and isinstance(value, str) and (kind != "source" or value in DRIVERS)
    if not is_known or type(start) is not int or type(end) is not int or not start < end:
        got = f"got event {number} {event!r:.160}, expected a kind of {list(KINDS)}, a value (for "
        got += f"a source one of {list(DRIVERS)}), and integers start_ns < end_ns"
        raise unreadable(source, relative, got)
    return str(kind), Interval(start_ns=start, end_ns=end, value=str(value))


def _in_order(intervals: Sequence[Interval], source: Source, relative: str) -> tuple[Interval, ...]:
    ordered = sorted(intervals, key=lambda interval: interval.start_ns)
    for earlier, later in pairwise(ordered):
        if later.start_ns < earlier.end_ns:
            raise DataFaultError(
                f"File {relative!r} of {source.label!r} has two labels at once: got "
                f"{later.value!r} from {later.start_ns} ns while {earlier.value!r} lasts to "
                f"{earlier.end_ns} ns, expected one at a time. Correct the events.",
                kind=ErrorKind.METADATA_CONTRADICTION,
                path=relative,
            )
    return tuple(ordered)
