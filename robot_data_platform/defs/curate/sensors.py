"""Sensors after ingestion: release what arrived, and tell of what failed."""

import dagster as dg

from robot_data_platform.defs.failures import failures
from robot_data_platform.defs.jobs import ingest_upload, release_dataset
from robot_data_platform.defs.resources import Platform


@dg.run_status_sensor(
    run_status=dg.DagsterRunStatus.SUCCESS,
    monitored_jobs=[ingest_upload],
    request_job=release_dataset,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Requests splits and a release of a dataset after each of its uploads.",
)
def release_after_ingest(context: dg.RunStatusSensorContext, platform: Platform) -> dg.RunRequest:
    """Request one release run per ingestion; equal content ends in the same release."""
    tags = context.dagster_run.tags
    with failures():
        landing = platform.workplace.landing
        dataset = tags.get("rdp/dataset") or landing.manifest(tags["dagster/partition"]).dataset
    return dg.RunRequest(
        partition_key=dataset,
        run_key=f"release:{context.dagster_run.run_id}",
        tags={"rdp/dataset": dataset},
    )


@dg.run_failure_sensor(
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Logs every failed run with its upload, step and error kind.",
)
def tell_of_failures(context: dg.RunFailureSensorContext) -> None:
    """Log what failed in one line that a log search finds."""
    run = context.dagster_run
    steps = [event.step_key for event in context.get_step_failure_events()]
    context.log.error(
        "run failed: job=%s run=%s upload=%s dataset=%s steps=%s message=%s",
        run.job_name,
        run.run_id,
        run.tags.get("rdp/upload", run.tags.get("dagster/partition", "")),
        run.tags.get("rdp/dataset", ""),
        steps,
        context.failure_event.message,
    )
