"""Runs that died with their code location are missed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field

import dagster as dg
import pytest
from dagster._core.errors import DagsterUserCodeUnreachableError  # noqa: TID251 (not public)
from dagster._core.launcher import WorkerStatus  # noqa: TID251 (not public)
from dagster._grpc import client as grpc_client
from dagster._grpc.types import CanCancelExecutionRequest, CanCancelExecutionResult
from dagster._serdes import serialize_value

from robot_data_platform.defs.run_launcher import WatchedRunLauncher


@dataclass
class Location:
    """A code location that executes some runs, or does not answer."""

    executed: set[str] = field(default_factory=set)
    answers: bool = True

    def can_cancel_execution(self, request: CanCancelExecutionRequest) -> str:
        if not self.answers:
            raise DagsterUserCodeUnreachableError("Could not reach user code server")
        return serialize_value(CanCancelExecutionResult(can_cancel=request.run_id in self.executed))


@pytest.fixture
def location(monkeypatch: pytest.MonkeyPatch) -> Location:
    there = Location()
    monkeypatch.setattr(grpc_client, "DagsterGrpcClient", lambda **_: there)
    return there


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as instance:
        yield instance


def started_run(instance: dg.DagsterInstance) -> dg.DagsterRun:
    tags = {".dagster/grpc_info": json.dumps({"host": "code-location", "port": 4000})}
    run = dg.DagsterRun(job_name="ingest_upload", status=dg.DagsterRunStatus.STARTED, tags=tags)
    return instance.add_run(run)


def status(instance: dg.DagsterInstance, run: dg.DagsterRun) -> WorkerStatus:
    launcher = WatchedRunLauncher()
    launcher.register_instance(instance)
    return launcher.check_run_worker_health(run).status


def test_a_run_that_its_location_executes_is_well(
    instance: dg.DagsterInstance, location: Location
) -> None:
    run = started_run(instance)
    location.executed.add(run.run_id)
    assert status(instance, run) is WorkerStatus.RUNNING


def test_a_run_that_its_location_does_not_know_has_failed(
    instance: dg.DagsterInstance, location: Location
) -> None:
    assert status(instance, started_run(instance)) is WorkerStatus.FAILED


def test_a_location_that_does_not_answer_is_asked_again_later(
    instance: dg.DagsterInstance, location: Location
) -> None:
    location.answers = False
    assert status(instance, started_run(instance)) is WorkerStatus.RUNNING


def test_run_monitoring_is_told_to_ask() -> None:
    assert WatchedRunLauncher().supports_check_run_worker_health
