from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robot_data_platform.core.peak import peak_shift


@given(st.floats(-0.5, 0.5), st.floats(0.1, 10), st.floats(-5, 5))
def test_the_peak_of_a_parabola_is_found_between_its_samples(
    shift: float, bend: float, height: float
) -> None:
    place = np.arange(-3.0, 4.0)
    assert peak_shift(height - bend * (place - shift) ** 2, 3) == pytest.approx(shift, abs=1e-6)


@pytest.mark.parametrize("best", [0, 2])
def test_a_peak_at_an_end_is_where_the_sample_is(best: int) -> None:
    assert peak_shift(np.array([3.0, 1.0, 3.0]), best) == 0


def test_what_does_not_bend_has_no_peak_between() -> None:
    assert peak_shift(np.array([2.0, 2.0, 2.0]), 1) == 0
