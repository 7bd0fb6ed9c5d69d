"""Measurements on pictures, against plain means."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from robot_data_platform.core.recording import Picture
from robot_data_platform.quality.picture_meter import (
    PictureMeter,
    block_sums,
    most_changed,
    window_frames,
)

SIDES = st.integers(8, 40)
PICTURES = st.tuples(SIDES, SIDES).flatmap(lambda shape: arrays(np.uint8, shape))


def flat(level: int) -> Picture:
    return np.full((16, 32), level, np.uint8)


@given(PICTURES)
def test_block_sums_are_plain_sums_over_every_second_row(picture: Picture) -> None:
    rows, columns = (side // 8 for side in picture.shape)
    blocks = picture[: rows * 8, : columns * 8].reshape(rows, 8, columns, 8)[:, ::2]
    assert block_sums(picture).tolist() == blocks.sum(axis=(1, 3), dtype=int).reshape(-1).tolist()


def test_a_white_block_does_not_overflow() -> None:
    assert block_sums(np.full((8, 8), 255, np.uint8)).tolist() == [32 * 255]


def test_a_picture_below_a_block_is_padded() -> None:
    assert block_sums(np.full((4, 6), 7, np.uint8)).tolist() == [32 * 7]


def test_rows_with_padding_behind_them_are_read_right() -> None:
    wide = np.arange(16 * 40, dtype=np.uint8).reshape(16, 40)
    assert block_sums(wide[:, :24]).tolist() == block_sums(wide[:, :24].copy()).tolist()


def test_change_is_that_of_the_most_changed_thousandth() -> None:
    before = np.zeros(5000, np.int16)
    after = before.copy()
    after[:5] = 32 * 9
    assert most_changed(before, after) == 0
    after[5] = 32 * 4
    assert most_changed(before, after) == 4


def test_change_is_told_over_one_frame_and_over_a_window() -> None:
    meter = PictureMeter(5, window=3)
    for level in (10, 12, 15, 19, 24):
        meter.add(flat(level))
    np.testing.assert_array_equal(meter.change, [np.nan, 2, 3, 4, 5])
    np.testing.assert_array_equal(meter.window_change, [np.nan, np.nan, np.nan, 9, 12])


def test_a_frame_left_out_makes_its_changes_unknown() -> None:
    meter = PictureMeter(5, window=2)
    meter.add(flat(10))
    meter.add(flat(12))
    meter.skip(1)
    meter.add(flat(19))
    meter.add(flat(24))
    np.testing.assert_array_equal(meter.change, [np.nan, 2, np.nan, np.nan, 5])
    np.testing.assert_array_equal(meter.window_change, [np.nan, np.nan, np.nan, 7, np.nan])


def test_percentiles_are_those_of_the_blocks() -> None:
    meter = PictureMeter(1, window=2)
    levels = np.arange(200, dtype=np.uint8)
    meter.add(np.repeat(np.repeat(levels, 8)[None], 8, axis=0))
    dark, middle, bright = meter.percentiles[0]
    assert (dark, middle, bright) == pytest.approx((9, 99, 197), abs=1)


@pytest.mark.parametrize(("fps", "expected"), [(30, 15), (15, 8), (10, 5), (100, 50), (2, 4)])
def test_a_window_lasts_half_a_second_and_four_frames(fps: int, expected: int) -> None:
    pts_ns = np.arange(20, dtype=np.int64) * 1_000_000_000 // fps
    assert window_frames(pts_ns) == expected


def test_a_stream_of_one_frame_has_a_window() -> None:
    assert window_frames(np.zeros(1, np.int64)) == 4
