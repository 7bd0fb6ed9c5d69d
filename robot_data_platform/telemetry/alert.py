"""One thing that somebody has to hear of, and how it reads in JSON, in chat and in a mail."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Literal

from robot_data_platform.core.time_base import NS_PER_S
from robot_data_platform.telemetry.secrets import redacted

Event = Literal["run-failed", "episodes-quarantined", "test"]

MAX_MESSAGE_CHARS = 2000
"""Longer messages are cut: chat servers refuse long ones, and the run's page has all of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    """What happened, where, and where to read on. An empty text is not known or doesn't apply."""

    event: Event
    message: str
    occurred_ns: int
    job: str = ""
    dataset: str = ""
    upload: str = ""
    asset: str = ""
    error_kind: str = ""
    """An `ErrorKind`; empty where no error of this project is behind it: its process died."""
    run_id: str = ""
    run_url: str = ""

    def headline(self) -> str:
        """Return one line without the message."""
        subject = " ".join(
            f"{name} {value}"
            for name, value in (("dataset", self.dataset), ("upload", self.upload))
            if value
        )
        place = f" in {self.asset}" if self.asset else ""
        kind = f" ({self.error_kind})" if self.error_kind else ""
        return " ".join(f"{self.event}{place}{kind}: {subject or self.job or 'platform'}".split())

    def text(self) -> str:
        """Return everything as lines for a person."""
        lines = [self.headline(), shortened(self.message)]
        return "\n".join([*lines, self.run_url or f"run {self.run_id}"]).strip()

    def to_json(self) -> dict[str, object]:
        """Return the documented object: ``text`` for chat servers, the rest for programs."""
        facts: dict[str, object] = asdict(self)
        del facts["occurred_ns"]
        occurred = datetime.fromtimestamp(self.occurred_ns / NS_PER_S, UTC)
        return {
            "text": escaped(self.text()),
            **facts,
            "message": shortened(self.message),
            "occurred_at": occurred.isoformat(timespec="seconds"),
        }


def shortened(message: str) -> str:
    """Return a message without secrets, and cut where it is too long."""
    message = redacted(message)
    if len(message) <= MAX_MESSAGE_CHARS:
        return message
    return message[: MAX_MESSAGE_CHARS - 1] + "…"


def escaped(text: str) -> str:
    """Return text in which a chat server finds no mention: a file may be named ``<!channel>``."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
