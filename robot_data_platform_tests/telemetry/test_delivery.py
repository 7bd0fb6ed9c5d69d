"""Alerts that real servers take, refuse, or never answer."""

from __future__ import annotations

import logging
import socket
import ssl
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from robot_data_platform.errors import ErrorKind, InvalidInputError
from robot_data_platform.telemetry import alert_settings, delivery, webhook
from robot_data_platform.telemetry.alert import MAX_MESSAGE_CHARS, Alert
from robot_data_platform.telemetry.alert_settings import alert_channels, run_url
from robot_data_platform.telemetry.delivery import MAX_ATTEMPTS, deliver
from robot_data_platform_tests.telemetry.receivers import mail_server, webhook_server

ALERT = Alert(
    event="run-failed",
    message="Source 'x' has no known format.",
    occurred_ns=1_767_225_600_000_000_000,
    job="ingest_upload",
    dataset="pick",
    upload="20260101t000000z-pick-0000",
    asset="raw_episodes",
    error_kind="unknown-format",
    run_id="r-1",
    run_url="http://dagster.example/runs/r-1",
)


def send(alert: Alert = ALERT) -> tuple[dict[str, bool], list[float]]:
    """Deliver an alert without waiting; return who took it, and the pauses between tries."""
    pauses: list[float] = []
    return deliver(alert, alert_channels(), pause=pauses.append), pauses


def test_the_webhook_gets_the_documented_object(monkeypatch: pytest.MonkeyPatch) -> None:
    with webhook_server() as server:
        monkeypatch.setenv("RDP_ALERT_WEBHOOK_URL", server.url)
        assert send() == ({"webhook": True}, [])
    assert server.received == [
        {
            "text": "run-failed in raw_episodes (unknown-format): dataset pick upload "
            "20260101t000000z-pick-0000\nSource 'x' has no known format.\n"
            "http://dagster.example/runs/r-1",
            "event": "run-failed",
            "message": "Source 'x' has no known format.",
            "job": "ingest_upload",
            "dataset": "pick",
            "upload": "20260101t000000z-pick-0000",
            "asset": "raw_episodes",
            "error_kind": "unknown-format",
            "run_id": "r-1",
            "run_url": "http://dagster.example/runs/r-1",
            "occurred_at": "2026-01-01T00:00:00+00:00",
        }
    ]


def test_no_name_in_a_message_mentions_anybody_in_a_chat(monkeypatch: pytest.MonkeyPatch) -> None:
    with webhook_server() as server:
        monkeypatch.setenv("RDP_ALERT_WEBHOOK_URL", server.url)
        send(replace(ALERT, message="file '<!channel>' & co"))
    (told,) = server.received
    assert "<" not in told["text"]
    assert told["message"] == "file '<!channel>' & co"


def test_a_long_message_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    with webhook_server() as server:
        monkeypatch.setenv("RDP_ALERT_WEBHOOK_URL", server.url)
        send(replace(ALERT, message="x" * 100_000))
    assert len(server.received[0]["message"]) == MAX_MESSAGE_CHARS


@pytest.mark.parametrize("status", [500, 503, 429])
def test_what_may_pass_is_tried_again(monkeypatch: pytest.MonkeyPatch, status: int) -> None:
    with webhook_server([status, status]) as server:
        monkeypatch.setenv("RDP_ALERT_WEBHOOK_URL", server.url)
        assert send() == ({"webhook": True}, [1.0, 2.0])


@pytest.mark.parametrize("status", [400, 404, 302])
def test_what_stays_is_tried_once(monkeypatch: pytest.MonkeyPatch, status: int) -> None:
    with webhook_server([status]) as server:
        monkeypatch.setenv("RDP_ALERT_WEBHOOK_URL", server.url)
        assert send() == ({"webhook": False}, [])
    assert len(server.received) == 1


