"""Asset checks that answer one question per partition."""

import warnings
from collections.abc import Callable

import dagster as dg

from robot_data_platform.compute.checks import CheckReport
from robot_data_platform.defs.failures import failures
from robot_data_platform.defs.resources import Platform

Answer = Callable[[Platform, str], CheckReport]
"""Called with the platform and the partition."""


def partitioned_check(
    asset: str,
    name: str,
    description: str | None,
    answer: Answer,
    *,
    partitions_def: dg.PartitionsDefinition[str],
    blocking: bool,
) -> dg.AssetChecksDefinition:
    """Return a check of one asset; a blocking one stops what comes after it in the same run."""
    severity = dg.AssetCheckSeverity.ERROR if blocking else dg.AssetCheckSeverity.WARN
    with warnings.catch_warnings():
        # Checks per partition are marked as a preview in the Dagster that is pinned.
        warnings.simplefilter("ignore", dg.PreviewWarning)

        @dg.asset_check(
            asset=asset,
            name=name,
            description=description,
            partitions_def=partitions_def,
            blocking=blocking,
        )
        def check(
            context: dg.AssetCheckExecutionContext, platform: Platform
        ) -> dg.AssetCheckResult:
            with failures():
                report = answer(platform, context.partition_key)
            return dg.AssetCheckResult(
                passed=report.is_passed,
                severity=severity,
                description=report.message,
                metadata={**report.numbers},
            )

    return check
