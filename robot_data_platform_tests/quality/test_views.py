"""A camera's view is told from that of another camera, of exchanged channels, of a moved one."""

from __future__ import annotations

import numpy as np
import pytest

from robot_data_platform.quality.look import (
    LookMeter,
    Thumbnail,
    sampled_gops,
    sharpness,
    thumbnail,
)
from robot_data_platform.quality.rules.views import (
    UsualView,
    camera_is_the_named_one,
    channels_are_in_order,
    usual_view,
    view_is_as_before,
)
from robot_data_platform.quality.thresholds import THRESHOLDS


def scene(seed: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """Return a room's small picture: reddish wood and whatever stands on it."""
    rng = np.random.default_rng(seed)
    shades, hues = rng.normal(0, 30, (12, 16, 1)), rng.normal(0, 8, (12, 16, 3))
    return np.asarray(np.array([150, 100, 60]) + shades + hues)


def view(room: int, take: int, brighter: float = 0) -> Thumbnail:
    """Return a take in a room: the arm is elsewhere, the light a little different."""
    rng = np.random.default_rng(1000 * room + take)
    shown = scene(room) + rng.normal(0, 3, (12, 16, 3)) + brighter
    return np.clip(np.rint(shown), 0, 255).astype(np.uint8)


TOP, WRIST = 1, 2
USUAL: dict[str, UsualView] = {
    name: usual_view(np.stack([view(room, take) for take in range(5)]))
    for name, room in (("top", TOP), ("wrist", WRIST))
}


@pytest.mark.parametrize("brighter", [-20, 0, 20])
def test_a_camera_s_own_view_breaks_no_rule(brighter: float) -> None:
    mine = view(TOP, 9, brighter)
    assert camera_is_the_named_one("top", mine, USUAL, THRESHOLDS) == []
    assert channels_are_in_order("top", mine, USUAL, THRESHOLDS) == []
    assert view_is_as_before("top", mine, USUAL["top"], THRESHOLDS) == []


def test_pictures_of_another_camera_are_told_with_its_name() -> None:
    mine = view(WRIST, 9)
    (finding,) = camera_is_the_named_one("top", mine, USUAL, THRESHOLDS)
    assert "look like those of camera 'wrist'" in finding.message
    assert channels_are_in_order("top", mine, USUAL, THRESHOLDS) == []


def test_exchanged_channels_are_told_and_are_no_other_camera() -> None:
    mine = view(TOP, 9)[:, :, ::-1].copy()
    (finding,) = channels_are_in_order("top", mine, USUAL, THRESHOLDS)
    assert "red and blue exchanged" in finding.message
    assert camera_is_the_named_one("top", mine, USUAL, THRESHOLDS) == []


def test_a_view_of_another_room_is_told_as_moved_only() -> None:
    mine = view(3, 0)
    (finding,) = view_is_as_before("top", mine, USUAL["top"], THRESHOLDS)
    assert finding.value == pytest.approx(45, abs=20)
    assert camera_is_the_named_one("top", mine, USUAL, THRESHOLDS) == []
    assert channels_are_in_order("top", mine, USUAL, THRESHOLDS) == []


def test_two_episodes_do_not_make_a_usual_view() -> None:
    few = {
        name: usual_view(np.stack([view(r, 0), view(r, 1)])) for name, r in (("top", 1), ("w", 2))
    }
    assert camera_is_the_named_one("top", view(WRIST, 9), few, THRESHOLDS) == []
    assert view_is_as_before("top", view(WRIST, 9), few["top"], THRESHOLDS) == []


def test_a_thumbnail_is_the_mean_of_each_part() -> None:
    parts = np.random.default_rng(0).integers(0, 255, (12, 16, 3)).astype(np.uint8)
    picture = parts.repeat(10, axis=0).repeat(7, axis=1)
    np.testing.assert_array_equal(thumbnail(picture), parts)


def test_a_picture_smaller_than_a_thumbnail_is_repeated() -> None:
    assert thumbnail(np.full((5, 6, 3), 9, np.uint8)).tolist() == np.full((12, 16, 3), 9).tolist()


@pytest.mark.parametrize(
    ("num_gops", "expected"), [(1, [0]), (3, [0, 1, 2]), (151, range(0, 151, 10))]
)
def test_the_sampled_gops_are_spread_evenly(num_gops: int, expected: list[int]) -> None:
    assert sorted(sampled_gops(num_gops)) == list(expected)


def test_a_step_is_sharp_and_a_wide_slope_is_not() -> None:
    across = np.arange(256)
    is_light, ramp = across // 32 % 2 == 1, np.abs(across % 128 - 64)
    steps = np.where(is_light[:, None] ^ is_light, 200, 40).astype(np.uint8)
    slopes = (ramp[:, None] + ramp).astype(np.uint8)
    both = [sharpness(steps), sharpness(slopes)]
    assert both[0] == pytest.approx(1 / 8, rel=0.05)
    assert both[1] == pytest.approx(1 / 64, rel=0.1)


def test_what_is_not_sampled_is_not_known() -> None:
    look = LookMeter().look()
    assert (look.thumbnail, look.num_sampled, np.isnan(look.sharpness)) == (None, 0, True)