def test_tries_are_bounded_and_the_last_failure_is_an_error_without_the_address(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with webhook_server([500] * 10) as server:
        monkeypatch.setenv("RDP_ALERT_WEBHOOK_URL", server.url)
        assert send()[0] == {"webhook": False}
    levels = [record.levelno for record in caplog.records]
    assert levels == [logging.WARNING] * (MAX_ATTEMPTS - 1) + [logging.ERROR]
    assert "very-secret-path" not in caplog.text


def test_a_silent_server_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhook, "TIMEOUT_S", 0.2)
    with webhook_server([0] * MAX_ATTEMPTS) as server:
        monkeypatch.setenv("RDP_ALERT_WEBHOOK_URL", server.url)
        assert send()[0] == {"webhook": False}
    assert len(server.received) == MAX_ATTEMPTS


def test_no_try_begins_after_the_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delivery, "BUDGET_S", -1.0)
    with webhook_server([500, 200]) as server:
        monkeypatch.setenv("RDP_ALERT_WEBHOOK_URL", server.url)
        assert send() == ({"webhook": False}, [])


def test_nobody_listening_is_a_failure_and_no_exception(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        monkeypatch.setenv("RDP_ALERT_WEBHOOK_URL", f"http://127.0.0.1:{port}/hook-of-the-lab")
        monkeypatch.setenv("RDP_ALERT_SMTP_HOST", "127.0.0.1")
        monkeypatch.setenv("RDP_ALERT_SMTP_PORT", str(port))
        monkeypatch.setenv("RDP_ALERT_EMAIL_TO", "lab@example.org")
        assert send()[0] == {"webhook": False, "e-mail": False}
    assert "hook-of-the-lab" not in caplog.text


def test_a_mail_says_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    with mail_server() as server:
        monkeypatch.setenv("RDP_ALERT_SMTP_HOST", "127.0.0.1")
        monkeypatch.setenv("RDP_ALERT_SMTP_PORT", str(server.port))
        monkeypatch.setenv("RDP_ALERT_SMTP_SECURITY", "none")
        monkeypatch.setenv("RDP_ALERT_EMAIL_TO", "lab@example.org, night@example.org")
        assert send() == ({"e-mail": True}, [])
    (mail,) = server.mails
    assert mail["Subject"] == (
        "[rdp] run-failed in raw_episodes (unknown-format): dataset pick upload "
        "20260101t000000z-pick-0000"
    )
    assert server.recipients == ["lab@example.org", "night@example.org"]
    assert mail.get_content().strip().splitlines()[1:] == [
        "Source 'x' has no known format.",
        "http://dagster.example/runs/r-1",
    ]


def test_a_mail_server_that_says_later_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    with mail_server(["451 later", "554 never"]) as server:
        monkeypatch.setenv("RDP_ALERT_SMTP_HOST", "127.0.0.1")
        monkeypatch.setenv("RDP_ALERT_SMTP_PORT", str(server.port))
        monkeypatch.setenv("RDP_ALERT_SMTP_SECURITY", "none")
        monkeypatch.setenv("RDP_ALERT_EMAIL_TO", "lab@example.org")
        assert send() == ({"e-mail": False}, [1.0])


def test_a_line_break_in_a_name_adds_no_header(monkeypatch: pytest.MonkeyPatch) -> None:
    with mail_server() as server:
        monkeypatch.setenv("RDP_ALERT_SMTP_HOST", "127.0.0.1")
        monkeypatch.setenv("RDP_ALERT_SMTP_PORT", str(server.port))
        monkeypatch.setenv("RDP_ALERT_SMTP_SECURITY", "none")
        monkeypatch.setenv("RDP_ALERT_EMAIL_TO", "lab@example.org")
        send(replace(ALERT, asset="frames\nBcc: all@example.org"))
    assert server.mails[0]["Bcc"] is None


def certificate(folder: Path) -> Path:
    """Make a certificate of 127.0.0.1 with its key, which signs itself."""
    path = folder / "server.pem"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"),
            *("-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"),
            *("-keyout", str(folder / "key.pem"), "-out", str(path)),
        ],
        check=True,
        capture_output=True,
    )
    return path


