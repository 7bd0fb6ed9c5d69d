"""Renditions of GOPs: the same pictures in another size, cut at the same places."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import av
import numpy as np
from av.video.reformatter import VideoReformatter

from robot_data_platform.core.gop import Gop, StreamFormat
from robot_data_platform.core.recording import (
    AnyPicture,
    CameraStream,
    PictureSequence,
)
from robot_data_platform.core.rendition import Rendition
from robot_data_platform.video.colour import SCALING
from robot_data_platform.video.cut import cut_stream
from robot_data_platform.video.decode import GopDecoder
from robot_data_platform.video.depth import decode_depth, nearest
from robot_data_platform.video.planes import rgb_view
from robot_data_platform.video.settings import GopSettings


def render_gop(
    gop: Gop, fmt: StreamFormat, rendition: Rendition, decoder: GopDecoder
) -> tuple[Gop, StreamFormat]:
    """Return a GOP of the same frames in a rendition's size, and how it is coded.

    It has the GOP's number and frames, so that whatever points at a picture of the one points at
    the same picture of the other. It is encoded as ``anchored``, or of depth as ``lossless``.

    Parameters
    ----------
    gop : Gop
        A GOP as recorded.
    fmt : StreamFormat
        How it is coded.
    rendition : Rendition
        Size and fit.
    decoder : GopDecoder
        Kept by the caller: making one costs more than a GOP.

    Raises
    ------
    DataFaultError
        ``gop-damaged``: the GOP does not decode.
    """
    everything = np.arange(gop.num_frames, dtype=np.int64)
    pictures: AnyPicture
    if fmt.is_depth:
        pictures = decode_depth(decoder, gop.packets, gop.data, everything, fmt)
    else:
        pictures = decoder.decode_rgb(gop.packets, gop.data, everything, fmt)
    cut = cut_stream(_stream(pictures, rendition), _settings(gop.num_frames))
    (rendered,) = cut.gops()
    return replace(rendered, gop_index=gop.gop_index, first_frame=gop.first_frame), cut.format


def fitted(picture: AnyPicture, rendition: Rendition) -> AnyPicture:
    """Return a picture in a rendition's size; black, or not measured, where it has bars.

    The part that stays has the aspect ratio of the target to the pixel, and is in its middle.

    Parameters
    ----------
    picture : ndarray
        (H, W, 3) uint8 RGB, whose pixels are averaged; or (H, W) uint16 of depth, whose pixels are
        chosen.
    rendition : Rendition
        Size and fit.
    """
    target = (rendition.height_px, rendition.width_px)
    if rendition.fit == "crop":
        return _scaled(_middle(picture, *_inner(picture.shape[:2], target)), target)
    inner = _inner(target, picture.shape[:2])
    out: AnyPicture = np.zeros((*target, *picture.shape[2:]), picture.dtype)
    _middle(out, *inner)[:] = _scaled(picture, inner)
    return out


def _inner(outer: tuple[int, ...], aspect: tuple[int, ...]) -> tuple[int, int]:
    """Return the largest size within ``outer`` that has the aspect ratio of ``aspect``."""
    height, width = outer
    if height * aspect[1] > width * aspect[0]:
        return max(1, round(width * aspect[0] / aspect[1])), width
    return height, max(1, round(height * aspect[1] / aspect[0]))


def _middle(picture: AnyPicture, height: int, width: int) -> AnyPicture:
    top, left = (picture.shape[0] - height) // 2, (picture.shape[1] - width) // 2
    return picture[top : top + height, left : left + width]


def _scaled(picture: AnyPicture, size: tuple[int, int]) -> AnyPicture:
    if picture.shape[:2] == size:
        return picture
    if picture.ndim == 2:
        return nearest(picture.astype(np.uint16, copy=False), size)
    rgb = np.ascontiguousarray(picture, dtype=np.uint8)
    frame = av.VideoFrame.from_ndarray(rgb, format="rgb24")
    scaled = VideoReformatter().reformat(
        frame, width=size[1], height=size[0], interpolation=SCALING, threads=1
    )
    return rgb_view(scaled).copy()


def _stream(pictures: AnyPicture, rendition: Rendition) -> CameraStream:
    def read() -> Iterator[AnyPicture]:
        return (fitted(picture, rendition) for picture in pictures)

    sequence = PictureSequence(
        num_frames=len(pictures), read=read, is_depth=pictures.dtype == np.uint16
    )
    return CameraStream(
        name=rendition.name, timestamp_ns=np.arange(len(pictures)), pictures=sequence
    )


def _settings(num_frames: int) -> GopSettings:
    return GopSettings(profile="anchored", gop_size=num_frames)
