"""Launches runs in the code location, and knows when one of them is gone with it."""

from __future__ import annotations

import dagster as dg
from dagster._core.errors import DagsterUserCodeUnreachableError  # noqa: TID251 (not public)
from dagster._core.launcher import (  # noqa: TID251 (named in dagster.yaml, not in `dagster`)
    CheckRunHealthResult,
    DefaultRunLauncher,
    WorkerStatus,
)
from dagster._grpc.types import CanCancelExecutionRequest, CanCancelExecutionResult
from dagster._serdes import deserialize_value


class WatchedRunLauncher(DefaultRunLauncher):
    """Dagster's own launcher, whose runs are missed when their code location died.

    Without this a run that was killed with its container stays "started" for ever, and nothing
    tries it again. Name it as ``run_launcher`` in ``dagster.yaml``, with ``run_monitoring`` and
    ``run_retries``.
    """

    @property
    def supports_check_run_worker_health(self) -> bool:
        """Tell run monitoring to ask."""
        return True

    def check_run_worker_health(self, run: dg.DagsterRun) -> CheckRunHealthResult:
        """Ask the code location whether it executes a run.

        A location that does not answer is asked again by the next round: it may only be busy, and
        once it is back it knows its runs, or knows nothing of those that died.
        """
        client = self._get_grpc_client_for_termination(  # type: ignore[no-untyped-call]
            run.run_id
        )
        if client is None:
            return CheckRunHealthResult(WorkerStatus.RUNNING, "it ended, or is not launched yet")
        request = CanCancelExecutionRequest(run_id=run.run_id)
        try:
            answer = client.can_cancel_execution(request)
        except DagsterUserCodeUnreachableError:
            return CheckRunHealthResult(WorkerStatus.RUNNING, "its code location does not answer")
        if deserialize_value(answer, CanCancelExecutionResult).can_cancel:
            return CheckRunHealthResult(WorkerStatus.RUNNING)
        return CheckRunHealthResult(
            WorkerStatus.FAILED, "the code location was started anew and does not execute it"
        )
