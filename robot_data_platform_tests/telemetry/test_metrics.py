"""Figures of lakes as a scrape gets them, beside what was worked out by hand."""

from __future__ import annotations

import os
import subprocess
import sys
import urllib.request
from collections.abc import Mapping
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from robot_data_platform.quality.rules import integrity
from robot_data_platform.storage.lake import Lake
from robot_data_platform.telemetry import metrics
from robot_data_platform.telemetry.episode_figures import GOP_RULES
from robot_data_platform.telemetry.metrics import LakeCollector
from robot_data_platform.telemetry.release_lag import upload_time_ns
from robot_data_platform_tests.telemetry.lakes import (
    FIRST,
    SECOND,
    THIRD,
    UPLOADED_NS,
    S,
    episode,
    known_lake,
    publish,
    release,
)

NOW_NS = UPLOADED_NS + 3600 * S

Labels = tuple[tuple[str, str], ...]


def parsed(text: str) -> dict[tuple[str, Labels], float]:
    """Return the samples of a scrape as Prometheus reads them."""
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def scraped(lake: Lake) -> dict[tuple[str, Labels], float]:
    registry = CollectorRegistry(auto_describe=False)
    registry.register(LakeCollector(lake, lambda: NOW_NS))
    return parsed(generate_latest(registry).decode())


def of(samples: Mapping[tuple[str, Labels], float], name: str, **labels: str) -> float:
    return samples[name, tuple(sorted({"dataset": "pick", **labels}.items()))]


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    return known_lake(tmp_path_factory.mktemp("known"))


@pytest.fixture(scope="module")
def samples(lake: Lake) -> dict[tuple[str, Labels], float]:
    return scraped(lake)


@pytest.mark.parametrize(
    ("name", "labels", "expected"),
    [
        ("rdp_episodes", {"status": "ok"}, 3),
        ("rdp_episodes", {"status": "flagged"}, 1),
        ("rdp_episodes", {"status": "quarantined"}, 1),
        ("rdp_quarantine_ratio", {}, 0.2),
        ("rdp_rows", {}, 40),
        ("rdp_frames", {"camera": "env"}, 20),
        ("rdp_recorded_seconds", {}, 8),
        ("rdp_findings", {"stage": "quality", "severity": "info"}, 1),
        ("rdp_findings", {"stage": "quality", "severity": "warn"}, 2),
        ("rdp_findings", {"stage": "quality", "severity": "fail"}, 3),
        ("rdp_findings", {"stage": "spatial", "severity": "warn"}, 4),
        ("rdp_damaged_gops", {"stage": "quality_results"}, 2),
        ("rdp_damaged_gops", {"stage": "scrub"}, 1),
        ("rdp_uploads", {}, 3),
        ("rdp_unpublished_uploads", {}, 1),
        # Uploaded at 0:10 and in no release at 1:00.
        ("rdp_oldest_waiting_upload_seconds", {}, 3000),
        ("rdp_last_release_timestamp_seconds", {}, UPLOADED_NS / S + 120),
        ("rdp_last_publish_timestamp_seconds", {}, UPLOADED_NS / S + 700),
        ("rdp_release_lag_seconds_count", {}, 1),
        ("rdp_release_lag_seconds_sum", {}, 120),
        ("rdp_release_lag_seconds_bucket", {"le": "60.0"}, 0),
        ("rdp_release_lag_seconds_bucket", {"le": "300.0"}, 1),
        ("rdp_release_lag_seconds_bucket", {"le": "+Inf"}, 1),
    ],
)
def test_a_figure_is_what_was_worked_out_by_hand(
    samples: Mapping[tuple[str, Labels], float],
    name: str,
    labels: dict[str, str],
    expected: float,
) -> None:
    assert of(samples, name, **labels) == pytest.approx(expected)


