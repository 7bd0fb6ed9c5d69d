"""The sensor that requests anew the runs whose process died and whose retry was lost as well."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import dagster as dg
from dagster._core.events import RunFailureReason  # noqa: TID251 (not public)
from dagster._core.execution.retries import (  # noqa: TID251 (Dagster's own rule, not public)
    auto_reexecution_should_retry_run,
)

from robot_data_platform.defs.jobs import check_upload, ingest_upload, release_dataset
from robot_data_platform.defs.run_subject import DATASET_TAG, UPLOAD_TAG

JOBS = (ingest_upload, check_upload, release_dataset)
"""All that work on a partition; what runs every night comes again by itself."""
RETRIED_BY_TAG = "dagster/auto_retry_run_id"
REASON_TAG = "dagster/failure_reason"
PARTITION_TAG = "dagster/partition"
ATTEMPT_TAG = "rdp/attempt"
"""How many times this sensor has requested what the run does; its retries inherit it."""
MAX_ATTEMPTS = 3

PATIENCE = timedelta(minutes=1)
"""Time for Dagster's own retry, which takes seconds. One that comes later still costs time alone:
the same content again writes nothing."""
LOOK_BACK = timedelta(days=3)
"""A weekend."""
NEWEST = 200
"""Failed runs that one tick looks at."""


@dg.sensor(
    jobs=JOBS,
    minimum_interval_seconds=30,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Requests runs again that died and that Dagster did not retry, as while the code"
    " location started.",
)
def lost_retries(context: dg.SensorEvaluationContext) -> Iterator[dg.RunRequest]:
    """Request each lost run once.

    Dagster looks at a failure once. Where it sees the event before the run's new status, which is
    written after it, or does not reach the code location, which may have died with the run, it
    passes on and never comes back. This sensor runs in the code location, so that it is there when
    this asks.
    """
    for run in lost_runs(context.instance, datetime.now(UTC)):
        context.log.warning("Run %s died and was not retried: requested anew", run.run_id)
        yield _request(run)


def lost_runs(instance: dg.DagsterInstance, now: datetime) -> Iterator[dg.DagsterRun]:
    """Yield the runs that Dagster's own rule retries, and that it did not retry."""
    if not instance.run_retries_enabled:
        return
    failed = dg.RunsFilter(statuses=[dg.DagsterRunStatus.FAILURE], updated_after=now - LOOK_BACK)
    for record in instance.get_run_records(failed, limit=NEWEST):
        run = record.dagster_run
        ended_s = record.end_time or record.create_timestamp.timestamp()
        if now - datetime.fromtimestamp(ended_s, UTC) > PATIENCE and _is_lost(instance, run):
            yield run


def is_requested_again(run: dg.DagsterRun) -> bool:
    """Tell whether a dead run of which the retry gets lost would be requested by the sensor."""
    is_one = run.job_name in {job.name for job in JOBS} and PARTITION_TAG in run.tags
    return is_one and _attempt(run) < MAX_ATTEMPTS


def _is_lost(instance: dg.DagsterInstance, run: dg.DagsterRun) -> bool:
    """Tell whether nothing came after a run that should have been retried."""
    if RETRIED_BY_TAG in run.tags or not is_requested_again(run):
        return False
    reason = RunFailureReason(run.tags.get(REASON_TAG, RunFailureReason.UNKNOWN.value))
    return auto_reexecution_should_retry_run(instance, run, reason) and _is_latest(instance, run)


def _is_latest(instance: dg.DagsterInstance, run: dg.DagsterRun) -> bool:
    """Tell whether nobody has run the same since."""
    same = dg.RunsFilter(job_name=run.job_name, tags={PARTITION_TAG: run.tags[PARTITION_TAG]})
    return instance.get_runs(same, limit=1)[0].run_id == run.run_id


def _request(run: dg.DagsterRun) -> dg.RunRequest:
    kept = {name: run.tags[name] for name in (UPLOAD_TAG, DATASET_TAG) if name in run.tags}
    return dg.RunRequest(
        job_name=run.job_name,
        partition_key=run.tags[PARTITION_TAG],
        run_key=f"lost:{run.run_id}",
        run_config=dict(run.run_config),
        tags={**kept, ATTEMPT_TAG: str(_attempt(run) + 1)},
    )


def _attempt(run: dg.DagsterRun) -> int:
    return int(run.tags.get(ATTEMPT_TAG, "0"))
