"""Planes of frames as arrays, and frames made of arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import av
import numpy as np
import numpy.typing as npt

Plane = npt.NDArray[np.uint8]
Sample = TypeVar("Sample", bound=np.generic)


def plane_view(frame: av.VideoFrame, index: int = 0, bytes_per_pixel: int = 1) -> Plane:
    """Return a plane of a frame as a (rows, columns * bytes_per_pixel) view without line padding.

    The view shares the frame's memory and is valid as long as the frame is.
    """
    return _lines(frame)[index][:, : frame.planes[index].width * bytes_per_pixel]


def plane_views(frame: av.VideoFrame) -> list[Plane]:
    """Return every plane of a frame of 8-bit samples as `plane_view` does."""
    widths = [plane.width for plane in frame.planes]
    return [lines[:, :width] for lines, width in zip(_lines(frame), widths, strict=True)]


def rgb_view(frame: av.VideoFrame) -> Plane:
    """Return an ``rgb24`` frame as a (H, W, 3) view."""
    return plane_view(frame, bytes_per_pixel=3).reshape(frame.height, frame.width, 3)


def without_tags(frame: av.VideoFrame) -> av.VideoFrame:
    """Return a copy of a frame's samples that has none of its tags.

    Codecs disagree on the chroma siting of untagged streams, and converters heed what they say.
    """
    copy = av.VideoFrame(frame.width, frame.height, frame.format.name)
    for source, target in zip(_lines(frame), _lines(copy), strict=True):
        width_bytes = min(source.shape[1], target.shape[1])
        target[:, :width_bytes] = source[:, :width_bytes]
    return copy


def luma(frame: av.VideoFrame) -> Plane:
    """Return the luma of a YUV or grey frame, (H, W) uint8, in the range that it is coded in.

    Deeper pictures lose their low bits. Of RGB frames it is swscale's grey.
    """
    if frame.format.is_rgb:
        frame = frame.reformat(format="gray")
    bits = frame.format.components[0].bits
    if bits == 8:
        return plane_view(frame)
    deep = plane_view(frame, bytes_per_pixel=2).view(np.uint16)
    return (deep >> (bits - 8)).astype(np.uint8)


def even_yuv420p(planes: Sequence[Plane]) -> av.VideoFrame:
    """Return three planes as a ``yuv420p`` frame of even size.

    An odd picture is padded by repeating its last column and row; its chroma planes, rounded up,
    have the right size already.
    """
    rows, columns = planes[0].shape
    frame = av.VideoFrame(columns + columns % 2, rows + rows % 2, "yuv420p")
    for index, plane in enumerate(planes):
        pad_to(plane_view(frame, index), plane)
    return frame


def pad_to(target: npt.NDArray[Sample], plane: npt.NDArray[Sample]) -> None:
    """Write a plane to a larger one, and repeat its last column and row to the border."""
    rows, columns = plane.shape
    target[:rows, :columns] = plane
    target[:rows, columns:] = plane[:, -1:]
    target[rows:] = target[rows - 1 : rows]


def _lines(frame: av.VideoFrame) -> list[Plane]:
    """Return the planes with their line padding, each (rows, bytes per line), top row first."""
    return [
        np.frombuffer(memoryview(plane), np.uint8).reshape(plane.height, abs(plane.line_size))[
            :: 1 if plane.line_size > 0 else -1
        ]
        for plane in frame.planes
    ]
