"""Decoded frames as the pictures that training asks for: size, layout and number type."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

import av
import numpy as np
import numpy.typing as npt
from av.video.reformatter import VideoReformatter

from robot_data_platform.core.gop import StreamFormat
from robot_data_platform.video.colour import SCALING, ColourTags, tags_of, to_rgb24, to_rgb_planes
from robot_data_platform.video.depth import depth_view, nearest
from robot_data_platform.video.planes import plane_views, rgb_view

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
    """Of colour: ``float32`` is in [0, 1]. Depth is uint16 in place of uint8, and its float32 is in
    the units that were recorded."""
    channels_first: bool = False
    """Channels before height and width, and not behind them: 3 of colour, 1 of depth."""

    def shape(self, stored: tuple[int, int], *, is_depth: bool = False) -> tuple[int, int, int]:
        """Return the shape of a picture whose stored height and width are given."""
        height, width = self.size or stored
        channels = 1 if is_depth else 3
        return (channels, height, width) if self.channels_first else (height, width, channels)

    def array_dtype(self, *, is_depth: bool) -> str:
        """Return the dtype of the pictures of a camera."""
        return "uint16" if is_depth and self.dtype == "uint8" else self.dtype

    def shrinks(self, fmt: StreamFormat) -> bool:
        """Return whether a picture takes less memory as converted, in RGB, than as decoded.

        Depth is not converted before it is put where it goes.
        """
        if self.size is None or fmt.is_depth:
            return False
        return 2 * self.size[0] * self.size[1] < fmt.coded_height_px * fmt.coded_width_px

    def num_bytes_kept(self, fmt: StreamFormat) -> int:
        """Return the memory that a picture takes as decoded or, where that is less, as converted.

        Decoded chroma is taken to have a quarter of the picture's size, and samples 8 bits; depth
        is one plane of 16.
        """
        if fmt.is_depth:
            return 2 * fmt.coded_height_px * fmt.coded_width_px
        if self.size is not None and self.shrinks(fmt):
            return 3 * self.size[0] * self.size[1]
        return fmt.coded_height_px * fmt.coded_width_px * 3 // 2


class FrameWriter(Protocol):
    """Writes the frames of one kind of stream. One per thread."""

    shrinks: bool
    """Whether `convert` gives less memory than it takes."""

    def write(self, frame: Frame, out: Array) -> None:
        """Convert, scale and crop a decoded frame into an array of the form's shape and dtype."""

    def convert(self, frame: Frame) -> Frame:
        """Return a decoded frame made ready for `put`."""

    def put(self, converted: Frame, out: Array) -> None:
        """Bring a converted frame into an array of the form's shape and dtype."""


def frame_writer(fmt: StreamFormat, form: PictureForm) -> FrameWriter:
    """Return what writes the frames of a stream in a form."""
    return DepthWriter(fmt, form) if fmt.is_depth else PictureWriter(fmt, form)


class DepthWriter:
    """Writes depth maps in the units that were recorded, scaled by nearest neighbour."""

    shrinks = False

    def __init__(self, fmt: StreamFormat, form: PictureForm) -> None:
        self._shown = (fmt.height_px, fmt.width_px)
        self._form = form

    def write(self, frame: Frame, out: Array) -> None:
        """Write a decoded frame as `put` does."""
        self.put(frame, out)

    def convert(self, frame: Frame) -> Frame:
        """Return the frame as it is: samples are never converted."""
        return frame

    def put(self, converted: Frame, out: Array) -> None:
        """Crop and scale a frame into an array of the form's shape and dtype."""
        height, width = self._shown
        depth = depth_view(converted)[:height, :width]
        if self._form.size is not None:
            depth = nearest(depth, self._form.size)
        out[...] = depth[None] if self._form.channels_first else depth[:, :, None]


class PictureWriter:
    """Writes the frames of one kind of colour stream; keeps converters. One per thread."""

    def __init__(self, fmt: StreamFormat, form: PictureForm) -> None:
        self.shrinks = form.shrinks(fmt)
        """Whether `convert` gives less memory than it takes."""
        self._tags: ColourTags = tags_of(fmt)
        self._shown = (fmt.height_px, fmt.width_px)
        self._is_padded = self._shown != (fmt.coded_height_px, fmt.coded_width_px)
        self._form = form
        self._put = _put_unit if form.dtype == "float32" else _put_as_is
        self._to_rgb, self._to_planes, self._scaler = (VideoReformatter() for _ in range(3))

    def write(self, frame: Frame, out: Array) -> None:
        """Convert, scale and crop a decoded frame into an array of the form's shape and dtype."""
        self.put(self.convert(frame), out)

    def convert(self, frame: Frame) -> Frame:
        """Return a decoded frame as RGB, interleaved or in planes, and scaled: ready for `put`."""
        if self._form.size is not None:
            return self._scaled(frame, self._form.size)
        if self._form.channels_first:
            planes = to_rgb_planes(frame, self._tags, self._to_planes)
            if planes is not None:
                return planes
        return to_rgb24(frame, self._tags, self._to_rgb)

    def put(self, converted: Frame, out: Array) -> None:
        """Crop a converted frame into an array of the form's shape and dtype."""
        if not self._form.channels_first:
            height, width, _ = out.shape
            self._put(rgb_view(converted)[:height, :width], out)
            return
        _, height, width = out.shape
        for channel, plane in enumerate(_channels(converted)):
            self._put(plane[:height, :width], out[channel])

    def _scaled(self, frame: Frame, size: tuple[int, int]) -> Frame:
        if not self._is_padded:
            return to_rgb24(frame, self._tags, self._scaler, SCALING, size)
        # What pads an odd picture to an even one must not be scaled into it.
        height, width = self._shown
        shown = rgb_view(to_rgb24(frame, self._tags, self._to_rgb))[:height, :width]
        cropped = Frame.from_ndarray(np.ascontiguousarray(shown), format="rgb24")
        return self._scaler.reformat(
            cropped, width=size[1], height=size[0], interpolation=SCALING, threads=1
        )


def _channels(converted: Frame) -> list[Plane]:
    """Return red, green and blue of a frame, (H, W) each, with what pads it."""
    if converted.format.is_planar:
        planes = plane_views(converted)
        return [planes[plane] for plane in RED_GREEN_BLUE]
    rgb = rgb_view(converted)
    return [rgb[:, :, channel] for channel in range(3)]


def _put_as_is(values: Plane, out: Array) -> None:
    out[...] = values


def _put_unit(values: Plane, out: Array) -> None:
    np.divide(values, np.float32(255), out=out, dtype=np.float32)
