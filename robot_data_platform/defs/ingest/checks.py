"""Asset checks of the assets per upload; blocking where a release would be wrong."""

from collections.abc import Callable

import dagster as dg

from robot_data_platform.compute import checks
from robot_data_platform.compute.ingestion import Ingestion
from robot_data_platform.compute.suites import episodes_suite_holds, frames_suite_holds
from robot_data_platform.defs.partitioned_check import partitioned_check
from robot_data_platform.defs.partitions import UPLOADS

Question = Callable[[Ingestion], checks.CheckReport]


def _upload_check(asset: str, question: Question, *, blocking: bool) -> dg.AssetChecksDefinition:
    return partitioned_check(
        asset,
        question.__name__,
        question.__doc__,
        lambda platform, upload: question(platform.ingestion(upload)),
        partitions_def=UPLOADS,
        blocking=blocking,
    )


INGEST_CHECKS = [
    _upload_check("gop_video", checks.gop_keys_are_unique, blocking=True),
    _upload_check("frames", checks.frames_are_contiguous, blocking=True),
    _upload_check("frames", checks.references_resolve, blocking=True),
    _upload_check("frames", frames_suite_holds, blocking=False),
    _upload_check("episodes", checks.upload_is_published_once, blocking=True),
    _upload_check("episodes", checks.no_episode_is_quarantined, blocking=False),
    _upload_check("episodes", episodes_suite_holds, blocking=False),
    _upload_check("quality_results", checks.no_rule_is_broken, blocking=False),
    _upload_check("spatial_results", checks.no_calibration_is_contradicted, blocking=False),
]
