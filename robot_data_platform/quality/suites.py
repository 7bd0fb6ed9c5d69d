"""Great Expectations suites for `frames` and `episodes`, from the same thresholds as the rules."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from robot_data_platform.core.finding import (
    STATUS_FLAGGED,
    STATUS_OK,
    STATUS_QUARANTINED,
    Severity,
)
from robot_data_platform.core.schema import CAMERA_PREFIX, camera_names
from robot_data_platform.quality.expectation_run import SEVERITY_NAMES, Expected, SiteRun, run_suite
from robot_data_platform.quality.thresholds import THRESHOLDS, Thresholds

if TYPE_CHECKING:
    from great_expectations.core import ExpectationValidationResult

FRAME_STEP = "frame_index_step"
"""Column made for the suite: step of ``frame_index`` within an episode; null at its first row."""
TIME_STEP = "timestamp_step_ns"
"""Column made for the suite, the same of ``timestamp_ns``."""
DURATION = "duration_s"
"""Column made for the suite: time from the first to the last row of an episode."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectationResult:
    """How one expectation of a suite came out."""

    expectation: str
    """Snake-case name, as Great Expectations documents it."""
    column: str
    """Column, or columns joined by commas."""
    ok: bool
    num_unexpected: int
    """Rows that break it; 0 where the expectation is not about rows."""
    severity: Severity
    """``fail`` or ``warn``: what a breach weighs."""
    message: str
    """Why it could not be evaluated; empty where it was."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteResult:
    """How a table came out."""

    suite: str
    num_rows: int
    expectations: tuple[ExpectationResult, ...]
    pages: Mapping[str, bytes] = field(default_factory=dict)
    """Data Docs by relative path, HTML; none where none were asked for."""

    @property
    def is_passed(self) -> bool:
        """Whether no expectation of severity ``fail`` is broken."""
        return all(e.ok or e.severity is not Severity.FAIL for e in self.expectations)

    @property
    def broken(self) -> tuple[ExpectationResult, ...]:
        """The expectations that are broken, of either severity."""
        return tuple(e for e in self.expectations if not e.ok)


def validate_frames(
    table: pa.Table, limits: Thresholds = THRESHOLDS, site: SiteRun | None = None
) -> SuiteResult:
    """Return how rows of ``frames`` meet their suite.

    Parameters
    ----------
    table : pyarrow.Table
        Rows of whole episodes, each episode's in stored order. Vector columns are not looked at.
    limits : Thresholds
        What the expectations are built from.
    site : SiteRun, optional
        Names the run in Data Docs; without it, no pages are made.
    """
    checked = _with_steps(_scalars(table))
    return _validate("frames", checked, list(_of_frames(table.schema, limits)), site)


def validate_episodes(
    table: pa.Table, limits: Thresholds = THRESHOLDS, site: SiteRun | None = None
) -> SuiteResult:
    """Return how rows of ``episodes`` meet their suite; see `validate_frames`."""
    lasts_s = pc.divide(pc.subtract(table["end_ns"], table["start_ns"]), 1e9)
    checked = _scalars(table).append_column(DURATION, lasts_s)
    return _validate("episodes", checked, list(_of_episodes(checked, limits)), site)


def _of_frames(schema: pa.Schema, limits: Thresholds) -> Iterator[Expected]:
    for column in ("episode_index", "frame_index", "timestamp_ns"):
        yield "ExpectColumnValuesToNotBeNull", Severity.FAIL, {"column": column}
    keys = {"column_list": ["episode_index", "frame_index"]}
    yield "ExpectCompoundColumnsToBeUnique", Severity.FAIL, keys
    yield _between(Severity.FAIL, "episode_index", 0)
    yield _between(Severity.FAIL, "frame_index", 0)
    yield _between(Severity.FAIL, FRAME_STEP, 1, 1)
    yield _between(Severity.FAIL, TIME_STEP, 1)
    for name in schema.names:
        if name.endswith("_age_ns"):
            yield _between(Severity.FAIL, name, 0)
    most = 1 - limits.rows_without_value_share.value
    for camera in camera_names(schema):
        prefix = CAMERA_PREFIX + camera
        covered = {"column": f"{prefix}_ref_id", "mostly": most}
        yield "ExpectColumnValuesToNotBeNull", Severity.WARN, covered
        yield _between(Severity.FAIL, f"{prefix}_gop_index", 0)
        yield _between(Severity.FAIL, f"{prefix}_frame_index_in_gop", 0)
        yield from _offsets(schema, camera)


def _offsets(schema: pa.Schema, camera: str) -> Iterator[Expected]:
    """Yield how far a row may be from its picture: half of the camera's period, when none is lost.

    A whole one is allowed, since cameras keep no exact rate.
    """
    rates = json.loads((schema.metadata or {}).get(b"rdp.camera_fps", b"{}"))
    if rates.get(camera):
        period_ns = 1e9 / rates[camera]
        yield _between(Severity.WARN, f"{CAMERA_PREFIX}{camera}_offset_ns", -period_ns, period_ns)


def _of_episodes(table: pa.Table, limits: Thresholds) -> Iterator[Expected]:
    for column in ("episode_id", "episode_index"):
        yield "ExpectColumnValuesToNotBeNull", Severity.FAIL, {"column": column}
        yield "ExpectColumnValuesToBeUnique", Severity.FAIL, {"column": column}
    for column in ("upload", "source_key", "content_digest", "status"):
        yield "ExpectColumnValuesToNotBeNull", Severity.FAIL, {"column": column}
    statuses = {
        "column": "status",
        "value_set": [STATUS_OK, STATUS_FLAGGED, STATUS_QUARANTINED],
    }
    yield "ExpectColumnValuesToBeInSet", Severity.FAIL, statuses
    yield _between(Severity.FAIL, "num_rows", 0)
    ordered = {"column_A": "end_ns", "column_B": "start_ns", "or_equal": True}
    ordered |= {"ignore_row_if": "either_value_is_missing"}
    yield "ExpectColumnPairValuesAToBeGreaterThanB", Severity.FAIL, ordered
    usual_hz = pc.approximate_median(table["control_hz"]).as_py()
    if usual_hz is not None:
        slack = limits.rate_error.value * usual_hz
        yield _between(Severity.WARN, "control_hz", usual_hz - slack, usual_hz + slack)
    usual_s = pc.approximate_median(table[DURATION]).as_py()
    if usual_s is not None and table.num_rows > limits.length_min_episodes.value:
        ratio = limits.length_ratio.value
        yield _between(Severity.WARN, DURATION, usual_s / ratio, usual_s * ratio)
    yield "ExpectColumnValuesToNotBeNull", Severity.WARN, {"column": "task"}


def _between(severity: Severity, column: str, low: float, high: float | None = None) -> Expected:
    bounds = {"column": column, "min_value": low, "max_value": high}
    return "ExpectColumnValuesToBeBetween", severity, bounds


def _scalars(table: pa.Table) -> pa.Table:
    return table.select([f.name for f in table.schema if not pa.types.is_nested(f.type)])


def _with_steps(table: pa.Table) -> pa.Table:
    episode = table["episode_index"].to_numpy()
    is_first = np.concatenate([[True], np.diff(episode) != 0])[: len(episode)]
    for name, column in ((FRAME_STEP, "frame_index"), (TIME_STEP, "timestamp_ns")):
        values = table[column].cast(pa.int64()).fill_null(0).to_numpy()
        steps = np.concatenate([[0], np.diff(values)])[: len(values)]
        table = table.append_column(name, pa.array(steps, mask=is_first))
    return table


def _validate(
    name: str, table: pa.Table, expected: list[Expected], site: SiteRun | None
) -> SuiteResult:
    results, pages = run_suite(name, table, expected, site)
    return SuiteResult(
        suite=name,
        num_rows=table.num_rows,
        expectations=tuple(_result(result) for result in results),
        pages=pages,
    )


def _result(result: ExpectationValidationResult) -> ExpectationResult:
    config = result.expectation_config
    kwargs = config.kwargs
    columns = kwargs.get("column_list") or [
        kwargs[key] for key in ("column", "column_A", "column_B") if key in kwargs
    ]
    is_critical = config.severity.value == SEVERITY_NAMES[Severity.FAIL]
    return ExpectationResult(
        expectation=config.type,
        column=",".join(columns),
        ok=bool(result.success),
        num_unexpected=int((result.result or {}).get("unexpected_count") or 0),
        severity=Severity.FAIL if is_critical else Severity.WARN,
        message="; ".join(_messages(result.exception_info or {})),
    )


def _messages(info: Mapping[str, object]) -> Iterator[str]:
    """Yield what was raised: the library nests it by metric, or doesn't."""
    message = info.get("exception_message")
    if message:
        yield str(message)
    for value in info.values():
        if isinstance(value, Mapping):
            yield from _messages(value)
