from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from robot_data_platform.core.rotation import Float64Array
from robot_data_platform.spatial.projection import Pinhole
from robot_data_platform.spatial.time_lag import (
    image_path_px,
    shown_motion,
    time_lag,
    visible_pixels,
)
from robot_data_platform_tests.spatial.scenes import lens_px

ROW_NS = np.arange(0, 5_000_000_000, 10_000_000, dtype=np.int64)
FRAME_NS = np.arange(0, 5_000_000_000, 33_333_333, dtype=np.int64)


def way_px(t_ns: npt.NDArray[np.int64]) -> Float64Array:
    """Return how far something that starts and stops three times has gone."""
    time = t_ns / 1e9
    return np.asarray(80 * (time - np.sin(2 * np.pi * time * 0.8) / (2 * np.pi * 0.8)) + 0 * time)


@pytest.mark.parametrize("lag_ms", [-180, -40, 0, 3, 65, 200])
@pytest.mark.parametrize("origin_ns", [0, 1_772_010_251_000_004_204])
def test_a_lag_is_found_to_a_few_milliseconds(lag_ms: int, origin_ns: int) -> None:
    shown = np.diff(way_px(FRAME_NS - lag_ms * 1_000_000))
    noisy = shown + np.abs(np.random.default_rng(0).normal(0, 0.1, len(shown)))
    found = time_lag(way_px(ROW_NS), ROW_NS + origin_ns, noisy, FRAME_NS + origin_ns)
    assert found is not None
    assert found.lag_ms == pytest.approx(lag_ms, abs=5)
    assert found.correlation > 0.95


def test_motion_of_something_else_has_a_low_correlation() -> None:
    other = np.random.default_rng(1).gamma(1.0, 1.0, len(FRAME_NS) - 1)
    found = time_lag(way_px(ROW_NS), ROW_NS, other, FRAME_NS)
    assert found is not None
    assert found.correlation < 0.5


def test_a_robot_at_rest_says_nothing() -> None:
    shown = np.diff(way_px(FRAME_NS))
    assert time_lag(np.zeros(len(ROW_NS)), ROW_NS, shown, FRAME_NS) is None
    assert time_lag(way_px(ROW_NS), ROW_NS, np.zeros(len(shown)), FRAME_NS) is None


def test_few_frames_say_nothing() -> None:
    assert time_lag(way_px(ROW_NS), ROW_NS, np.ones(5), FRAME_NS[:6]) is None


def test_a_path_is_the_mean_way_of_the_points_that_are_seen() -> None:
    pixels = np.array([[[0, 0], [5, 5]], [[3, 4], [5, 6]], [[3, 4], [np.nan, np.nan]]], dtype=float)
    assert image_path_px(pixels).tolist() == [0, 3, 3]


def test_points_outside_the_picture_are_not_seen() -> None:
    lens = Pinhole(intrinsics_px=lens_px(100, 100, 90), width_px=100, height_px=100)
    pixels = visible_pixels(np.array([[[0, 0, 1], [2, 0, 1], [0, 0, -1.0]]]), lens)
    assert np.isfinite(pixels).all(axis=2).tolist() == [[True, False, False]]


def test_small_changes_are_no_motion() -> None:
    greys = np.full((3, 72, 96), 90, dtype=np.uint8)
    greys[1] += 3
    greys[2, :36] += 23
    assert shown_motion(greys).tolist() == pytest.approx([0, (20 - 4) / 2])
