"""Ways out of the platform that an alert may take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from robot_data_platform.telemetry.alert import Alert

TIMEOUT_S = 5
"""How long the other side may be silent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Why a channel did not take an alert, without anything secret."""

    reason: str
    may_pass: bool
    """Whether the same may succeed a moment later."""


class Channel(Protocol):
    """Something that takes alerts."""

    @property
    def name(self) -> str:
        """One word for logs."""

    def send(self, alert: Alert) -> Refusal | None:
        """Try once; return None where the other side took it. Nothing is raised for a failure."""
