"""The upload sensor: each content once, whatever the order of arrival, restarts and corrections."""

from __future__ import annotations

from pathlib import Path

import dagster as dg
import pytest

from robot_data_platform.defs.graph import build_definitions
from robot_data_platform.defs.ingest.sensors import PER_TICK, SWEEP, WINDOW, new_uploads
from robot_data_platform.defs.resources import Platform
from robot_data_platform_tests.defs.conftest import Put


class Daemon:
    """Ticks the sensor as the daemon does: a run is made for each new run key, once."""

    def __init__(self, instance: dg.DagsterInstance, platform: Platform) -> None:
        self.instance = instance
        self.platform = platform
        self.cursor: str | None = None
        self.keys: set[str] = set()

    def tick(self) -> list[str]:
        """Return the uploads that this tick starts a run for."""
        context = dg.build_sensor_context(
            instance=self.instance,
            cursor=self.cursor,
            resources={"platform": self.platform},
            definitions=build_definitions(self.platform),
        )
        result = new_uploads(context)
        assert isinstance(result, dg.SensorResult)
        self.cursor = result.cursor
        new = [r for r in result.run_requests or () if r.run_key not in self.keys]
        self.keys |= {str(r.run_key) for r in new}
        return [str(r.partition_key) for r in new]

    def ticks(self, number: int) -> list[str]:
        """Return what several ticks start."""
        return [upload for _ in range(number) for upload in self.tick()]


@pytest.fixture
def daemon(instance: dg.DagsterInstance, platform: Platform) -> Daemon:
    return Daemon(instance, platform)


def name(number: int) -> str:
    return f"20260101t{number:06d}z-pick-0000"


def test_an_empty_landing_folder_starts_nothing(daemon: Daemon) -> None:
    assert daemon.tick() == []


def test_an_upload_starts_one_run(daemon: Daemon, put: Put) -> None:
    put(name(1))
    assert daemon.ticks(3) == [name(1)]


def test_a_marker_that_arrives_late_is_seen(daemon: Daemon, put: Put) -> None:
    put(name(5))
    daemon.tick()
    put(name(2))
    assert daemon.tick() == [name(2)]


def test_a_marker_older_than_the_whole_window_is_seen_in_the_end(daemon: Daemon, put: Put) -> None:
    for number in range(100, 100 + WINDOW + 5):
        put(name(number))
    daemon.ticks(4)
    put(name(1))
    assert daemon.ticks(2 + (WINDOW + 6) // SWEEP) == [name(1)]


def test_a_corrected_upload_runs_again(daemon: Daemon, put: Put, platform: Platform) -> None:
    put(name(1), "before")
    daemon.tick()
    marker = Path(platform.landing) / "_uploads" / f"{name(1)}.json"
    marker.write_bytes(marker.read_bytes().replace(b'"format": null', b'"format": "rawlog"'))
    assert daemon.tick() == [name(1)]


def test_a_lost_cursor_starts_nothing_again(daemon: Daemon, put: Put) -> None:
    put(name(1))
    daemon.tick()
    daemon.cursor = None
    assert daemon.tick() == []


def test_a_tick_starts_a_bounded_number_of_runs_and_the_next_goes_on(
    daemon: Daemon, put: Put
) -> None:
    uploads = [put(name(number)).upload for number in range(PER_TICK + 3)]
    first = daemon.tick()
    assert (len(first) <= PER_TICK + SWEEP, sorted(first + daemon.ticks(3))) == (True, uploads)


def test_a_marker_that_is_no_json_holds_up_no_other(
    daemon: Daemon, put: Put, platform: Platform
) -> None:
    put(name(2))
    (Path(platform.landing) / "_uploads" / f"{name(1)}.json").write_text("{")
    assert daemon.ticks(2) == [name(2)]


def test_the_dataset_of_an_upload_becomes_a_partition_too(daemon: Daemon, put: Put) -> None:
    put(name(1), dataset="fold")
    context = dg.build_sensor_context(
        instance=daemon.instance,
        resources={"platform": daemon.platform},
        definitions=build_definitions(daemon.platform),
    )
    result = new_uploads(context)
    assert isinstance(result, dg.SensorResult)
    added = {
        r.partitions_def_name: list(r.partition_keys)
        for r in result.dynamic_partitions_requests or ()
    }
    assert added == {"uploads": [name(1)], "datasets": ["fold"]}
