"""How far a materialization is, told to whoever listens, and else to the run's log."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from robot_data_platform.defs.progress import listening, progress_of

if TYPE_CHECKING:
    import pytest

LOG = logging.getLogger("run")


def test_a_listener_hears_of_every_task_and_the_log_of_none(
    caplog: pytest.LogCaptureFixture,
) -> None:
    heard: list[tuple[str, int, int]] = []
    with listening(lambda *counts: heard.append(counts)), caplog.at_level("INFO"):
        tell = progress_of("frames", LOG)
        tell(1, 2)
        tell(2, 2)
    assert heard == [("frames", 1, 2), ("frames", 2, 2)]
    assert caplog.messages == []


def test_the_log_of_a_run_hears_of_it_at_most_so_often(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    now_s = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: now_s[0])
    tell = progress_of("frames", LOG)
    with caplog.at_level("INFO"):
        for done in range(1, 101):
            now_s[0] += 1
            tell(done, 100)
    assert caplog.messages == [
        "frames: 30 of 100 tasks done, about 70 s left",
        "frames: 60 of 100 tasks done, about 40 s left",
        "frames: 90 of 100 tasks done, about 10 s left",
    ]
