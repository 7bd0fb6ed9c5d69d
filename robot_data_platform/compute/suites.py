"""Great Expectations suites over an upload's rows, as check reports with their pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from robot_data_platform.compute.checks import CheckReport
from robot_data_platform.compute.data_docs import site_run, write_pages
from robot_data_platform.compute.standing import worst_markdown
from robot_data_platform.core.finding import Severity
from robot_data_platform.storage.predicate import equals

if TYPE_CHECKING:
    from robot_data_platform.compute.ingestion import (
        Ingestion,
    )
    from robot_data_platform.quality.suites import SuiteResult

_HEADER = ("expectation", "column", "severity", "outcome")


def frames_suite_holds(ingestion: Ingestion) -> CheckReport:
    """Hold the upload's rows against the Great Expectations suite of ``frames``."""
    from robot_data_platform.quality.suites import validate_frames

    frames = ingestion.workplace.lake.open(ingestion.dataset, "frames")
    rows = frames.read(where=ingestion.where())
    return _report(ingestion, validate_frames(rows, site=site_run(ingestion)))


def episodes_suite_holds(ingestion: Ingestion) -> CheckReport:
    """Hold the upload's episodes against the Great Expectations suite of ``episodes``."""
    from robot_data_platform.quality.suites import validate_episodes

    episodes = ingestion.workplace.lake.open(ingestion.dataset, "episodes")
    rows = episodes.read(where=equals("upload", ingestion.upload))
    return _report(ingestion, validate_episodes(rows, site=site_run(ingestion)))


def _report(ingestion: Ingestion, result: SuiteResult) -> CheckReport:
    broken = result.broken
    said = "; ".join(
        f"{e.expectation}({e.column}): {e.message or e.num_unexpected}" for e in broken
    )
    rows = [
        (e.expectation, e.column, e.severity.value, e.message or _outcome(e.num_unexpected, e.ok))
        for e in sorted(result.expectations, key=lambda e: e.ok)
    ]
    return CheckReport(
        is_passed=not broken,
        message=said or f"{len(result.expectations)} expectations hold for {result.num_rows} rows",
        numbers={"num_expectations": len(result.expectations), "num_broken": len(broken)},
        severity=Severity.WARN if result.is_passed else Severity.FAIL,
        table=worst_markdown(_HEADER, rows, otherwise=""),
        page_key=write_pages(ingestion, result.suite, result.pages),
    )


def _outcome(num_unexpected: int, is_ok: bool) -> str:
    if is_ok:
        return f"holds, but for {num_unexpected} rows" if num_unexpected else "holds"
    return f"broken by {num_unexpected} rows"
