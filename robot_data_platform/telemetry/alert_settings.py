"""Who hears of failures: the ``RDP_ALERT_…`` variables, read at the moment of an alert."""

from __future__ import annotations

import os
from typing import cast, get_args
from urllib.parse import urlsplit

from robot_data_platform.errors import ErrorKind, InvalidInputError
from robot_data_platform.telemetry.channel import Channel
from robot_data_platform.telemetry.mail import Mail, Security
from robot_data_platform.telemetry.webhook import Webhook

WEBHOOK_URL = "RDP_ALERT_WEBHOOK_URL"
SMTP_HOST = "RDP_ALERT_SMTP_HOST"
SMTP_PORT = "RDP_ALERT_SMTP_PORT"
SMTP_SECURITY = "RDP_ALERT_SMTP_SECURITY"
SMTP_USER = "RDP_ALERT_SMTP_USER"
SMTP_PASSWORD = "RDP_ALERT_SMTP_PASSWORD"
EMAIL_FROM = "RDP_ALERT_EMAIL_FROM"
EMAIL_TO = "RDP_ALERT_EMAIL_TO"
WEBSERVER_URL = "RDP_WEBSERVER_URL"

PORT_BY_SECURITY = {"starttls": "587", "tls": "465", "none": "25"}


def alert_channels() -> list[Channel]:
    """Return the channels that are set; none are, unless somebody asks for them.

    Raises
    ------
    InvalidInputError
        ``invalid-argument``: a variable can't be used; the message never repeats a secret one.
    """
    channels: list[Channel] = []
    if _value(WEBHOOK_URL):
        channels.append(Webhook(url=_checked_url()))
    if _value(SMTP_HOST):
        channels.append(_mail())
    return channels


def run_url(run_id: str) -> str:
    """Return the address of a run's page, or an empty text where `RDP_WEBSERVER_URL` isn't set."""
    base = _value(WEBSERVER_URL).rstrip("/")
    return f"{base}/runs/{run_id}" if base else ""


def _mail() -> Mail:
    security = _value(SMTP_SECURITY) or "starttls"
    if security not in get_args(Security):
        raise _wrong(SMTP_SECURITY, repr(security), f"one of {sorted(get_args(Security))}")
    if security == "none" and _value(SMTP_USER):
        raise _wrong(SMTP_SECURITY, "'none' with a user", "starttls or tls for a password")
    recipients = tuple(filter(None, (part.strip() for part in _value(EMAIL_TO).split(","))))
    if not recipients or not all(map(_is_address, recipients)):
        raise _wrong(EMAIL_TO, repr(_value(EMAIL_TO)), "one address or several with commas")
    sender = _value(EMAIL_FROM) or recipients[0]
    if not _is_address(sender):
        raise _wrong(EMAIL_FROM, repr(sender), "an address")
    return Mail(
        host=_value(SMTP_HOST),
        port=_port(_value(SMTP_PORT) or PORT_BY_SECURITY[security]),
        security=cast("Security", security),
        sender=sender,
        recipients=recipients,
        user=_value(SMTP_USER),
        password=_value(SMTP_PASSWORD),
    )


def _checked_url() -> str:
    url = _value(WEBHOOK_URL)
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise _wrong(WEBHOOK_URL, "another address", "http://… or https://… with a host")
    return url


def _port(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) < 1 << 16:
        raise _wrong(SMTP_PORT, repr(text), "a number from 1 to 65535")
    return int(text)


def _is_address(text: str) -> bool:
    # A line break would begin another header.
    return "@" in text and text.isprintable()


def _value(variable: str) -> str:
    return os.environ.get(variable, "").strip()


def _wrong(variable: str, got: str, expected: str) -> InvalidInputError:
    return InvalidInputError(
        f"{variable} can't be used: got {got}, expected {expected}. Correct the variable where "
        "the daemon's code location is started.",
        kind=ErrorKind.INVALID_ARGUMENT,
        variable=variable,
    )
