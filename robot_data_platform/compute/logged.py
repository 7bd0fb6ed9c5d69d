"""A function of workers that logs as the run does which it works for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from robot_data_platform.telemetry.log_facts import adopt_facts, current_facts
from robot_data_platform.telemetry.logs import configure_logging

Item = TypeVar("Item")
Value = TypeVar("Value")


@dataclass(frozen=True)
class Logged(Generic[Item, Value]):
    """A picklable function that first configures the logs of whichever process it runs in."""

    function: Callable[[Item], Value]
    facts: Mapping[str, str] = field(default_factory=current_facts)
    """Taken where the work is given out; they hold on, for what is logged of a failure."""

    def __call__(self, item: Item) -> Value:
        """Return ``function(item)``."""
        configure_logging()
        adopt_facts(self.facts)
        return self.function(item)
