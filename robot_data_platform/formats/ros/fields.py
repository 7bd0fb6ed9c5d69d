"""Fields of decoded messages, whichever library decoded them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import MISSING, fields, is_dataclass
from functools import lru_cache

from google.protobuf.message import Message as ProtobufMessage

from robot_data_platform.core.time_base import NS_PER_S

_TIME_FIELDS = (
    ("sec", "nanosec"),  # ROS 2, and ROS 1 as rosbags names it
    ("seconds", "nanos"),  # google.protobuf.Timestamp and Duration
    ("sec", "nsec"),  # foxglove's JSON
)
"""Fields of times and durations: whole seconds, and nanoseconds beyond them."""
_INT64 = range(-(1 << 63), 1 << 63)


def member(message: object, name: str) -> object:
    """Return a field of a message by name, or None where it has no such field."""
    if isinstance(message, dict):
        return message.get(name)
    return getattr(message, name, None)


def members(message: object) -> Sequence[tuple[str, object]]:
    """Return the fields of a message by name, in their order; none for what is no message."""
    if isinstance(message, dict):
        return list(message.items())
    return [(name, getattr(message, name)) for name in _names_of(message)]


def _names_of(message: object) -> tuple[str, ...]:
    if isinstance(message, ProtobufMessage):
        return tuple(field.name for field in message.DESCRIPTOR.fields)
    return _names(type(message))  # type: ignore[arg-type]


@lru_cache(maxsize=1024)
def _names(kind: type) -> tuple[str, ...]:
    # Constants are fields with a default, as `rosbags` writes its classes.
    own = fields(kind) if is_dataclass(kind) else ()
    return tuple(f.name for f in own if f.default is MISSING)


def is_time(value: object) -> bool:
    """Return whether a value is a time or a duration: it has two fields of the usual names."""
    names = tuple(value) if isinstance(value, dict) else _names_of(value)
    return names in _TIME_FIELDS


def time_ns(value: object) -> int | None:
    """Return a time or duration as nanoseconds, or None for what is neither."""
    if value is None or not is_time(value):
        return None
    (_, seconds), (_, nanos) = members(value)
    if type(seconds) is not int or type(nanos) is not int:
        return None
    ns = seconds * NS_PER_S + nanos
    return ns if ns in _INT64 else None


def stamp_ns(message: object) -> int | None:
    """Return when a message's content was taken, as it says itself; None where it doesn't.

    That is ``header.stamp``, or the field ``timestamp``.
    """
    stamp = member(member(message, "header"), "stamp")
    return time_ns(member(message, "timestamp") if stamp is None else stamp)


def frame_id_of(message: object) -> str:
    """Return the frame of reference that a message names; empty where it names none."""
    header = member(message, "header")
    return str(member(message if header is None else header, "frame_id") or "")
