"""Faults of many messages: how many, and what the first one was."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Faults:
    """Faults of one kind, however many there are."""

    first: str = ""
    """What is wrong with the first of them."""
    count: int = 0

    def add(self, what: str) -> None:
        """Note one more."""
        self.first = self.first or what
        self.count += 1
