"""What every container of messages yields, whatever the file format is."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from robot_data_platform.core.recording import Int64Array

Place = tuple[int, int, int]
"""Where a container finds a message again; each container has its own meaning for the numbers."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Channel:
    """One topic as one publisher declared it; equal only to itself."""

    topic: str
    type_name: str
    """As recorded: ``sensor_msgs/msg/JointState``, ``foxglove.RawImage``; empty = not stated."""
    encoding: str
    """How messages are written: ``cdr``, ``ros1``, ``protobuf``, ``json``."""
    definition_encoding: str = ""
    """How the definition is written: ``ros2msg``, ``ros2idl``, ``ros1msg``, ``protobuf`` ..."""
    definition: bytes = b""
    """The type's definition; empty = the file has none."""
    is_latched: bool = False
    """Whether late subscribers get the last message again: it may be older than the recording."""


class Message(NamedTuple):
    """One message, not decoded."""

    channel: Channel
    log_ns: int
    """When the recorder got it."""
    publish_ns: int | None
    """When it was sent; None where the container does not say."""
    data: bytes
    place: Place


@dataclass(slots=True)
class Loss:
    """Stretches of files that can't be read for one reason."""

    where: str
    """File and byte of the first of them."""
    num_stretches: int = 0
    num_bytes: int = 0


@dataclass(slots=True)
class Seen:
    """Messages of one topic that are there, whether they are wanted or not."""

    first_ns: int
    """Earliest log time."""
    last_ns: int
    num_messages: int = 0


@dataclass(slots=True, kw_only=True)
class ReadLog:
    """What reading a recording came to."""

    seen: dict[str, Seen] = field(default_factory=dict)
    """By topic."""
    num_declared: Counter[str] = field(default_factory=Counter)
    """Messages that the files' own summaries promise, by topic; empty = they promise nothing."""
    losses: dict[str, Loss] = field(default_factory=dict)
    """By reason."""
    metadata: dict[str, str] = field(default_factory=dict)
    """What the files say of themselves besides messages."""
    ros_distro: str | None = None

    @property
    def num_read(self) -> int:
        """Messages that are there, of all topics."""
        return sum(seen.num_messages for seen in self.seen.values())

    def count(self, topic: str, log_ns: int) -> None:
        """Note a message that is there."""
        seen = self.seen.get(topic)
        if seen is None:
            seen = self.seen[topic] = Seen(log_ns, log_ns)
        seen.num_messages += 1
        if log_ns > seen.last_ns:
            seen.last_ns = log_ns
        elif log_ns < seen.first_ns:
            seen.first_ns = log_ns

    def lose(self, where: str, what: str, num_bytes: int) -> None:
        """Note a stretch that can't be read."""
        loss = self.losses.setdefault(what, Loss(where))
        loss.num_stretches += 1
        loss.num_bytes += num_bytes


IsWanted = Callable[[Channel], bool]


class Part(Protocol):
    """One open file of a recording."""

    def messages(self, is_wanted: IsWanted, log: ReadLog) -> Iterator[Message]:
        """Yield the messages of wanted channels in the order of the file; note what is lost."""

    def fetch(self, places: Int64Array) -> Iterator[bytes]:
        """Yield the payload at each of some places, (N, 3) int64, seen by ``messages`` before."""


_TRANSIENT_LOCAL = re.compile(r"durability:\s*(1|transient_local)\b")


def is_transient_local(qos_profiles: str) -> bool:
    """Return whether a ROS 2 topic is latched, from its offered quality of service as YAML."""
    return bool(_TRANSIENT_LOCAL.search(qos_profiles))
