"""Lines as text and as JSON: their facts, their order, and that nothing secret is in them."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from datetime import datetime
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robot_data_platform.compute.episodes_map import Fanout, map_episodes
from robot_data_platform.compute.process_pool import close_pool
from robot_data_platform.errors import ErrorKind, InvalidInputError
from robot_data_platform.telemetry.log_facts import adopt_facts, current_facts, log_facts
from robot_data_platform.telemetry.logs import ROOT, JsonLines, TextLines, configure_logging
from robot_data_platform.telemetry.secrets import redacted
from robot_data_platform_tests.telemetry.talking import talk

LOG = logging.getLogger(f"{ROOT}.somewhere")
SECRET = "wJalrXUtnFEMI/K7MDENG+bPx=RfiCYEXAMPLEKEY"


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    """Leave the logger as it was: other tests run in this process."""
    logger = logging.getLogger(ROOT)
    handlers, level = list(logger.handlers), logger.level
    with log_facts():
        adopt_facts({})
        yield
    logger.handlers[:] = handlers
    logger.setLevel(level)


def configure(patch: pytest.MonkeyPatch, form: str, level: str = "info") -> None:
    patch.setenv("RDP_LOG_FORMAT", form)
    patch.setenv("RDP_LOG_LEVEL", level)
    configure_logging()


def lines(capfd: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in capfd.readouterr().err.splitlines()]


def test_a_json_line_has_the_documented_keys(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    configure(monkeypatch, "json")
    with log_facts(run_id="r-1", upload="u-1", dataset="pick"):
        LOG.info("Episode %r is here.", "a", extra={"episode": "ep_1"})
    (line,) = lines(capfd)
    assert datetime.fromisoformat(line.pop("time")).utcoffset() is not None
    assert line == {
        "level": "INFO",
        "logger": "robot_data_platform.somewhere",
        "message": "Episode 'a' is here.",
        "run_id": "r-1",
        "dataset": "pick",
        "upload": "u-1",
        "episode": "ep_1",
    }


def test_a_text_line_has_its_facts_at_the_end(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    configure(monkeypatch, "text")
    with log_facts(run_id="r-1"):
        LOG.warning("Two\nlines.")
    said = capfd.readouterr().err
    assert said.endswith(" WARNING robot_data_platform.somewhere: Two lines. [run_id=r-1]\n")
    assert said.count("\n") == 1


def test_a_traceback_is_part_of_its_line(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    configure(monkeypatch, "json")
    try:
        dict[str, int]()["absent"]
    except KeyError:
        LOG.exception("It failed.")
    (line,) = lines(capfd)
    assert line["exception"].endswith("KeyError: 'absent'")


def test_less_than_the_level_is_not_told(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    configure(monkeypatch, "text", "ERROR")
    LOG.warning("unheard")
    assert capfd.readouterr().err == ""


def test_a_line_is_written_once_however_often_logs_are_configured(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    for form in ("text", "json", "json"):
        configure(monkeypatch, form)
    LOG.info("once")
    assert [line["message"] for line in lines(capfd)] == ["once"]


@pytest.mark.parametrize("variable", ["RDP_LOG_FORMAT", "RDP_LOG_LEVEL"])
def test_a_setting_that_is_not_known_is_refused(
    monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.setenv(variable, "loud")
    with pytest.raises(InvalidInputError, match=variable) as caught:
        configure_logging()
    assert caught.value.kind is ErrorKind.INVALID_ARGUMENT


def test_facts_end_with_their_block() -> None:
    with log_facts(run_id="r-1"), log_facts(upload="u-1", dataset=""):
        assert current_facts() == {"run_id": "r-1", "upload": "u-1"}
    assert current_facts() == {}


@pytest.mark.parametrize("num_workers", [1, 2])
def test_workers_log_with_the_facts_of_the_run(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], num_workers: int
) -> None:
    configure(monkeypatch, "json")
    close_pool()
    try:
        with log_facts(run_id="r-1", upload="u-1"):
            outcomes = map_episodes(talk, [0, 1, 2], Fanout(num_workers=num_workers))
    finally:
        close_pool()
    facts = {"run_id": "r-1", "upload": "u-1"}
    assert [outcome.result() for outcome in outcomes] == [(facts, True)] * 3
    told = sorted((line["message"], line["run_id"], line["upload"]) for line in lines(capfd))
    assert told == [(f"Item {n} is here.", "r-1", "u-1") for n in range(3)]


@pytest.mark.parametrize("formatter", [JsonLines(), TextLines()], ids=["json", "text"])
@given(text=st.text())
def test_no_line_holds_a_secret_whatever_surrounds_it(
    formatter: logging.Formatter, text: str
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
        patch.setenv("RDP_ALERT_SMTP_PASSWORD", 'with "quotes" \\ and ä')
        said = f'{text}{SECRET}{text}with "quotes" \\ and ä{text}{quote(SECRET, safe="")}'
        record = logging.LogRecord("n", logging.INFO, "f", 1, "%s", (said,), None)
        line = formatter.format(record)
    assert SECRET not in line
    assert "quotes" not in line
    assert quote(SECRET, safe="") not in line


def test_a_secret_in_a_traceback_is_hidden(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("RAY_AUTH_TOKEN", SECRET)
    configure(monkeypatch, "text")
    try:
        int(SECRET)
    except ValueError:
        LOG.exception("It failed.")
    said = capfd.readouterr().err
    assert (SECRET in said, "***" in said) == (False, True)


def test_short_values_and_paths_of_secrets_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    monkeypatch.setenv("AWS_WEB_IDENTITY_TOKEN_FILE", "/var/run/token-of-the-pod")
    assert redacted("test of /var/run/token-of-the-pod") == "test of /var/run/token-of-the-pod"
