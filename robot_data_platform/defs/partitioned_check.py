"""Asset checks that answer one question per partition."""

import warnings
from collections.abc import Callable

import dagster as dg

from robot_data_platform.compute.checks import CheckReport
from robot_data_platform.core.finding import Severity
from robot_data_platform.defs.failures import failures
from robot_data_platform.defs.metadata import Metadata, page_metadata
from robot_data_platform.defs.resources import Platform

Answer = Callable[[Platform, str], CheckReport]
"""Called with the platform and the partition."""
_SEVERITIES = {
    Severity.FAIL: dg.AssetCheckSeverity.ERROR,
    Severity.WARN: dg.AssetCheckSeverity.WARN,
}


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
    declared = dg.AssetCheckSeverity.ERROR if blocking else dg.AssetCheckSeverity.WARN
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
                severity=_SEVERITIES[report.severity] if report.severity else declared,
                description=report.message,
                metadata=_metadata(report, platform),
            )

    return check


def _metadata(report: CheckReport, platform: Platform) -> Metadata:
    metadata: Metadata = {**report.numbers}
    if report.table:
        metadata["expectations"] = dg.MetadataValue.md(report.table)
    if report.page_key:
        metadata |= page_metadata(platform.workplace.lake_root, report.page_key, platform.pages)
    return metadata
