"""Encoded pictures are whole, 8 bits deep, and of sane size."""

from __future__ import annotations

import io
import zlib

import numpy as np
import pytest
from PIL import Image

from robot_data_platform.errors import DataFaultError
from robot_data_platform.formats.pictures import decode_picture
from robot_data_platform_tests.formats.coded_video import coded_picture
from robot_data_platform_tests.formats.png import deep_rgb_png


def encoded(array: np.ndarray, kind: str = "PNG") -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(array).save(buffer, kind)
    return buffer.getvalue()


def test_png_comes_back_exactly() -> None:
    np.testing.assert_array_equal(
        decode_picture(encoded(coded_picture(77)), "p"), coded_picture(77)
    )


def test_gray_becomes_three_channels_and_alpha_is_left_out() -> None:
    gray = np.arange(64, dtype=np.uint8).reshape(8, 8)
    np.testing.assert_array_equal(decode_picture(encoded(gray), "p")[..., 1], gray)
    rgba = np.dstack([coded_picture(5), np.zeros((48, 64), np.uint8)])
    np.testing.assert_array_equal(decode_picture(encoded(rgba), "p"), coded_picture(5))


def test_zeros_after_the_end_are_padding() -> None:
    data = encoded(coded_picture(9), "JPEG")
    np.testing.assert_array_equal(decode_picture(data + bytes(99), "p"), decode_picture(data, "p"))


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"", "0 bytes"),
        (b"BM" + bytes(100), "102 bytes that start with '42 4d"),
        (encoded(coded_picture(1))[:-40], "damaged"),
        (encoded(np.zeros((4, 4), np.uint16)), "16 bits a sample"),
        (deep_rgb_png(), "16 bits a sample"),
    ],
    ids=["empty", "bitmap", "cut", "16 bits", "16 bits of colour"],
)
def test_anything_else_is_refused_with_what_it_is(data: bytes, what: str) -> None:
    with pytest.raises(DataFaultError, match="p is no readable picture") as caught:
        decode_picture(data, "p")
    assert what in str(caught.value)


def test_a_picture_that_would_fill_the_memory_is_refused() -> None:
    header = b"IHDR" + (60000).to_bytes(4, "big") * 2 + b"\x08\x02\x00\x00\x00"
    chunk = (13).to_bytes(4, "big") + header + zlib.crc32(header).to_bytes(4, "big")
    chunk += (20).to_bytes(4, "big") + b"IDAT"
    with pytest.raises(DataFaultError, match="exceeds limit"):
        decode_picture(b"\x89PNG\r\n\x1a\n" + chunk + bytes(20), "p")
