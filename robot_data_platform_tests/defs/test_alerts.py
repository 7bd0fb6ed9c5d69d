"""Sensors on a real instance whose runs fail: who is told, of what, and how often."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import dagster as dg
import pytest

from robot_data_platform.compute import checks
from robot_data_platform.compute.checks import CheckReport
from robot_data_platform.defs import runs
from robot_data_platform.defs.alerts import tell_of_failures, tell_of_quarantine
from robot_data_platform.defs.resources import Platform
from robot_data_platform.errors import DataFaultError, RobotDataError
from robot_data_platform.storage.landing import Landing, Manifest
from robot_data_platform.testing.rawlog import Draw, RawlogShape, write_rawlog
from robot_data_platform_tests.defs.conftest import Put
from robot_data_platform_tests.telemetry.receivers import WebhookServer, webhook_server
from robot_data_platform_tests.video.videos import write_video

UPLOAD = "20260101t000000z-pick-0000"


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[dg.DagsterInstance]:
    home = tmp_path / "dagster"
    home.mkdir()
    with dg.DagsterInstance.local_temp(str(home)) as instance:
        yield instance


@pytest.fixture
def hook(monkeypatch: pytest.MonkeyPatch) -> Iterator[WebhookServer]:
    with webhook_server() as server:
        monkeypatch.setenv("RDP_ALERT_WEBHOOK_URL", server.url)
        monkeypatch.setenv("RDP_WEBSERVER_URL", "http://dagster.example")
        yield server


@dataclass
class Ticker:
    """Evaluates a sensor as the daemon does, with the cursor of the tick before."""

    sensor: dg.SensorDefinition
    instance: dg.DagsterInstance
    platform: Platform
    cursors: list[str | None] = field(default_factory=lambda: [None])

    def tick(self) -> None:
        context = dg.build_sensor_context(
            instance=self.instance,
            cursor=self.cursors[-1],
            resources={"platform": self.platform},
        )
        data = self.sensor.evaluate_tick(context)
        assert [r for r in data.dagster_run_reactions or () if r.error] == []
        self.cursors.append(data.cursor)


MakeTicker = Callable[[dg.SensorDefinition], Ticker]


@pytest.fixture
def ticker(instance: dg.DagsterInstance, platform: Platform) -> MakeTicker:
    """Return a sensor that was started before anything ran."""

    def start(sensor: dg.SensorDefinition) -> Ticker:
        ticker = Ticker(sensor, instance, platform)
        ticker.tick()
        return ticker

    return start


def ingest(instance: dg.DagsterInstance, platform: Platform, manifest: Manifest) -> str:
    """Ingest an upload, which may fail; return the run's id."""
    try:
        runs.ingest(instance, platform, manifest)
    except RobotDataError as err:
        return str(err.facts["run_id"])
    return instance.get_runs(limit=1)[0].run_id


def test_a_refused_upload_is_told_with_its_kind_asset_and_page(
    instance: dg.DagsterInstance,
    platform: Platform,
    put: Put,
    hook: WebhookServer,
    ticker: MakeTicker,
) -> None:
    sensor = ticker(tell_of_failures)
    run_id = ingest(instance, platform, put(UPLOAD))
    sensor.tick()
    (told,) = hook.received
    wanted = {
        "event": "run-failed",
        "job": "ingest_upload",
        "dataset": "pick",
        "upload": UPLOAD,
        "asset": "raw_episodes",
        "error_kind": "unknown-format",
        "run_id": run_id,
        "run_url": f"http://dagster.example/runs/{run_id}",
    }
    assert {name: told[name] for name in wanted} == wanted
    assert "no known format" in told["message"]


def test_a_failure_is_told_once_even_where_the_cursor_was_lost(
    instance: dg.DagsterInstance,
    platform: Platform,
    put: Put,
    hook: WebhookServer,
    ticker: MakeTicker,
) -> None:
    sensor = ticker(tell_of_failures)
    ingest(instance, platform, put(UPLOAD))
    sensor.tick()
    sensor.tick()
    sensor.cursors.append(sensor.cursors[1])
    sensor.tick()
    assert len(hook.received) == 1


def test_an_alert_that_nobody_takes_neither_fails_the_sensor_nor_repeats(
    instance: dg.DagsterInstance,
    platform: Platform,
    put: Put,
    hook: WebhookServer,
    ticker: MakeTicker,
) -> None:
    sensor = ticker(tell_of_failures)
    hook.answers += [404, 200]
    ingest(instance, platform, put(UPLOAD))
    sensor.tick()
    sensor.tick()
    assert len(hook.received) == 1