@pytest.mark.parametrize("is_trusted", [True, False])
def test_a_password_goes_only_to_a_server_whose_certificate_is_trusted(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, *, is_trusted: bool
) -> None:
    path = certificate(tmp_path)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(path, tmp_path / "key.pem")
    if is_trusted:
        monkeypatch.setenv("SSL_CERT_FILE", str(path))
    with mail_server(tls=context) as server:
        monkeypatch.setenv("RDP_ALERT_SMTP_HOST", "127.0.0.1")
        monkeypatch.setenv("RDP_ALERT_SMTP_PORT", str(server.port))
        monkeypatch.setenv("RDP_ALERT_SMTP_USER", "rdp")
        monkeypatch.setenv("RDP_ALERT_SMTP_PASSWORD", "mail-pass-word")
        monkeypatch.setenv("RDP_ALERT_EMAIL_TO", "lab@example.org")
        assert send() == ({"e-mail": is_trusted}, [])
    assert server.logins == ([("rdp", "mail-pass-word")] if is_trusted else [])


def test_who_has_the_alert_is_not_told_again(monkeypatch: pytest.MonkeyPatch) -> None:
    with webhook_server() as server:
        monkeypatch.setenv("RDP_ALERT_WEBHOOK_URL", server.url)
        assert deliver(ALERT, alert_channels(), {"webhook"}) == {}
    assert server.received == []


def test_without_settings_nobody_is_told() -> None:
    assert alert_channels() == []


@pytest.mark.parametrize(
    ("variables", "named"),
    [
        ({"RDP_ALERT_WEBHOOK_URL": "file:///etc/passwd"}, "RDP_ALERT_WEBHOOK_URL"),
        ({"RDP_ALERT_WEBHOOK_URL": "https:///no-host"}, "RDP_ALERT_WEBHOOK_URL"),
        ({"RDP_ALERT_SMTP_HOST": "mail"}, "RDP_ALERT_EMAIL_TO"),
        (
            {"RDP_ALERT_SMTP_HOST": "m", "RDP_ALERT_EMAIL_TO": "a@b.example\nBcc: c@d.example"},
            "RDP_ALERT_EMAIL_TO",
        ),
        (
            {"RDP_ALERT_SMTP_HOST": "mail", "RDP_ALERT_SMTP_PORT": "ssh"},
            "RDP_ALERT_SMTP_PORT",
        ),
        ({"RDP_ALERT_SMTP_HOST": "m", "RDP_ALERT_SMTP_SECURITY": "ssl"}, "RDP_ALERT_SMTP_SECURITY"),
        (
            {
                "RDP_ALERT_SMTP_HOST": "m",
                "RDP_ALERT_SMTP_SECURITY": "none",
                "RDP_ALERT_SMTP_USER": "rdp",
            },
            "RDP_ALERT_SMTP_SECURITY",
        ),
    ],
)
def test_a_setting_that_cannot_be_used_is_named(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], named: str
) -> None:
    if "RDP_ALERT_SMTP_PORT" in variables:
        monkeypatch.setenv("RDP_ALERT_EMAIL_TO", "lab@example.org")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(InvalidInputError, match=named) as caught:
        alert_channels()
    assert caught.value.kind is ErrorKind.INVALID_ARGUMENT
    assert "passwd" not in str(caught.value)


def test_nothing_secret_is_in_the_repr_of_a_channel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RDP_ALERT_WEBHOOK_URL", "https://chat.example/very-secret-path")
    monkeypatch.setenv("RDP_ALERT_SMTP_HOST", "mail")
    monkeypatch.setenv("RDP_ALERT_SMTP_PASSWORD", "mail-pass-word")
    monkeypatch.setenv("RDP_ALERT_EMAIL_TO", "lab@example.org")
    told = repr(alert_channels())
    assert ("secret" in told, "mail-pass-word" in told) == (False, False)


def test_a_runs_page_is_below_the_address_of_the_web_server(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert run_url("r-1") == ""
    monkeypatch.setenv(alert_settings.WEBSERVER_URL, "https://dagster.example/lab/")
    assert run_url("r-1") == "https://dagster.example/lab/runs/r-1"
