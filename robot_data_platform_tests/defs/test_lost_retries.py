"""Runs that died, and whose retry Dagster lost, are requested again, once each."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import cast

import dagster as dg
import pytest
from dagster._core.events import (  # noqa: TID251 (not public)
    JobFailureData,
    RunFailureReason,
)
from dagster._core.remote_origin import (  # noqa: TID251 (not public)
    GrpcServerCodeLocationOrigin,
    RemoteJobOrigin,
    RemoteRepositoryOrigin,
)
from dagster._core.test_utils import (  # noqa: TID251 (not public)
    create_test_daemon_workspace_context,
)
from dagster._core.workspace.load_target import GrpcServerTarget  # noqa: TID251 (not public)
from dagster._daemon.auto_run_reexecution.auto_run_reexecution import (
    consume_new_runs_for_automatic_reexecution,
)

from robot_data_platform.defs import runs
from robot_data_platform.defs.lost_retries import lost_retries, lost_runs
from robot_data_platform.defs.resources import Platform
from robot_data_platform.errors import RobotDataError
from robot_data_platform_tests.defs.conftest import Put
from robot_data_platform_tests.servers import free_ports

UPLOAD = "20260101t000000z-pick-0000"
TAGS = {"dagster/partition": UPLOAD, "rdp/upload": UPLOAD, "rdp/dataset": "pick"}
DIED = RunFailureReason.UNEXPECTED_TERMINATION


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[dg.DagsterInstance]:
    retries = {"enabled": True, "max_retries": 3, "retry_on_asset_or_op_failure": False}
    overrides = {"run_retries": retries, "telemetry": {"enabled": False}}
    with dg.DagsterInstance.local_temp(str(tmp_path), overrides=overrides) as instance:
        yield instance


def started(
    instance: dg.DagsterInstance, tags: dict[str, str] | None = None, port: int = 1
) -> dg.DagsterRun:
    """Add a run of a code location and return it."""
    origin = GrpcServerCodeLocationOrigin("localhost", port, location_name="robot_data_platform")
    run = dg.DagsterRun(
        job_name="ingest_upload",
        status=dg.DagsterRunStatus.STARTED,
        tags={**TAGS, **(tags or {})},
        run_config={"loggers": {}},
        remote_job_origin=RemoteJobOrigin(
            RemoteRepositoryOrigin(origin, "__repository__"), "ingest_upload"
        ),
    )
    return instance.add_run(run)


def fail(instance: dg.DagsterInstance, run: dg.DagsterRun, reason: RunFailureReason = DIED) -> None:
    instance.report_run_failed(run, "it died", JobFailureData(error=None, failure_reason=reason))


def failed(
    instance: dg.DagsterInstance,
    reason: RunFailureReason = DIED,
    tags: dict[str, str] | None = None,
    port: int = 1,
) -> str:
    """Add a run that failed, and return its id."""
    run = started(instance, tags, port)
    fail(instance, run, reason)
    return run.run_id


def records(instance: dg.DagsterInstance, run_id: str) -> list[dg.RunRecord]:
    return list(instance.get_run_records(dg.RunsFilter(run_ids=[run_id])))


def dagster_looks(instance: dg.DagsterInstance, seen: list[dg.RunRecord], port: int) -> None:
    """Let Dagster's daemon look at a failure, beside a code location that is not there."""
    target = GrpcServerTarget("localhost", port, None, "robot_data_platform")
    with create_test_daemon_workspace_context(target, instance) as workspace:
        log = logging.getLogger("dagster")
        list(consume_new_runs_for_automatic_reexecution(workspace, seen, log))


def lost(instance: dg.DagsterInstance, minutes: float) -> list[str]:
    """Return the runs that count as lost after that time."""
    return [
        run.run_id for run in lost_runs(instance, datetime.now(UTC) + timedelta(minutes=minutes))
    ]


@pytest.mark.filterwarnings("ignore:Error loading repository location")
def test_a_retry_that_did_not_reach_the_code_location_is_lost(
    instance: dg.DagsterInstance,
) -> None:
    (port,) = free_ports(1)
    run_id = failed(instance, port=port)
    dagster_looks(instance, records(instance, run_id), port)
    assert instance.get_runs_count() == 1
    assert lost(instance, 2) == [run_id]


@pytest.mark.filterwarnings("ignore:Error loading repository location")
def test_a_failure_that_was_seen_before_the_run_had_its_status_is_lost(
    instance: dg.DagsterInstance,
) -> None:
    run = started(instance)
    before = records(instance, run.run_id)
    fail(instance, run)
    dagster_looks(instance, before, port=1)
    (after,) = records(instance, run.run_id)
    assert (after.dagster_run.tags["dagster/will_retry"], instance.get_runs_count()) == ("true", 1)
    assert lost(instance, 2) == [run.run_id]


def test_a_lost_run_is_requested_with_all_it_had(
    instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("robot_data_platform.defs.lost_retries.PATIENCE", timedelta(0))
    run_id = failed(instance)
    context = dg.build_sensor_context(instance=instance)
    (request,) = cast("Iterator[dg.RunRequest]", lost_retries(context))
    assert (request.job_name, request.partition_key) == ("ingest_upload", UPLOAD)
    assert (request.run_key, request.run_config) == (f"lost:{run_id}", {"loggers": {}})
    kept = {"rdp/upload": UPLOAD, "rdp/dataset": "pick", "rdp/attempt": "1"}
    assert kept.items() <= request.tags.items()


def test_dagster_gets_its_time_to_retry(instance: dg.DagsterInstance) -> None:
    failed(instance)
    assert lost(instance, 0.9) == []


def test_what_dagster_retried_is_not_lost(instance: dg.DagsterInstance) -> None:
    failed(instance, tags={"dagster/auto_retry_run_id": "another"})
    assert lost(instance, 2) == []


def test_what_a_step_refused_is_not_lost(instance: dg.DagsterInstance) -> None:
    failed(instance, RunFailureReason.STEP_FAILURE)
    assert lost(instance, 2) == []


def test_an_upload_that_was_refused_is_not_lost(
    instance: dg.DagsterInstance, platform: Platform, put: Put
) -> None:
    with pytest.raises(RobotDataError):
        runs.ingest(instance, platform, put(UPLOAD))
    assert instance.get_runs_count(dg.RunsFilter(statuses=[dg.DagsterRunStatus.FAILURE])) == 1
    assert lost(instance, 60) == []


def test_what_was_run_again_by_a_person_is_not_lost(instance: dg.DagsterInstance) -> None:
    failed(instance)
    instance.add_run(dg.DagsterRun(job_name="ingest_upload", tags=TAGS))
    assert lost(instance, 2) == []


def test_a_run_of_another_upload_does_not_count_as_run_again(
    instance: dg.DagsterInstance,
) -> None:
    failed(instance)
    other = {**TAGS, "dagster/partition": "20260102t000000z-pick-0000"}
    instance.add_run(dg.DagsterRun(job_name="ingest_upload", tags=other))
    assert len(lost(instance, 2)) == 1


def test_after_the_third_request_there_is_no_more(instance: dg.DagsterInstance) -> None:
    failed(instance, tags={"rdp/attempt": "3"})
    assert lost(instance, 2) == []


def test_an_instance_without_retries_loses_none() -> None:
    with dg.DagsterInstance.ephemeral() as instance:
        failed(instance)
        assert lost(instance, 2) == []
