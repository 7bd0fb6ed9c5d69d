"""The whole graph as one `Definitions` object."""

from __future__ import annotations

import warnings

import dagster as dg

from robot_data_platform.defs.alerts import tell_of_failures, tell_of_quarantine
from robot_data_platform.defs.curate.assets import curated_splits, dataset_release, trained_models
from robot_data_platform.defs.curate.checks import CURATE_CHECKS
from robot_data_platform.defs.curate.sensors import release_after_ingest
from robot_data_platform.defs.ingest.assets import (
    episodes,
    frames,
    gop_video,
    quality_results,
    raw_episodes,
    spatial_results,
)
from robot_data_platform.defs.ingest.checks import INGEST_CHECKS
from robot_data_platform.defs.ingest.sensors import new_uploads
from robot_data_platform.defs.jobs import (
    check_upload,
    ingest_upload,
    release_dataset,
)
from robot_data_platform.defs.lost_retries import lost_retries
from robot_data_platform.defs.resources import Platform
from robot_data_platform.defs.upkeep import (
    history_pruning,
    maintenance,
    nightly_history_pruning,
    nightly_maintenance,
)


def build_definitions(platform: Platform | None = None) -> dg.Definitions:
    """Return the graph bound to a lake and a landing folder; None takes them from RDP_*."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dg.PreviewWarning)
        warnings.simplefilter("ignore", dg.BetaWarning)
        return dg.Definitions(
            assets=[
                raw_episodes,
                gop_video,
                frames,
                episodes,
                quality_results,
                spatial_results,
                curated_splits,
                dataset_release,
                trained_models,
            ],
            asset_checks=[*INGEST_CHECKS, *CURATE_CHECKS],
            jobs=[ingest_upload, check_upload, release_dataset, maintenance, history_pruning],
            schedules=[nightly_maintenance, nightly_history_pruning],
            sensors=[
                new_uploads,
                release_after_ingest,
                lost_retries,
                tell_of_failures,
                tell_of_quarantine,
            ],
            resources={"platform": platform or Platform()},
            executor=dg.in_process_executor,
        )