@pytest.mark.parametrize("table", ["episodes", "quality"])
def test_a_tables_bytes_are_those_of_its_files(
    lake: Lake, samples: Mapping[tuple[str, Labels], float], table: str
) -> None:
    folder = Path(lake.root) / "pick" / f"{table}.lance"
    on_disk = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    assert of(samples, "rdp_table_bytes", table=table) == on_disk
    assert of(samples, "rdp_table_version", table=table) == lake.open("pick", table).version


def test_a_lake_without_datasets_is_up_and_says_no_more(tmp_path: Path) -> None:
    assert scraped(Lake(tmp_path)) == {("rdp_lake_up", ()): 1}


def test_a_lake_that_cannot_be_read_is_down(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key-that-no-log-may-show")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret-that-no-log-may-show")
    assert scraped(Lake("s3://nowhere/lake")) == {("rdp_lake_up", ()): 0}
    assert "that-no-log-may-show" not in caplog.text


def test_an_upload_that_was_released_waits_no_more(tmp_path: Path) -> None:
    lake = known_lake(tmp_path)
    release(lake, "r2", lake.open("pick", "episodes").version, UPLOADED_NS + 1200 * S)
    samples = scraped(lake)
    assert of(samples, "rdp_oldest_waiting_upload_seconds") == 0
    assert of(samples, "rdp_release_lag_seconds_sum") == 120 + 600


def test_an_upload_with_nothing_to_release_does_not_wait(tmp_path: Path) -> None:
    lake = known_lake(tmp_path)
    release(lake, "r2", lake.open("pick", "episodes").version, UPLOADED_NS + 1200 * S)
    publish(lake, THIRD, [episode(5, THIRD, "quarantined")], UPLOADED_NS + 1300 * S)
    assert of(scraped(lake), "rdp_oldest_waiting_upload_seconds") == 0


def test_a_corrected_upload_waits_from_its_correction_on(tmp_path: Path) -> None:
    lake = known_lake(tmp_path)
    release(lake, "r2", lake.open("pick", "episodes").version, UPLOADED_NS + 1200 * S)
    publish(lake, FIRST, [episode(6, FIRST, "ok")], UPLOADED_NS + 1800 * S)
    assert of(scraped(lake), "rdp_oldest_waiting_upload_seconds") == 1800


@pytest.mark.parametrize(
    ("upload", "expected_ns"),
    [(SECOND, UPLOADED_NS + 600 * S), ("monday", 5), ("20261399t000000z-pick-0000", 5)],
)
def test_an_upload_without_a_time_in_its_id_counts_from_its_registration(
    upload: str, expected_ns: int
) -> None:
    assert upload_time_ns(upload, 5) == expected_ns


def test_a_lake_that_did_not_change_is_not_read_again(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    collector = LakeCollector(lake, lambda: NOW_NS)
    before = [metric.samples for metric in collector.collect()]
    monkeypatch.setattr(metrics, "episode_figures", None)
    assert [metric.samples for metric in collector.collect()] == before


def test_the_rules_that_count_damage_are_rules() -> None:
    assert [name for name in GOP_RULES if not hasattr(integrity, name)] == []


def test_the_command_prints_and_serves_the_same(lake: Lake) -> None:
    program = "from robot_data_platform.cli.main import main; main()"
    rdp = [sys.executable, "-c", program, "metrics", "--lake", lake.root]
    environment = {k: v for k, v in os.environ.items() if not k.startswith("RDP_")}
    printed = subprocess.run(rdp, env=environment, capture_output=True, text=True, check=True)
    with subprocess.Popen(
        [*rdp, "--serve", "0"], env=environment, stderr=subprocess.PIPE, text=True
    ) as server:
        assert server.stderr is not None
        try:
            # Libraries may warn before.
            line = next(line for line in server.stderr if line.startswith("Serving"))
            with urllib.request.urlopen(line.split()[-1], timeout=60) as answer:
                served = parsed(answer.read().decode())
        finally:
            server.kill()
    changing = "rdp_oldest_waiting_upload_seconds"
    first = {k: v for k, v in parsed(printed.stdout).items() if k[0] != changing}
    assert first == {k: v for k, v in served.items() if k[0] != changing}
    assert of(first, "rdp_rows") == 40
