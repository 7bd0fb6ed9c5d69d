"""Alerts as plain mails over SMTP."""

from __future__ import annotations

import smtplib
import ssl
from contextlib import ExitStack
from dataclasses import dataclass, field
from email.message import EmailMessage
from email.utils import formatdate
from typing import Literal

from robot_data_platform.core.time_base import NS_PER_S
from robot_data_platform.telemetry.alert import Alert
from robot_data_platform.telemetry.channel import TIMEOUT_S, Refusal

Security = Literal["starttls", "tls", "none"]

PASSING_CODES = range(400, 500)
"""Answers of SMTP that say: later."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mail:
    """A mail server, and who hears of it."""

    host: str
    port: int
    security: Security
    sender: str
    recipients: tuple[str, ...]
    user: str = ""
    """Empty = the server takes mail without a login."""
    password: str = field(default="", repr=False)
    name: str = "e-mail"

    def send(self, alert: Alert) -> Refusal | None:
        """Hand a mail to the server; one recipient that it refuses is a refusal."""
        try:
            with ExitStack() as stack:
                refused = self._connect(stack).send_message(self._message(alert))
        except smtplib.SMTPResponseException as err:
            reason = f"{self.host} answered {err.smtp_code}"
            return Refusal(reason=reason, may_pass=err.smtp_code in PASSING_CODES)
        except smtplib.SMTPRecipientsRefused as err:
            return self._recipients_refused(len(err.recipients))
        except (smtplib.SMTPException, OSError, UnicodeError) as err:
            # A certificate that isn't trusted now won't be in a moment.
            may_pass = not isinstance(err, ssl.SSLError | smtplib.SMTPNotSupportedError)
            return Refusal(reason=f"{self.host}: {type(err).__name__}", may_pass=may_pass)
        return self._recipients_refused(len(refused)) if refused else None

    def _recipients_refused(self, num_refused: int) -> Refusal:
        reason = f"{self.host} refused {num_refused} of {len(self.recipients)} recipients"
        return Refusal(reason=reason, may_pass=False)

    def _connect(self, stack: ExitStack) -> smtplib.SMTP:
        server: smtplib.SMTP
        if self.security == "tls":
            context = ssl.create_default_context()
            server = smtplib.SMTP_SSL(self.host, self.port, timeout=TIMEOUT_S, context=context)
        else:
            server = smtplib.SMTP(self.host, self.port, timeout=TIMEOUT_S)
        stack.enter_context(server)
        if self.security == "starttls":
            server.starttls(context=ssl.create_default_context())
        if self.user:
            server.login(self.user, self.password)
        return server

    def _message(self, alert: Alert) -> EmailMessage:
        message = EmailMessage()
        message["Subject"] = f"[rdp] {alert.headline()}"
        message["From"] = self.sender
        message["To"] = ", ".join(self.recipients)
        message["Date"] = formatdate(alert.occurred_ns / NS_PER_S)
        message.set_content(alert.text())
        return message
