"""Jobs: ingest one upload, release one dataset, maintain the lake."""

import dagster as dg

from robot_data_platform.compute.maintenance import maintain_dataset
from robot_data_platform.defs.failures import failures
from robot_data_platform.defs.resources import Platform, op_run_info

INGEST_ASSETS = (
    *("raw_episodes", "gop_video", "frames", "episodes", "quality_results", "spatial_results"),
)
RELEASE_ASSETS = ("curated_splits", "dataset_release")

ingest_upload = dg.define_asset_job(
    "ingest_upload",
    selection=dg.AssetSelection.assets(*INGEST_ASSETS),
    description="Everything that one upload goes through, up to its checks.",
)

check_upload = dg.define_asset_job(
    "check_upload",
    selection=dg.AssetSelection.assets("spatial_results"),
    description="The spatial checks of one upload again, as after a calibration was accepted.",
)

release_dataset = dg.define_asset_job(
    "release_dataset",
    selection=dg.AssetSelection.assets(*RELEASE_ASSETS),
    description="Splits and a release of one dataset as it is now.",
)


@dg.op
def maintain_lake(context: dg.OpExecutionContext, platform: Platform) -> None:
    """Compact, fold indices, clean up and scrub every dataset; released versions stay."""
    lake = platform.workplace.lake
    with failures():
        for dataset in lake.datasets():
            report = maintain_dataset(lake, dataset, op_run_info(context))
            context.log.info("Maintained %s: %s", dataset, report)


@dg.job(description="Nightly house-keeping of every dataset; no release is touched.")
def maintenance() -> None:
    """Maintain the lake."""
    maintain_lake()


nightly_maintenance = dg.ScheduleDefinition(
    name="nightly_maintenance", job=maintenance, cron_schedule="0 3 * * *"
)
