"""Servers that take alerts: one that speaks HTTP and one that speaks SMTP, on this machine."""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session

from robot_data_platform_tests.servers import free_ports


@dataclass
class WebhookServer:
    """What was POSTed so far, and what the next requests are answered."""

    url: str = ""
    received: list[dict[str, Any]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    answers: list[int] = field(default_factory=list)
    """Status of each next answer; 200 when it is empty, and silence for 0."""


@contextmanager
def webhook_server(answers: Sequence[int] = ()) -> Iterator[WebhookServer]:
    """Run a server that writes down each request."""
    state = WebhookServer(answers=list(answers))
    released = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            state.received.append(json.loads(body))
            state.paths.append(self.path)
            status = state.answers.pop(0) if state.answers else 200
            if status == 0:
                released.wait(60)
                return
            self.send_response(status)
            if 300 <= status < 400:
                self.send_header("Location", "/elsewhere")
            self.send_header("Content-Length", "0")
            self.end_headers()

        do_GET = do_POST  # noqa: N815

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        state.url = f"http://127.0.0.1:{server.server_port}/services/T000/very-secret-path"
        try:
            yield state
        finally:
            released.set()
            server.shutdown()
            thread.join()


@dataclass
class MailServer:
    """The mails that a server took."""

    port: int = 0
    mails: list[EmailMessage] = field(default_factory=list)
    recipients: list[str] = field(default_factory=list)
    logins: list[tuple[str, str]] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)
    """Answer to each next mail; it is taken when this is empty."""


class _Handler:
    def __init__(self, state: MailServer) -> None:
        self.state = state

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: N802
        if self.state.answers:
            return self.state.answers.pop(0)
        assert isinstance(envelope.content, bytes)
        self.state.mails.append(message_from_bytes(envelope.content, policy=default))
        self.state.recipients += envelope.rcpt_tos
        return "250 taken"


@contextmanager
def mail_server(
    answers: Sequence[str] = (), tls: ssl.SSLContext | None = None
) -> Iterator[MailServer]:
    """Run a mail server; with a TLS context it demands STARTTLS and a login."""
    (port,) = free_ports(1)
    state = MailServer(port=port, answers=list(answers))

    def authenticate(
        server: SMTP, session: Session, envelope: Envelope, mechanism: str, data: LoginPassword
    ) -> AuthResult:
        state.logins.append((data.login.decode(), data.password.decode()))
        return AuthResult(success=True)

    handler = _Handler(state)
    controller = (
        Controller(handler, hostname="127.0.0.1", port=port)
        if tls is None
        else Controller(
            handler,
            hostname="127.0.0.1",
            port=port,
            tls_context=tls,
            require_starttls=True,
            auth_required=True,
            authenticator=authenticate,
        )
    )
    controller.start()
    try:
        yield state
    finally:
        controller.stop()
