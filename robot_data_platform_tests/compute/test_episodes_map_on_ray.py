from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from contextvars import Context
from dataclasses import replace
from pathlib import Path

import pytest

from robot_data_platform.compute.episodes_map import Fanout, Outcome, map_episodes
from robot_data_platform.errors import ErrorKind, StorageError
from robot_data_platform.storage.lake import Lake
from robot_data_platform.telemetry.log_facts import log_facts
from robot_data_platform.testing.rawlog import RawlogShape
from robot_data_platform_tests.compute.items import (
    items,
    squared_or_data_fault,
    squared_or_killed,
    squared_or_store_error,
)
from robot_data_platform_tests.compute.uploads import (
    assert_holds,
    ingest,
    land,
    published,
    workplace,
)
from robot_data_platform_tests.servers import require
from robot_data_platform_tests.telemetry.talking import talk

RAY = Fanout(backend="ray", num_workers=2, pause_s=0)
ALWAYS = 1_000_000


@pytest.fixture(scope="module", autouse=True)
def _cluster() -> Iterator[None]:
    """End the cluster that the first test makes ``map_episodes`` start."""
    require(importlib.util.find_spec("ray"), "Ray (package ray)")
    import ray

    yield
    ray.shutdown()


def test_outcomes_and_progress_are_those_of_local_processes(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    work = items(tmp_path, 6, at_1=ALWAYS)
    outcomes = map_episodes(squared_or_data_fault, work, RAY, lambda *counts: told.append(counts))
    assert [outcome.value for outcome in outcomes] == [0, None, 4, 9, 16, 25]
    assert outcomes[1].error is not None
    assert outcomes[1].error.kind == ErrorKind.UNREADABLE_FILE
    assert told == [(done, 6) for done in range(1, 7)]


def test_a_failing_store_ends_the_whole_with_its_error(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="Item 1 met a failing store") as caught:
        map_episodes(squared_or_store_error, items(tmp_path, 2, at_1=ALWAYS), RAY)
    assert (caught.value.kind, caught.value.facts) == (ErrorKind.STORE_FAILED, {"item": 1})


def test_items_whose_workers_died_once_are_tried_again(tmp_path: Path) -> None:
    outcomes = map_episodes(squared_or_killed, items(tmp_path, 3, at_0=1, at_2=1), RAY)
    assert [outcome.value for outcome in outcomes] == [0, 1, 4]


def test_an_item_that_always_kills_its_worker_is_named(tmp_path: Path) -> None:
    fanout = replace(RAY, max_attempts=2)
    with pytest.raises(StorageError, match=r"Items \[1\].*worker died 2 times") as caught:
        map_episodes(squared_or_killed, items(tmp_path, 2, at_1=ALWAYS), fanout)
    assert caught.value.kind == ErrorKind.WORKER_DIED


def test_an_ingestion_writes_what_it_writes_in_local_processes(tmp_path: Path) -> None:
    shape = RawlogShape(num_rows=16, faults={1: "truncated_video"})
    local = workplace(tmp_path)
    spread = replace(local, lake_root=str(tmp_path / "lake-of-ray"))
    episodes = land(local, "robot", "u1", shape)
    ingest(local, "u1")
    ingest(spread, "u1", RAY)
    assert published(spread, "robot", "u1") == published(local, "robot", "u1")
    assert gop_hashes(spread.lake) == gop_hashes(local.lake)
    assert_holds(spread, "robot", "u1", [e for e in episodes if e.fault is None])


def gop_hashes(lake: Lake) -> dict[int, str]:
    gops = lake.open("robot", "gops").read(["gop_key", "sha256"])
    return dict(zip(gops["gop_key"].to_pylist(), gops["sha256"].to_pylist(), strict=True))


def test_workers_log_with_the_facts_of_the_run() -> None:
    facts = {"run_id": "r-1", "upload": "u-1"}

    def work() -> list[Outcome[tuple[dict[str, str], bool]]]:
        with log_facts(**facts):
            return map_episodes(talk, [0, 1], RAY)

    outcomes = Context().run(work)  # where no other run's facts hold
    assert [outcome.result() for outcome in outcomes] == [(facts, True)] * 2
