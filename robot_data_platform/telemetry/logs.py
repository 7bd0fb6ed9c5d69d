"""One line per event on standard error, as text or as JSON, by ``RDP_LOG_FORMAT``."""

from __future__ import annotations

import json
import logging
import os
import sys
from datetime import UTC, datetime
from typing import TextIO

from robot_data_platform.errors import ErrorKind, InvalidInputError
from robot_data_platform.telemetry.log_facts import FACTS, current_facts
from robot_data_platform.telemetry.secrets import redacted

FORMAT = "RDP_LOG_FORMAT"
LEVEL = "RDP_LOG_LEVEL"
DEFAULT_LEVEL = "WARNING"
LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
ROOT = "robot_data_platform"
"""Logger whose children are configured; libraries' loggers are left alone."""


def configure_logging() -> None:
    """Send what this project logs in this process to standard error; call it as often as you like.

    Raises
    ------
    InvalidInputError
        ``invalid-argument``: ``RDP_LOG_FORMAT`` or ``RDP_LOG_LEVEL`` has another value.
    """
    name = os.environ.get(FORMAT) or "text"
    if name not in _FORMATTERS:
        raise _wrong(FORMAT, name, sorted(_FORMATTERS))
    level = (os.environ.get(LEVEL) or DEFAULT_LEVEL).upper()
    if level not in LEVELS:
        raise _wrong(LEVEL, level, LEVELS)
    logger = logging.getLogger(ROOT)
    logger.setLevel(level)
    handler = next((h for h in logger.handlers if isinstance(h, StandardError)), None)
    if handler is None:
        handler = StandardError()
        logger.addHandler(handler)
    handler.setFormatter(_FORMATTERS[name]())


def is_json() -> bool:
    """Return whether lines are JSON, so that nothing else may stand between them."""
    return os.environ.get(FORMAT) == "json"


class StandardError(logging.StreamHandler[TextIO]):
    """Writes to whatever is standard error at that moment, as Dagster and tests exchange it."""

    def __init__(self) -> None:
        logging.Handler.__init__(self)

    @property
    def stream(self) -> TextIO:  # type: ignore[override]
        """The stream of this moment."""
        return sys.stderr


class JsonLines(logging.Formatter):
    """A record as one JSON object on one line, without anything secret."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line; what no JSON can hold is told as its text."""
        line = {
            "time": _time_of(record),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            **_facts_of(record),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        # Texts before they are quoted: a secret may hold a character that JSON writes otherwise.
        return json.dumps({name: redacted(text) for name, text in line.items()})


class TextLines(logging.Formatter):
    """A record as one line for people, its facts at the end; a traceback follows on its own."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        facts = " ".join(f"{name}={text}" for name, text in _facts_of(record).items())
        message = " ".join(record.getMessage().splitlines())
        line = f"{_time_of(record)} {record.levelname} {record.name}: {message}"
        if facts:
            line += f" [{facts}]"
        if record.exc_info:
            line += f"\n{self.formatException(record.exc_info)}"
        return redacted(line)


_FORMATTERS: dict[str, type[logging.Formatter]] = {"json": JsonLines, "text": TextLines}


def _time_of(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")


def _facts_of(record: logging.LogRecord) -> dict[str, str]:
    """Return the facts of a record: those told with it win over those of the work around it."""
    told = {**current_facts(), **{n: v for n in FACTS if (v := record.__dict__.get(n))}}
    return {name: str(told[name]) for name in FACTS if name in told}


def _wrong(variable: str, got: str, expected: object) -> InvalidInputError:
    return InvalidInputError(
        f"{variable} can't be used: got {got!r}, expected one of {expected}. Correct the variable.",
        kind=ErrorKind.INVALID_ARGUMENT,
        variable=variable,
    )
