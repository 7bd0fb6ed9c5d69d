from __future__ import annotations

import math

import numpy as np
import pytest

from robot_data_platform.video.fidelity import Fidelity

GREY = np.full((4, 5, 3), 100, np.uint8)


def test_nothing_compared_has_no_ratio() -> None:
    assert Fidelity().psnr_db is None


def test_equal_pictures_count_as_a_hundred_decibels() -> None:
    fidelity = Fidelity()
    fidelity.compare(GREY, GREY)
    assert fidelity.psnr_db == 100


def test_the_error_is_averaged_over_all_pictures_before_the_logarithm() -> None:
    fidelity = Fidelity()
    fidelity.compare(GREY, GREY + 2)
    fidelity.compare(GREY, GREY - 4)
    assert fidelity.psnr_db == pytest.approx(10 * math.log10(255**2 / 10))
