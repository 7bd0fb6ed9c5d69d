"""Great Expectations suites over an upload's rows, as check reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from robot_data_platform.compute.checks import CheckReport
from robot_data_platform.storage.predicate import equals

if TYPE_CHECKING:
    from robot_data_platform.compute.ingestion import (
        Ingestion,
    )
    from robot_data_platform.quality.suites import SuiteResult


def frames_suite_holds(ingestion: Ingestion) -> CheckReport:
    """Hold the upload's rows against the Great Expectations suite of ``frames``."""
    from robot_data_platform.quality.suites import validate_frames

    frames = ingestion.workplace.lake.open(ingestion.dataset, "frames")
    return _report(validate_frames(frames.read(where=ingestion.where())))


def episodes_suite_holds(ingestion: Ingestion) -> CheckReport:
    """Hold the upload's episodes against the Great Expectations suite of ``episodes``."""
    from robot_data_platform.quality.suites import validate_episodes

    episodes = ingestion.workplace.lake.open(ingestion.dataset, "episodes")
    return _report(validate_episodes(episodes.read(where=equals("upload", ingestion.upload))))


def _report(result: SuiteResult) -> CheckReport:
    broken = [e for e in result.expectations if not e.ok]
    said = "; ".join(
        f"{e.expectation}({e.column}): {e.message or e.num_unexpected}" for e in broken
    )
    return CheckReport(
        is_passed=not broken,
        message=said or f"{len(result.expectations)} expectations hold for {result.num_rows} rows",
        numbers={"num_expectations": len(result.expectations), "num_broken": len(broken)},
    )
