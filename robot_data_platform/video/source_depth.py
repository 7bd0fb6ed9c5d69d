"""Depth maps of a source made ready for the encoder: upright, uint16, values as recorded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import av
import numpy as np

from robot_data_platform.core.gop import is_depth_pix_fmt
from robot_data_platform.core.recording import (
    AnyPicture,
    DepthPicture,
    PictureSequence,
    VideoSegment,
)
from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform.video.container import unreadable
from robot_data_platform.video.depth import depth_view
from robot_data_platform.video.frames import read_frames
from robot_data_platform.video.probe import VideoFacts
from robot_data_platform.video.source_pictures import check_size, counted


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceDepth:
    """One depth map on its way to the encoder."""

    depth: DepthPicture
    """(H, W), upright; memory of its own."""
    is_damaged: bool = False
    """Whether the decoder had to make up a part of it."""


def depth_of_sequence(sequence: PictureSequence, camera: str) -> Iterator[SourceDepth]:
    """Yield a sequence's depth maps.

    Raises
    ------
    DataFaultError
        ``video-too-short`` or ``metadata-contradiction``: fewer or more pictures than promised.
        ``shape-mismatch``: a picture is no (H, W) uint16 array of the first one's size.
    """
    shape: tuple[int, ...] | None = None
    for number, depth in enumerate(counted(sequence, camera)):
        shape = shape or depth.shape
        yield SourceDepth(depth=_checked(depth, shape, camera, number))


def depth_of_segment(segment: VideoSegment, facts: VideoFacts) -> Iterator[SourceDepth]:
    """Yield a file's depth maps, turned for display.

    Raises
    ------
    DataFaultError
        ``video-too-short``, ``video-unreadable``, ``shape-mismatch`` (the size or the pixel format
        changes).
    """
    for index, frame in enumerate(read_frames(segment)):
        check_size(segment, index, frame, facts)
        if frame.format.name != facts.pix_fmt:
            got = f"frame {segment.first_frame + index} of {frame.format.name} after"
            raise unreadable(segment.path, f"{got} {facts.pix_fmt}")
        depth = facts.orientation.apply(depth_view(frame)).copy()
        yield SourceDepth(depth=depth, is_damaged=frame.is_corrupt)


def check_grey(path: str, pix_fmt: str) -> None:
    """Refuse grey pictures that neither 16 bits can hold as they are, nor 8.

    Raises
    ------
    DataFaultError
        ``video-unreadable``.
    """
    kind = av.VideoFormat(pix_fmt)
    is_deep = len(kind.components) <= 2 and kind.components[0].bits > 8
    if is_deep and not is_depth_pix_fmt(pix_fmt):
        raise unreadable(path, f"grey pictures ({pix_fmt}) that no depth map of 16 bits can hold")


def _checked(depth: AnyPicture, shape: tuple[int, ...], camera: str, number: int) -> DepthPicture:
    if depth.shape != shape or depth.ndim != 2 or depth.dtype != np.uint16 or not depth.size:
        raise DataFaultError(
            f"Depth map {number} of camera {camera!r} has another shape: got {depth.shape} "
            f"{depth.dtype}, expected (height, width) uint16 as picture 0, {shape}. Split the "
            "episode where the camera's resolution changes.",
            kind=ErrorKind.SHAPE_MISMATCH,
            camera=camera,
            picture=number,
        )
    return depth.astype(np.uint16, copy=False)
