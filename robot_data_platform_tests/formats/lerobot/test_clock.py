"""Row times are exact where the float seconds allow it, and as recorded where not."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robot_data_platform.core.finding import Severity
from robot_data_platform.errors import DataFaultError
from robot_data_platform.formats.lerobot.clock import row_times

ROWS = np.arange(348, dtype=np.int64)


@given(st.integers(1, 200_000), st.sampled_from([10, 15, 25, 30, 50, 60, 100]))
def test_float32_seconds_of_any_length_come_out_exact(first: int, fps: int) -> None:
    frames = np.arange(first, first + 50, dtype=np.int64)
    quotient = (frames / fps).astype(np.float32)
    product = frames.astype(np.float32) * np.float32(1 / fps)
    exact = [(2 * f * 1_000_000_000 + fps) // (2 * fps) for f in frames.tolist()]
    for seconds in (quotient, product):
        times, findings = row_times(frames, seconds.astype(np.float64), Fraction(fps), "E")
        assert (times.tolist(), findings) == (exact, ())


def test_a_missing_column_means_the_declared_rate() -> None:
    times, findings = row_times(ROWS, None, Fraction(20), "E")
    assert (times[347], findings) == (347 * 50_000_000, ())


@pytest.mark.parametrize(
    ("seconds", "rule", "severity", "value"),
    [
        (ROWS / 20 + 0.05, "time_offset_constant", Severity.INFO, 50.0),
        (ROWS * 0.0545, "rate_as_declared", Severity.WARN, 1 / 0.0545),
        (ROWS / 20 + 0.002 * (ROWS % 2), "time_on_grid", Severity.INFO, 2.0),
    ],
)
def test_times_off_the_grid_are_kept_and_told_with_the_number(
    seconds: npt.NDArray[np.float64], rule: str, severity: Severity, value: float
) -> None:
    times, (finding,) = row_times(ROWS, seconds, Fraction(20), "E")
    np.testing.assert_array_equal(times, np.rint(seconds * 1e9).astype(np.int64))
    assert (finding.rule, finding.severity) == (rule, severity)
    assert finding.value == pytest.approx(value)


def test_one_row_off_the_grid_keeps_all_as_recorded() -> None:
    seconds = ROWS / 20
    seconds[100] += 0.001
    times, _ = row_times(ROWS, seconds, Fraction(20), "E")
    assert times[100] == 5_001_000_000


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_row_without_a_time_is_refused(bad: float) -> None:
    seconds = ROWS / 20
    seconds[17] = bad
    with pytest.raises(DataFaultError, match="at row 17"):
        row_times(ROWS, seconds, Fraction(20), "E")


def test_seconds_since_1970_in_float32_are_refused_as_standing_still() -> None:
    seconds = (1_772_010_251 + ROWS / 30).astype(np.float32).astype(np.float64)
    with pytest.raises(DataFaultError, match="does not increase at row 1"):
        row_times(ROWS, seconds, Fraction(30), "E")
