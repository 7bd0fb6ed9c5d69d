from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

from robot_data_platform.errors import ErrorKind, InvalidInputError
from robot_data_platform.testing.pictures import numbered_picture
from robot_data_platform.video.picture import MAX_SHEET_BYTES, contact_sheet, encode_png


def test_a_png_holds_the_picture_exactly() -> None:
    picture = numbered_picture(7, 49, 65)
    assert np.array_equal(np.asarray(Image.open(io.BytesIO(encode_png(picture)))), picture)


@pytest.mark.parametrize("num_pictures", [1, 4, 5, 12])
def test_a_sheet_of_noise_stays_below_its_limit(num_pictures: int) -> None:
    noise = np.random.default_rng(0).integers(0, 256, (480, 640, 3)).astype(np.uint8)
    sheet = contact_sheet([noise] * num_pictures)
    assert len(sheet) <= MAX_SHEET_BYTES == 20_000
    assert Image.open(io.BytesIO(sheet)).format == "JPEG"


def test_a_sheet_shows_pictures_in_rows_of_four() -> None:
    grey = [np.full((60, 80, 3), 20 * number, np.uint8) for number in range(6)]
    shown = np.asarray(Image.open(io.BytesIO(contact_sheet(grey))))
    assert shown.shape == (120, 320, 3)
    tiles = shown[30::60, 40::80, 0].ravel()[:6].astype(int)
    assert np.abs(tiles - np.arange(6) * 20).max() <= 3


def test_pictures_of_different_sizes_keep_their_shape() -> None:
    white = [np.full(size, 255, np.uint8) for size in ((40, 80, 3), (80, 40, 3))]
    shown = np.asarray(Image.open(io.BytesIO(contact_sheet(white))))
    assert shown.shape == (160, 160, 3)
    assert shown[100, 40].max() < 20
    assert shown[150, 120].min() > 235


def test_a_limit_that_can_not_be_met_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="limit of 10 bytes") as caught:
        contact_sheet([numbered_picture(0, 48, 64)], max_bytes=10)
    assert caught.value.kind is ErrorKind.INVALID_ARGUMENT
    with pytest.raises(InvalidInputError, match="no pictures"):
        contact_sheet([])
