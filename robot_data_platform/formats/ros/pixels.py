"""Pixels of raw pictures as RGB, and of depth maps as they are, by the name of their encoding.

References
----------
ros/common_msgs, sensor_msgs/image_encodings.h; foxglove.RawImage, field ``data``.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from robot_data_platform.core.recording import DepthPicture, Picture

Bytes = npt.NDArray[np.uint8]
UNSTATED_ORDER = "8UC3"
"""Encoding of three channels whose order nothing states."""
DEPTH = "16UC1"
"""Encoding of depth maps in whole numbers."""


def _as_is(pixels: Bytes) -> Picture:
    return pixels[:, :, :3]


def _reversed(pixels: Bytes) -> Picture:
    return pixels[:, :, 2::-1]


def _gray(pixels: Bytes) -> Picture:
    return np.repeat(pixels, 3, axis=2)


def _uyvy(pixels: Bytes) -> Picture:
    return _from_yuv422(luma=pixels[:, :, 1], chroma=pixels[:, :, 0])


def _yuyv(pixels: Bytes) -> Picture:
    return _from_yuv422(luma=pixels[:, :, 0], chroma=pixels[:, :, 1])


def _from_yuv422(luma: Bytes, chroma: Bytes) -> Picture:
    """Return RGB of BT.601 limited range, as OpenCV and ROS' cv_bridge convert these encodings.

    References
    ----------
    ITU-R BT.601-7, clause 2.5.
    """
    y = (luma.astype(np.float32) - 16) * (255 / 219)
    u, v = (
        (chroma[:, start::2].repeat(2, axis=1).astype(np.float32) - 128) * (255 / 224)
        for start in (0, 1)
    )
    rgb = np.stack([y + 1.402 * v, y - 0.344136 * u - 0.714136 * v, y + 1.772 * u], axis=2)
    rounded: Picture = np.rint(rgb).clip(0, 255).astype(np.uint8)
    return rounded


Convert = Callable[[Bytes], Picture]
_BY_ENCODING: dict[str, tuple[int, Convert]] = {
    "rgb8": (3, _as_is),
    "bgr8": (3, _reversed),
    UNSTATED_ORDER: (3, _as_is),
    "rgba8": (4, _as_is),
    "bgra8": (4, _reversed),
    "mono8": (1, _gray),
    "8UC1": (1, _gray),
    "yuv422": (2, _uyvy),
    "uyvy": (2, _uyvy),
    "yuv422_yuy2": (2, _yuyv),
    "yuyv": (2, _yuyv),
}
"""Bytes per pixel and conversion of (H, W, bytes per pixel) to RGB."""
_REASONS = {
    "mono16": "16 bits of grey, which 8-bit video would spoil",
    "32FC1": "depth in floats, which 16 bits would spoil",
}


def why_not_converted(encoding: str) -> str | None:
    """Return why pictures of an encoding are left out, or None where they are converted."""
    if encoding in _BY_ENCODING or encoding == DEPTH:
        return None
    if encoding.startswith("bayer_"):
        return f"encoding {encoding!r} is a sensor's raw mosaic, whose demosaicing nothing states"
    reason = _REASONS.get(encoding, f"expected one of {', '.join(sorted(_BY_ENCODING))}")
    return f"encoding {encoding!r}: {reason}"


def size_fault(encoding: str, width: int, height: int, step: int, num_bytes: int) -> str | None:
    """Return what is wrong with a raw picture's declared size, or None where its bytes fit it."""
    row_bytes = width * (2 if encoding == DEPTH else _BY_ENCODING[encoding][0])
    step = step or row_bytes
    is_paired = width % 2 == 0 or not encoding.startswith(("yuv", "uyvy"))
    if min(width, height) < 1 or step < row_bytes or not is_paired:
        return f"{width}x{height} pixels in rows of {step} bytes"
    if step * height != num_bytes:
        return f"{num_bytes} bytes for {height} rows of {step} bytes"
    return None


def to_rgb(data: bytes | Bytes, encoding: str, width: int, height: int) -> Picture:
    """Return a raw picture whose size was checked as RGB.

    Parameters
    ----------
    data : bytes or ndarray of uint8
        Rows of equal length, with padding at the end of each or without.
    encoding : str
        One that ``why_not_converted`` has no reason against.
    width, height : int
        Size in pixels.

    Returns
    -------
    ndarray of uint8, shape (height, width, 3)
        RGB; an alpha channel is left out.
    """
    pixel_bytes, convert = _BY_ENCODING[encoding]
    rows = np.frombuffer(data, np.uint8).reshape(height, -1)
    pixels = rows[:, : width * pixel_bytes].reshape(height, width, pixel_bytes)
    return np.ascontiguousarray(convert(pixels))


def to_depth(data: bytes | Bytes, width: int, height: int, *, is_bigendian: bool) -> DepthPicture:
    """Return a raw depth map whose size was checked, (height, width) uint16, values as recorded."""
    rows = np.frombuffer(data, np.uint8).reshape(height, -1)
    samples = np.ascontiguousarray(rows[:, : 2 * width]).view(">u2" if is_bigendian else "<u2")
    return samples.astype(np.uint16)
