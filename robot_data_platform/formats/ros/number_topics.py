"""Topics whose messages are a fixed set of numbers: poses, wrenches, and types of one's own."""

from __future__ import annotations

from array import array
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from robot_data_platform.formats.ros.leaves import Leaves, content, leaves_of, named_leaves
from robot_data_platform.formats.ros.samples import Samples

AUTO_WIDTH = 256
"""Most numbers per message of a topic that the profile does not name: longer ones are scans, maps
and clouds."""
MAX_WIDTH = 1 << 16
"""Most numbers per message of any topic."""
MAX_TEXT = 4096
"""Longest text that is kept as metadata."""


class NotASignalError(ValueError):
    """Why a topic's messages are no signal."""


class NumberTopic:
    """The numbers of a topic's messages, gathered.

    Parameters
    ----------
    max_width : int
        Most numbers per message.
    """

    def __init__(self, max_width: int) -> None:
        self._max_width = max_width
        self._first: Leaves | None = None
        self._numbers = array("d")
        self._names: tuple[str, ...] = ()
        self._integer_columns: tuple[int, ...] = ()
        self._text_names: tuple[str, ...] = ()
        self._other_names: tuple[str, ...] = ()
        self._is_unnamed = False
        self._has_changing_text = False

    def add(self, message: object) -> None:
        """Add the next message.

        Raises
        ------
        TooManyNumbersError
            It has more than ``max_width`` numbers.
        NotASignalError
            It has other numbers than the first one, or that one has none.
        """
        leaves = leaves_of(message, self._max_width)
        numbers = array("d", leaves.numbers)
        first = self._first
        if first is None:
            self._start(message, leaves)
        elif leaves.shape != first.shape or len(leaves.numbers) != len(first.numbers):
            number = len(self._numbers) // len(first.numbers)
            raise NotASignalError(
                f"message {number} has {len(leaves.numbers)} numbers, in another layout than the "
                f"{len(first.numbers)} of message 0"
            )
        else:
            self._has_changing_text |= leaves.texts != first.texts
        self._numbers += numbers

    def samples(self) -> Iterator[Samples]:
        """Yield the vectors, one per message."""
        if self._names:
            values = self._values()
            yield Samples(
                suffix="",
                index=np.arange(len(values), dtype=np.int64),
                values=values,
                names=None if self._is_unnamed else self._names,
            )

    @property
    def constants(self) -> dict[str, str]:
        """Short texts that are the same in every message, by field."""
        if self._first is None or self._has_changing_text:
            return {}
        named = zip(self._text_names, self._first.texts, strict=True)
        return {name: text for name, text in named if 0 < len(text) <= MAX_TEXT}

    @property
    def fields_left_out(self) -> tuple[str, ...]:
        """Fields that are neither numbers nor constant texts: times, bytes, changing texts."""
        return (*self._other_names, *(self._text_names if self._has_changing_text else ()))

    @property
    def rounded_integers(self) -> tuple[str, ...]:
        """Fields of integers that float32 can't all hold."""
        values = self._values()
        exact = np.array_equal
        return tuple(
            self._names[c]
            for c in self._integer_columns
            if not exact(values[:, c], values[:, c].astype(np.float32))
        )

    def _values(self) -> npt.NDArray[np.float64]:
        return np.frombuffer(self._numbers, dtype=np.float64).reshape(-1, len(self._names))

    def _start(self, message: object, leaves: Leaves) -> None:
        if not leaves.numbers:
            raise NotASignalError("its messages hold no number")
        named = list(named_leaves(message))
        numbers = [(name, value) for name, value in named if isinstance(value, _NUMBERS)]
        self._first = leaves
        self._names = tuple(name for name, _ in numbers)
        self._integer_columns = tuple(
            position for position, (_, value) in enumerate(numbers) if isinstance(value, _INTEGERS)
        )
        self._text_names = tuple(name for name, value in named if isinstance(value, str))
        taken = {*self._names, *self._text_names}
        self._other_names = tuple(name for name, _ in named if name not in taken)
        fields = content(message)
        self._is_unnamed = len(fields) == 1 and self._names[0] == f"{fields[0][0]}[0]"


_INTEGERS = (int, np.integer)
_NUMBERS = (int, float, np.number, np.bool_)
