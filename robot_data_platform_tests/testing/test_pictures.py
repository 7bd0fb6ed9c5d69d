from __future__ import annotations

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from robot_data_platform.errors import InvalidInputError
from robot_data_platform.testing.pictures import numbered_picture, read_number


@given(st.integers(0, 65_535), st.integers(24, 90), st.integers(32, 130))
def test_a_picture_shows_its_number_at_any_size(number: int, height: int, width: int) -> None:
    picture = numbered_picture(number, height, width)
    assert picture.shape == (height, width, 3)
    assert picture.dtype == np.uint8
    assert read_number(picture) == number


@pytest.mark.parametrize("number", [0, 1, 255, 256, 43_690, 65_535])
def test_the_number_survives_a_poor_jpeg(number: int) -> None:
    file = io.BytesIO()
    Image.fromarray(numbered_picture(number, 48, 64)).save(file, "JPEG", quality=20)
    assert read_number(np.asarray(Image.open(file))) == number


def test_neighbours_differ_below_the_number_too() -> None:
    first, second = (numbered_picture(number, 48, 64)[24:] for number in (7, 8))
    assert not np.array_equal(first, second)


def test_a_number_that_has_no_room_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="65536 at 64x48"):
        numbered_picture(65_536, 48, 64)
    with pytest.raises(InvalidInputError, match="31x48"):
        numbered_picture(0, 48, 31)
