"""Still pictures: those that carry their own number, and of more bits than 8."""

from __future__ import annotations

import io
from fractions import Fraction
from typing import TYPE_CHECKING

import av
from PIL import Image

from robot_data_platform.core.recording import DepthPicture
from robot_data_platform_tests.formats.coded_video import coded_picture

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


def png(code: int) -> bytes:
    """Return a PNG of the picture that spells ``code``."""
    buffer = io.BytesIO()
    Image.fromarray(coded_picture(code)).save(buffer, "PNG")
    return buffer.getvalue()


def deep_rgb_png() -> bytes:
    """Return a PNG of 48 bits a pixel, which Pillow can't write."""
    encoder = av.CodecContext.create("png", "w")
    assert isinstance(encoder, av.VideoCodecContext)
    encoder.width, encoder.height, encoder.pix_fmt = 4, 4, "rgb48be"
    encoder.time_base = Fraction(1, 30)
    (packet,) = encoder.encode(av.VideoFrame(4, 4, "rgb48be"))
    return bytes(packet)


def depth_png(depth: DepthPicture) -> bytes:
    """Return a depth map as a PNG of 16-bit grey."""
    return depth_picture(depth, "PNG")


def depth_picture(depth: npt.NDArray[np.generic], kind: str) -> bytes:
    """Return a depth map as a PNG or TIFF of its own kind of number."""
    buffer = io.BytesIO()
    Image.fromarray(depth).save(buffer, kind)
    return buffer.getvalue()
