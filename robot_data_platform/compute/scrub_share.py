"""Which GOPs a night's scrub looks at: all, none, or one part of several in turn."""

from __future__ import annotations

import re
from dataclasses import dataclass

from robot_data_platform.errors import ErrorKind, InvalidInputError

_PART = re.compile(r"1/([1-9][0-9]{0,3})")
DAY_NS = 86_400 * 10**9


@dataclass(frozen=True, slots=True)
class ScrubShare:
    """One of ``num_parts`` parts of all GOPs; the part follows the day."""

    num_parts: int
    """1 = all of them; 0 = none."""

    def part_at(self, time_ns: int) -> int:
        """Return which part a run at that time looks at: in ``num_parts`` days, each once."""
        return time_ns // DAY_NS % max(self.num_parts, 1)

    def __str__(self) -> str:
        """Return it as `parse_share` takes it."""
        return {0: "none", 1: "all"}.get(self.num_parts, f"1/{self.num_parts}")


ALL, NONE = ScrubShare(1), ScrubShare(0)


def parse_share(text: str) -> ScrubShare:
    """Return the share that ``all``, ``none`` or ``1/7`` says.

    Raises
    ------
    InvalidInputError
        ``invalid-argument``.
    """
    part = _PART.fullmatch(text)
    if text in ("all", "none"):
        return ALL if text == "all" else NONE
    if part is None:
        raise InvalidInputError(
            f"Scrub share {text!r} is not known: expected all, none, or 1/N with N from 1 to "
            "9999. Correct --scrub.",
            kind=ErrorKind.INVALID_ARGUMENT,
            scrub=text,
        )
    return ScrubShare(int(part[1]))
