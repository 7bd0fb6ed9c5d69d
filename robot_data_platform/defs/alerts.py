"""Sensors that tell people: of runs that failed, and of episodes that were quarantined."""

from collections.abc import Sequence
from dataclasses import replace

import dagster as dg

from robot_data_platform.compute.quarantined import QuarantinedEpisode, quarantined_episodes
from robot_data_platform.core.time_base import NS_PER_S
from robot_data_platform.defs.failures import failure_kind, failure_reason, failures
from robot_data_platform.defs.lost_retries import is_requested_again
from robot_data_platform.defs.resources import Platform
from robot_data_platform.defs.run_subject import subject_of
from robot_data_platform.errors import ErrorKind, InvalidInputError
from robot_data_platform.telemetry.alert import Alert, Event
from robot_data_platform.telemetry.alert_settings import alert_channels, run_url
from robot_data_platform.telemetry.delivery import deliver
from robot_data_platform.telemetry.logs import configure_logging
from robot_data_platform.telemetry.secrets import redacted

TOLD_TAG = "rdp/told."
"""Start of the run tag that says that a channel took the run's alert: none is told twice."""
WILL_RETRY_TAG = "dagster/will_retry"
"""Dagster's tag of a failed run: whether it means to start it again by itself."""
REASONS_SHOWN = 5
INTERVAL_S = 15


@dg.run_failure_sensor(
    default_status=dg.DefaultSensorStatus.RUNNING,
    minimum_interval_seconds=INTERVAL_S,
    description="Tells of every failed run: in its log, and by webhook and e-mail where set.",
)
def tell_of_failures(context: dg.RunFailureSensorContext) -> dg.SkipReason | None:
    """Tell of a run that failed for good, be it by a blocking check.

    One that is run again is not told of, as long as nothing can lose that.
    """
    run = context.dagster_run
    if run.tags.get(WILL_RETRY_TAG) == "true" and is_requested_again(run):
        return None
    alert = _failure_alert(context)
    context.log.error(
        "run failed: job=%s run=%s upload=%s dataset=%s asset=%s kind=%s message=%s",
        *(alert.job, alert.run_id, alert.upload, alert.dataset, alert.asset, alert.error_kind),
        redacted(alert.message),
    )
    return _tell(context, alert)


@dg.run_status_sensor(
    run_status=dg.DagsterRunStatus.SUCCESS,
    default_status=dg.DefaultSensorStatus.RUNNING,
    minimum_interval_seconds=INTERVAL_S,
    description="Tells of uploads with episodes in quarantine, by webhook and e-mail where set.",
)
def tell_of_quarantine(
    context: dg.RunStatusSensorContext, platform: Platform
) -> dg.SkipReason | None:
    """Tell of the episodes that an ingestion could not take, once per published content."""
    made = _published_quarantine(context)
    if made is None:
        return None
    dataset, upload = str(made.metadata["dataset"].value), made.partition or ""
    with failures():
        lost = quarantined_episodes(platform.workplace.lake, dataset, upload)
    kinds = {episode.error_kind for episode in lost}
    alert = replace(
        _alert(context, "episodes-quarantined", _quarantine_message(lost)),
        dataset=dataset,
        upload=upload,
        asset="episodes",
        error_kind=kinds.pop() if len(kinds) == 1 else "",
    )
    return _tell(context, alert)


def _tell(context: dg.RunStatusSensorContext, alert: Alert) -> dg.SkipReason | None:
    """Deliver an alert; after one that a channel did not take, end this tick, which has a limit."""
    configure_logging()
    try:
        channels = alert_channels()
    except InvalidInputError as err:
        context.log.error("The alert %r is not sent: %s", alert.headline(), err)  # noqa: TRY400
        return None
    told = [c.name for c in channels if TOLD_TAG + c.name in context.dagster_run.tags]
    taken = deliver(alert, channels, told)
    tags = {TOLD_TAG + name: "true" for name, is_taken in taken.items() if is_taken}
    if tags:
        context.instance.add_run_tags(alert.run_id, tags)
    lost = sorted(name for name, is_taken in taken.items() if not is_taken)
    if not lost:
        return None
    reason = f"The alert {alert.headline()!r} was not taken by {', '.join(lost)}."
    context.log.error(reason)
    return dg.SkipReason(reason)


def _failure_alert(context: dg.RunFailureSensorContext) -> Alert:
    events = context.get_step_failure_events()
    checks = _failed_checks(context)
    alert = _alert(context, "run-failed", context.failure_event.message or "")
    if checks:
        return replace(
            alert,
            asset=checks[0].asset_key.to_user_string(),
            error_kind=ErrorKind.CHECK_FAILED.value,
            message=" ".join(f"Check {c.check_name}: {c.description or ''}" for c in checks),
        )
    if not events:
        return alert
    return replace(
        alert,
        asset=events[0].step_key or "",
        error_kind=failure_kind(events[0]),
        message=" ".join(map(failure_reason, events)),
    )


def _alert(context: dg.RunStatusSensorContext, event: Event, message: str) -> Alert:
    run = context.dagster_run
    return Alert(
        event=event,
        message=message,
        occurred_ns=_occurred_ns(context),
        job=run.job_name,
        **subject_of(run),
        run_id=run.run_id,
        run_url=run_url(run.run_id),
    )


def _occurred_ns(context: dg.RunStatusSensorContext) -> int:
    stats = context.instance.get_run_stats(context.dagster_run.run_id)
    return int((stats.end_time or stats.launch_time or 0) * NS_PER_S)


def _failed_checks(context: dg.RunStatusSensorContext) -> list[dg.AssetCheckEvaluation]:
    """Return the checks of a run that failed and ended it."""
    records = context.instance.get_records_for_run(
        context.dagster_run.run_id, of_type=dg.DagsterEventType.ASSET_CHECK_EVALUATION
    ).records
    events = [record.event_log_entry.dagster_event for record in records]
    checks = [event.asset_check_evaluation_data for event in events if event is not None]
    return [c for c in checks if not c.passed and c.severity is dg.AssetCheckSeverity.ERROR]


def _published_quarantine(context: dg.RunStatusSensorContext) -> dg.AssetMaterialization | None:
    """Return what published episodes in quarantine in this run; a run that found them so, none."""
    records = context.instance.get_records_for_run(
        context.dagster_run.run_id, of_type=dg.DagsterEventType.ASSET_MATERIALIZATION
    ).records
    for made in (record.asset_materialization for record in records):
        if made is not None and made.asset_key == dg.AssetKey("episodes"):
            told = made.metadata
            if told["is_new"].value and told["num_quarantined"].value:
                return made
    return None


def _quarantine_message(lost: Sequence[QuarantinedEpisode]) -> str:
    shown = "\n".join(f"- {e.source_key}: {e.reason}" for e in lost[:REASONS_SHOWN])
    rest = len(lost) - REASONS_SHOWN
    more = f"\n- and {rest} more: `rdp episodes` lists them" if rest > 0 else ""
    return f"{len(lost)} episodes are in quarantine; the rest of the upload went on.\n{shown}{more}"
