"""House-keeping every night: the lake's tables, and Dagster's own run history."""

import time
from datetime import timedelta

import dagster as dg
from pydantic import Field

from robot_data_platform.compute.maintenance import Upkeep, maintain_lake
from robot_data_platform.compute.scrub_share import parse_share
from robot_data_platform.compute.upkeep_policy import UpkeepPolicy
from robot_data_platform.defs.failures import failures
from robot_data_platform.defs.resources import Platform, op_run_info
from robot_data_platform.defs.run_history import prune_runs


class UpkeepConfig(dg.Config):
    """What a night's maintenance does."""

    scrub: str = Field(
        default="1/7", description="GOPs to hold against their checksum: all, none, or 1/7."
    )
    keep_days: float = Field(default=14.0, description="Days that untagged versions stay readable.")
    grace_days: float = Field(default=3.0, description="Days that an ingestion may take.")

    def policy(self) -> UpkeepPolicy:
        """Return the same as the policy that the lake is maintained by."""
        return UpkeepPolicy(
            keep_versions=timedelta(days=self.keep_days),
            grace=timedelta(days=self.grace_days),
            scrub=parse_share(self.scrub),
        )


class RunHistoryConfig(dg.Config):
    """How much of Dagster's run history is kept."""

    keep_days: float = Field(default=90.0, description="Days that runs stay after they ended.")
    max_runs: int = Field(default=1000, description="Runs removed at most in one night.")


@dg.op
def maintain_tables(
    context: dg.OpExecutionContext, platform: Platform, config: UpkeepConfig
) -> None:
    """Maintain every dataset and the catalog; released versions stay as they are."""
    with failures():
        upkeep = Upkeep(
            lake=platform.writable.lake, run=op_run_info(context), policy=config.policy()
        )
        done = maintain_lake(upkeep)
    for report in done.datasets:
        context.log.info("Maintained %s: %s", report.dataset, report)
    damaged = [gop for report in done.datasets for gop in report.damaged]
    if done.failed or damaged:
        told = [f"{name}: {error}" for name, error in done.failed.items()]
        told += [f"{gop.dataset}: damaged {gop}" for gop in damaged]
        raise dg.Failure(description="\n".join(told), allow_retries=False)


@dg.op
def prune_history(context: dg.OpExecutionContext, config: RunHistoryConfig) -> None:
    """Remove old ended runs; the lake's own lineage, and each partition's latest run, stay."""
    before_s = time.time() - config.keep_days * 86_400
    removed = prune_runs(context.instance, before_s, config.max_runs)
    context.log.info("Removed %d runs that ended over %g days ago", len(removed), config.keep_days)


@dg.job(description="Nightly house-keeping of every dataset; no release is touched.")
def maintenance() -> None:
    """Maintain the lake."""
    maintain_tables()


@dg.job(description="Removes old runs from Dagster's history; lineage is the lake's and stays.")
def history_pruning() -> None:
    """Prune the run history."""
    prune_history()


nightly_maintenance = dg.ScheduleDefinition(
    name="nightly_maintenance",
    job=maintenance,
    cron_schedule="0 3 * * *",
    default_status=dg.DefaultScheduleStatus.RUNNING,
)
nightly_history_pruning = dg.ScheduleDefinition(
    name="nightly_history_pruning",
    job=history_pruning,
    cron_schedule="30 4 * * *",
    default_status=dg.DefaultScheduleStatus.RUNNING,
)