def test_a_wrong_setting_fails_no_tick(
    instance: dg.DagsterInstance,
    platform: Platform,
    put: Put,
    ticker: MakeTicker,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("RDP_ALERT_WEBHOOK_URL", "ftp://chat.example/secret")
    sensor = ticker(tell_of_failures)
    ingest(instance, platform, put(UPLOAD))
    sensor.tick()


def test_a_run_that_dagster_starts_again_is_not_told_of(
    instance: dg.DagsterInstance,
    platform: Platform,
    put: Put,
    hook: WebhookServer,
    ticker: MakeTicker,
) -> None:
    sensor = ticker(tell_of_failures)
    run_id = ingest(instance, platform, put(UPLOAD))
    instance.add_run_tags(run_id, {"dagster/will_retry": "true"})
    sensor.tick()
    assert hook.received == []


def test_a_dead_run_that_is_requested_no_more_is_told_of_though_dagster_means_to_retry_it(
    instance: dg.DagsterInstance,
    platform: Platform,
    put: Put,
    hook: WebhookServer,
    ticker: MakeTicker,
) -> None:
    sensor = ticker(tell_of_failures)
    run_id = ingest(instance, platform, put(UPLOAD))
    instance.add_run_tags(run_id, {"dagster/will_retry": "true", "rdp/attempt": "3"})
    sensor.tick()
    assert len(hook.received) == 1


def _video(path: Path, num_frames: int, draw: Draw) -> Path:
    return write_video(path, num_frames, picture=draw)


def put_recording(platform: Platform, folder: Path, shape: RawlogShape) -> Manifest:
    """Put a recording into the landing folder."""
    write_rawlog(folder, shape, _video)
    return Landing(platform.landing).put(folder, "pick", UPLOAD)


def test_a_run_whose_process_died_is_told_without_a_kind(
    instance: dg.DagsterInstance, hook: WebhookServer, ticker: MakeTicker
) -> None:
    sensor = ticker(tell_of_failures)
    run = dg.DagsterRun(job_name="maintenance")
    instance.add_run(run)
    instance.report_run_failed(run, "Run process has unexpectedly exited.")
    sensor.tick()
    (told,) = hook.received
    assert (told["error_kind"], told["asset"]) == ("", "")
    assert "unexpectedly exited" in told["message"]


def out_of_order(*, is_passed: bool, message: str, numbers: dict[str, int]) -> CheckReport:
    """Return what the check of the rows' order says, as if they were not in order."""
    is_wanted = message.endswith("out of order")
    return CheckReport(is_passed=is_passed and not is_wanted, message=message, numbers=numbers)


def test_a_blocking_check_that_fails_is_told_with_what_it_says(
    instance: dg.DagsterInstance,
    platform: Platform,
    tmp_path: Path,
    hook: WebhookServer,
    ticker: MakeTicker,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sensor = ticker(tell_of_failures)
    shape = RawlogShape(num_episodes=1, num_rows=6, cameras=())
    manifest = put_recording(platform, tmp_path / "pick", shape)
    monkeypatch.setattr(checks, "CheckReport", out_of_order)
    with pytest.raises(DataFaultError):
        runs.ingest(instance, platform, manifest)
    sensor.tick()
    (told,) = hook.received
    assert (told["asset"], told["error_kind"]) == ("frames", "check-failed")
    assert "Check frames_are_contiguous" in told["message"]


def test_episodes_in_quarantine_are_told_once_with_their_reasons(
    instance: dg.DagsterInstance,
    platform: Platform,
    tmp_path: Path,
    hook: WebhookServer,
    ticker: MakeTicker,
) -> None:
    sensor = ticker(tell_of_quarantine)
    shape = RawlogShape(num_episodes=2, num_rows=6, cameras=("env",), faults={0: "truncated_video"})
    manifest = put_recording(platform, tmp_path / "pick", shape)
    ingest(instance, platform, manifest)
    ingest(instance, platform, manifest)
    sensor.tick()
    (told,) = hook.received
    assert (told["event"], told["upload"]) == ("episodes-quarantined", UPLOAD)
    assert told["error_kind"] == "video-unreadable"
    assert told["message"].startswith("1 episodes are in quarantine")
