"""Asset checks of splits and releases."""

from collections.abc import Callable

import dagster as dg

from robot_data_platform.compute import release_checks
from robot_data_platform.compute.checks import CheckReport
from robot_data_platform.defs.partitioned_check import partitioned_check
from robot_data_platform.defs.partitions import DATASETS
from robot_data_platform.storage.lake import Lake

Question = Callable[[Lake, str], CheckReport]


def _dataset_check(asset: str, question: Question) -> dg.AssetChecksDefinition:
    return partitioned_check(
        asset,
        question.__name__,
        question.__doc__,
        lambda platform, dataset: question(platform.workplace.lake, dataset),
        partitions_def=DATASETS,
        blocking=True,
    )


CURATE_CHECKS = [
    _dataset_check("curated_splits", release_checks.splits_are_disjoint),
    _dataset_check("dataset_release", release_checks.latest_release_verifies),
]
