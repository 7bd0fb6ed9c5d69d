"""The numbers of a message, however deep they lie in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from robot_data_platform.formats.ros.fields import is_time, members

_STAMPS = frozenset({"header", "timestamp"})
_LAYOUT, _DATA = "layout", "data"
"""Fields of std_msgs' arrays: the first describes the second."""


class TooManyNumbersError(ValueError):
    """A message holds more numbers than asked for."""


@dataclass(slots=True)
class Leaves:
    """All that one message holds, without names: cheap to take of every message."""

    max_numbers: int
    numbers: list[float] = field(default_factory=list)
    shape: list[object] = field(default_factory=list)
    """Lengths of arrays and keys of objects, in order: equal for messages of one layout."""
    texts: list[str] = field(default_factory=list)

    def take(self, value: object) -> None:
        """Add a value and everything in it.

        Raises
        ------
        TooManyNumbersError
            There are more numbers than ``max_numbers``.
        """
        if isinstance(value, int | float):
            self.numbers.append(value)
        elif isinstance(value, str):
            self.texts.append(value)
        elif isinstance(value, np.ndarray):
            self._take_length(len(value))
            self.numbers.extend(value.tolist())
        elif members(value):
            self._take_fields(value)
        elif isinstance(value, Sequence) and not isinstance(value, bytes):
            self._take_length(len(value))
            for item in value:
                self.take(item)

    def _take_fields(self, value: object) -> None:
        if is_time(value):
            return
        if isinstance(value, dict):
            self.shape.append(tuple(value))
        for _, item in members(value):
            self.take(item)

    def _take_length(self, length: int) -> None:
        if len(self.numbers) + length > self.max_numbers:
            raise TooManyNumbersError(f"over {self.max_numbers} numbers in a message")
        self.shape.append(length)


def leaves_of(message: object, max_numbers: int) -> Leaves:
    """Return what a message holds besides its time stamp.

    Raises
    ------
    TooManyNumbersError
        There are more numbers than ``max_numbers``.
    """
    leaves, fields = Leaves(max_numbers), content(message)
    if isinstance(message, dict):
        leaves.shape.append(tuple(name for name, _ in fields))
    for _, value in fields:
        leaves.take(value)
    return leaves


def content(message: object) -> list[tuple[str, object]]:
    """Return a message's fields without its time stamp, and without the layout of an array."""
    found = {name: value for name, value in members(message) if name not in _STAMPS}
    if found.keys() == {_LAYOUT, _DATA}:
        del found[_LAYOUT]
    return list(found.items())


def named_leaves(message: object) -> Iterator[tuple[str, object]]:
    """Yield the path and value of all that ``leaves_of`` takes, in its order, and what it doesn't.

    Not taken are times, bytes and null.
    """
    for name, value in content(message):
        yield from _named(name, value)


def _named(path: str, value: object) -> Iterator[tuple[str, object]]:
    if isinstance(value, np.ndarray | Sequence) and not isinstance(value, str | bytes):
        for position, item in enumerate(value):
            yield from _named(f"{path}[{position}]", item)
        return
    inner = [] if is_time(value) else members(value)
    for name, item in inner:
        yield from _named(f"{path}.{name}", item)
    if not inner:
        yield path, value
