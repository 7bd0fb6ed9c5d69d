"""The sensor after ingestion: release what arrived."""

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
def release_after_ingest(
    context: dg.RunStatusSensorContext, platform: Platform
) -> dg.RunRequest | dg.SkipReason:
    """Request one release run per ingestion, unless one waits that will release this one too.

    Equal content ends in the same release.
    """
    tags = context.dagster_run.tags
    with failures():
        landing = platform.workplace.landing
        dataset = tags.get("rdp/dataset") or landing.manifest(tags["dagster/partition"]).dataset
    waiting = dg.RunsFilter(
        job_name=release_dataset.name,
        statuses=[dg.DagsterRunStatus.QUEUED],
        tags={"rdp/dataset": dataset},
    )
    if context.instance.get_runs_count(waiting):
        return dg.SkipReason(f"A release of dataset {dataset!r} waits, and will hold this upload.")
    return dg.RunRequest(
        partition_key=dataset,
        run_key=f"release:{context.dagster_run.run_id}",
        tags={"rdp/dataset": dataset},
    )
