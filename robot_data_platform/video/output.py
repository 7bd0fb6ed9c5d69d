"""Decoded frames as the pictures that training asks for: size, layout and number type."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import av
import numpy as np
import numpy.typing as npt
from av.video.reformatter import VideoReformatter

from robot_data_platform.core.gop import StreamFormat
from robot_data_platform.video.colour import SCALING, ColourTags, tags_of, to_rgb24, to_rgb_planes
from robot_data_platform.video.planes import plane_view, rgb_view

Array = npt.NDArray[np.generic]
Plane = npt.NDArray[np.uint8]
Frame: TypeAlias = av.VideoFrame
"""A decoded frame, for code that keeps frames without knowing what decoded them."""

RED_GREEN_BLUE = (2, 0, 1)
"""Which plane of a ``gbrp`` frame holds each channel."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PictureForm:
    """What a picture is to look like."""

    size: tuple[int, int] | None = None
    """Height and width to scale to; None = as stored."""
    dtype: Literal["uint8", "float32"] = "uint8"
    """``float32`` is in [0, 1]."""
    channels_first: bool = False
    """(3, H, W) and not (H, W, 3)."""

    def shape(self, stored: tuple[int, int]) -> tuple[int, int, int]:
        """Return the shape of a picture whose stored height and width are given."""
        height, width = self.size or stored
        return (3, height, width) if self.channels_first else (height, width, 3)


class PictureWriter:
    """Writes the frames of one kind of stream; keeps converters. One per thread."""

    def __init__(self, fmt: StreamFormat, form: PictureForm) -> None:
        self._tags: ColourTags = tags_of(fmt)
        self._shown = (fmt.height_px, fmt.width_px)
        self._is_padded = self._shown != (fmt.coded_height_px, fmt.coded_width_px)
        self._form = form
        self._put = _put_unit if form.dtype == "float32" else _put_as_is
        self._to_rgb, self._to_planes, self._scaler = (VideoReformatter() for _ in range(3))

    def write(self, frame: Frame, out: Array) -> None:
        """Convert, scale and crop a decoded frame into an array of the form's shape and dtype."""
        if self._form.channels_first and self._form.size is None:
            planes = to_rgb_planes(frame, self._tags, self._to_planes)
            if planes is not None:
                self._write_planes([plane_view(planes, n) for n in RED_GREEN_BLUE], out)
                return
        rgb = self._rgb(frame)
        if self._form.channels_first:
            self._write_planes([rgb[:, :, channel] for channel in range(3)], out)
        else:
            self._put(rgb, out)

    def _write_planes(self, planes: list[Plane], out: Array) -> None:
        _, height, width = out.shape
        for channel, plane in enumerate(planes):
            self._put(plane[:height, :width], out[channel])

    def _rgb(self, frame: Frame) -> Plane:
        height, width = self._shown
        size = self._form.size
        if size is None:
            return rgb_view(to_rgb24(frame, self._tags, self._to_rgb))[:height, :width]
        if not self._is_padded:
            return rgb_view(to_rgb24(frame, self._tags, self._scaler, SCALING, size))
        # What pads an odd picture to an even one must not be scaled into it.
        shown = rgb_view(to_rgb24(frame, self._tags, self._to_rgb))[:height, :width]
        cropped = av.VideoFrame.from_ndarray(np.ascontiguousarray(shown), format="rgb24")
        scaled = self._scaler.reformat(
            cropped, width=size[1], height=size[0], interpolation=SCALING, threads=1
        )
        return rgb_view(scaled)


def _put_as_is(values: Plane, out: Array) -> None:
    out[...] = values


def _put_unit(values: Plane, out: Array) -> None:
    np.divide(values, np.float32(255), out=out, dtype=np.float32)
