"""Runs of Great Expectations: a suite on one table, and the pages that tell of it (Data Docs)."""

from __future__ import annotations

import datetime
import os
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, TypeAlias

from robot_data_platform.core.finding import Severity
from robot_data_platform.core.time_base import NS_PER_S

if TYPE_CHECKING:
    import pyarrow as pa
    from great_expectations.core import ExpectationValidationResult
    from great_expectations.core.batch_definition import BatchDefinition
    from great_expectations.data_context import AbstractDataContext
    from great_expectations.expectations.expectation import Expectation

SEVERITY_NAMES = {Severity.FAIL: "critical", Severity.WARN: "warning"}
"""What the library calls them."""

Expected: TypeAlias = tuple[str, Severity, Mapping[str, object]]
"""Name of an expectation class, how much a breach weighs, and the arguments."""

_SITE = "pages"


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteRun:
    """What names one run in its pages: equal names and times, equal paths."""

    name: str
    time_ns: int
    """Ns since 1970, UTC."""


def run_suite(
    name: str, table: pa.Table, expected: Sequence[Expected], site: SiteRun | None = None
) -> tuple[list[ExpectationValidationResult], dict[str, bytes]]:
    """Return how each expectation came out, and the pages by path; none without ``site``.

    Parameters
    ----------
    name : str
        Of the suite.
    table : pyarrow.Table
        Rows, without nested columns.
    expected : sequence of Expected
        The suite.
    site : SiteRun, optional
        Names the run in the pages.
    """
    gx = _great_expectations()
    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = {"globally": False}
    suite = gx.ExpectationSuite(name=name, expectations=[_expectation(gx, e) for e in expected])
    validation = context.validation_definitions.add(
        gx.ValidationDefinition(
            name=name, data=_whole_table(context, name), suite=context.suites.add(suite)
        )
    )
    results = validation.run(
        batch_parameters={"dataframe": _rows(table)},
        result_format={"result_format": "BASIC"},
        run_id=site and _run_id(site),
    )
    return list(results.results), _pages(context) if site else {}


def _great_expectations() -> ModuleType:
    """Import the library, which takes seconds and 300 MB, and would report its use over the net."""
    os.environ["GX_ANALYTICS_ENABLED"] = "false"
    with warnings.catch_warnings():
        # It imports modules that Python deprecates.
        warnings.simplefilter("ignore", DeprecationWarning)
        import great_expectations
    library: ModuleType = great_expectations
    return library


def _expectation(gx: ModuleType, expected: Expected) -> Expectation:
    name, severity, kwargs = expected
    made: Expectation = getattr(gx.expectations, name)(severity=SEVERITY_NAMES[severity], **kwargs)
    return made


def _whole_table(context: AbstractDataContext, name: str) -> BatchDefinition[object]:
    asset = context.data_sources.add_pandas(name).add_dataframe_asset(name)
    return asset.add_batch_definition_whole_dataframe(name)


def _rows(table: pa.Table) -> object:
    import pandas as pd

    return table.to_pandas(types_mapper=pd.ArrowDtype)


def _run_id(site: SiteRun) -> object:
    from great_expectations.core.run_identifier import RunIdentifier

    at = datetime.datetime.fromtimestamp(site.time_ns // NS_PER_S, datetime.UTC)
    return RunIdentifier(run_name=site.name, run_time=at)


def _pages(context: AbstractDataContext) -> dict[str, bytes]:
    """Return the site of a context by path, without the library's own pictures and fonts."""
    with tempfile.TemporaryDirectory(prefix="rdp-docs-") as folder:
        backend = {"class_name": "TupleFilesystemStoreBackend", "base_directory": folder}
        index = {"class_name": "DefaultSiteIndexBuilder"}
        site = {
            "class_name": "SiteBuilder",
            "show_how_to_buttons": False,
            "store_backend": backend,
            "site_index_builder": index,
        }
        context.add_data_docs_site(_SITE, site)
        context.build_data_docs([_SITE])
        root = Path(folder)
        return {
            path.relative_to(root).as_posix(): path.read_bytes()
            for path in sorted(root.rglob("*.html"))
        }
