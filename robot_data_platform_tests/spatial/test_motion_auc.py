from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robot_data_platform.spatial.motion_auc import auc_of_counts, motion_auc
from robot_data_platform_tests.spatial.test_edge_lock import disc, picture_of

pytest.importorskip("cv2", reason="it widens masks")

levels = st.lists(st.integers(0, 9), min_size=1, max_size=30)


@given(positive=levels, negative=levels)
def test_the_auc_is_the_share_of_pairs_that_are_in_order(
    positive: list[int], negative: list[int]
) -> None:
    wins = np.sign(np.subtract.outer(positive, negative)) / 2 + 0.5
    counts = [np.bincount(values, minlength=10) for values in (positive, negative)]
    assert auc_of_counts(*counts) == pytest.approx(wins.mean())


def moved(
    by_px: float, brightness: float = 1.0
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8]]:
    earlier, later = picture_of(disc(60, 60, 25), 1), picture_of(disc(60 + by_px, 60, 25), 2)
    return earlier[None], np.clip(later * brightness, 0, 255).astype(np.uint8)[None]


def masks(by_px: float) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    return disc(60, 60, 25)[None], disc(60 + by_px, 60, 25)[None]


@pytest.mark.parametrize("brightness", [1.0, 0.8, 1.2])
def test_change_where_the_robot_moves_scores_high_whatever_the_lamps_do(brightness: float) -> None:
    found = motion_auc(*moved(8, brightness), *masks(8))
    assert found is not None
    assert found.auc > 0.98


def test_change_elsewhere_scores_low() -> None:
    found = motion_auc(*moved(8), *masks(-8))
    assert found is not None
    assert found.auc < 0.85


def test_a_robot_at_rest_says_nothing() -> None:
    assert motion_auc(*moved(0), *masks(0)) is None


def test_a_robot_that_fills_the_picture_says_nothing() -> None:
    whole = np.ones((1, 120, 160), dtype=np.bool_)
    assert motion_auc(*moved(8), whole, masks(0)[0]) is None
