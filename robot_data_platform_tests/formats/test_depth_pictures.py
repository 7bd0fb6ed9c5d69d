"""Encoded depth maps come back value by value; anything else is refused with what it is."""

from __future__ import annotations

import io
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from PIL import Image

from robot_data_platform.core.recording import DepthPicture
from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform.formats.depth_pictures import decode_depth, is_depth_picture
from robot_data_platform_tests.depth_maps import depth_map
from robot_data_platform_tests.formats.coded_video import coded_picture


def encoded(array: np.ndarray, kind: str = "PNG") -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(array).save(buffer, kind)
    return buffer.getvalue()


SIZES = st.tuples(st.integers(1, 20), st.integers(1, 20))


@pytest.mark.parametrize("kind", ["PNG", "TIFF"])
@given(depth=npst.arrays(np.uint16, SIZES))
def test_every_value_comes_back(kind: str, depth: DepthPicture) -> None:
    data = encoded(depth, kind)
    assert is_depth_picture(data)
    np.testing.assert_array_equal(decode_depth(data, "p"), depth)


def test_a_tiff_of_either_order_of_bytes_is_read() -> None:
    data = encoded(depth_map(3).astype(">u2"), "TIFF")
    assert data.startswith(b"MM")
    np.testing.assert_array_equal(decode_depth(data, "p"), depth_map(3))


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"", "0 bytes"),
        (encoded(coded_picture(1)), "mode 'RGB'"),
        (encoded(coded_picture(1), "JPEG"), "that start with 'ff d8"),
        (encoded(depth_map(1))[:-40], "damaged"),
        (encoded(depth_map(1).astype(np.float32), "TIFF"), "mode 'F'"),
        (encoded(coded_picture(1), "TIFF"), "mode 'RGB'"),
        (encoded(depth_map(1), "TIFF")[:-900], "damaged"),
    ],
    ids=["empty", "rgb", "jpeg", "cut", "metres", "rgb tiff", "cut tiff"],
)
def test_anything_else_is_refused_with_what_it_is(data: bytes, what: str) -> None:
    assert not is_depth_picture(data) or what == "damaged"
    with pytest.raises(DataFaultError, match="p is no readable depth map") as caught:
        decode_depth(data, "p")
    assert what in str(caught.value)
    assert caught.value.kind is ErrorKind.UNREADABLE_FILE


@pytest.mark.parametrize("kind", ["PNG", "TIFF"])
def test_damage_is_told_and_never_anything_else(kind: str) -> None:
    whole, dice = encoded(depth_map(1), kind), random.Random(0)
    for _ in range(300):
        data = bytearray(whole)
        data[dice.randrange(min(400, len(data)))] ^= 1 << dice.randrange(8)
        try:
            decode_depth(bytes(data[: dice.choice([len(data), dice.randrange(len(data))])]), "p")
        except DataFaultError as err:
            assert err.kind is ErrorKind.UNREADABLE_FILE  # noqa: PT017 - some damage does no harm
