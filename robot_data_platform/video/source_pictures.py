"""Source pictures made ready for the encoder: upright, ``yuv420p``, of even size."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import av
import numpy as np
from av.video.reformatter import VideoReformatter

from robot_data_platform.core.recording import (
    AnyPicture,
    Picture,
    PictureSequence,
    VideoSegment,
)
from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform.video.colour import (
    CODED_RGB,
    EXACT,
    UNTAGGED,
    ColourTags,
    is_yuv,
    to_rgb24,
    to_yuv420p,
)
from robot_data_platform.video.frames import read_frames
from robot_data_platform.video.planes import even_yuv420p, plane_views, rgb_view, without_tags
from robot_data_platform.video.probe import VideoFacts


@dataclass(frozen=True, slots=True, kw_only=True)
class SourcePicture:
    """One picture on its way to the encoder."""

    frame: av.VideoFrame
    """Upright, ``yuv420p``, even size."""
    rgb: Callable[[], Picture]
    """Gives the source's own pixels, (H, W, 3) uint8, upright, before any of our conversions."""
    is_damaged: bool = False
    """Whether the decoder had to make up a part of it."""


def pictures_of_sequence(sequence: PictureSequence, camera: str) -> Iterator[SourcePicture]:
    """Yield a sequence's pictures, converted to BT.601 limited range.

    Raises
    ------
    DataFaultError
        ``video-too-short`` or ``metadata-contradiction``: fewer or more pictures than promised.
        ``shape-mismatch``: a picture is no (H, W, 3) uint8 array of the first one's size.
    """
    converter = VideoReformatter()
    shape: tuple[int, ...] | None = None
    for number, rgb in enumerate(counted(sequence, camera)):
        shape = shape or rgb.shape
        yield _picture_of_rgb(_checked(rgb, shape, camera, number), converter)


def counted(sequence: PictureSequence, camera: str) -> Iterator[AnyPicture]:
    """Yield a sequence's pictures, whatever they are.

    Raises
    ------
    DataFaultError
        ``video-too-short`` or ``metadata-contradiction``: fewer or more pictures than promised.
    """
    num_read = 0
    for picture in sequence.read():
        num_read += 1
        yield picture
    if num_read != sequence.num_frames:
        raise _wrong_count(camera, num_read, sequence.num_frames)


def pictures_of_segment(segment: VideoSegment, facts: VideoFacts) -> Iterator[SourcePicture]:
    """Yield a file's pictures, turned for display, in their own matrix and range.

    Raises
    ------
    DataFaultError
        ``video-too-short``, ``video-unreadable``, ``shape-mismatch`` (the size changes).
    """
    converter = VideoReformatter()
    for index, frame in enumerate(read_frames(segment)):
        check_size(segment, index, frame, facts)
        yield _picture_of_frame(frame, facts, converter)


def encoded_tags(facts: VideoFacts) -> ColourTags:
    """Return the tags that a file's pictures have once they are encoded: their own, if YUV."""
    return facts.tags if is_yuv(av.VideoFormat(facts.pix_fmt)) else CODED_RGB


def _picture_of_rgb(rgb: Picture, converter: VideoReformatter) -> SourcePicture:
    frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(rgb), format="rgb24")
    coded = to_yuv420p(frame, UNTAGGED, CODED_RGB, converter)
    return SourcePicture(frame=even_yuv420p(plane_views(coded)), rgb=lambda: rgb)


def _picture_of_frame(
    frame: av.VideoFrame, facts: VideoFacts, converter: VideoReformatter
) -> SourcePicture:
    def rgb() -> Picture:
        shown = to_rgb24(without_tags(frame), facts.tags, VideoReformatter(), EXACT)
        return facts.orientation.apply(rgb_view(shown))

    coded = to_yuv420p(frame, facts.tags, encoded_tags(facts), converter)
    planes = [facts.orientation.apply(plane) for plane in plane_views(coded)]
    return SourcePicture(frame=even_yuv420p(planes), rgb=rgb, is_damaged=frame.is_corrupt)


def _checked(rgb: AnyPicture, shape: tuple[int, ...], camera: str, number: int) -> Picture:
    if rgb.shape != shape or rgb.ndim != 3 or rgb.shape[2] != 3 or rgb.dtype != np.uint8:
        raise DataFaultError(
            f"Picture {number} of camera {camera!r} has another shape: got {rgb.shape} "
            f"{rgb.dtype}, expected (height, width, 3) uint8 as picture 0, {shape}. Split the "
            "episode where the camera's resolution changes.",
            kind=ErrorKind.SHAPE_MISMATCH,
            camera=camera,
            picture=number,
        )
    return rgb.astype(np.uint8, copy=False)


def check_size(segment: VideoSegment, index: int, frame: av.VideoFrame, facts: VideoFacts) -> None:
    """Refuse a frame of another size than the file's first one.

    Raises
    ------
    DataFaultError
        ``shape-mismatch``.
    """
    if (frame.width, frame.height) != (facts.width_px, facts.height_px):
        raise DataFaultError(
            f"Frame {segment.first_frame + index} of video {segment.path!r} has another size: got "
            f"{frame.width}x{frame.height}, expected {facts.width_px}x{facts.height_px} as frame "
            "0. Split the episode where the camera's resolution changes.",
            kind=ErrorKind.SHAPE_MISMATCH,
            path=segment.path,
            frame=segment.first_frame + index,
        )


def _wrong_count(camera: str, num_read: int, num_promised: int) -> DataFaultError:
    is_short = num_read < num_promised
    return DataFaultError(
        f"Camera {camera!r} has another number of pictures than promised: got {num_read}, expected "
        f"{num_promised}. Record the episode again, or correct its length.",
        kind=ErrorKind.VIDEO_TOO_SHORT if is_short else ErrorKind.METADATA_CONTRADICTION,
        camera=camera,
        num_frames=num_read,
        num_frames_expected=num_promised,
    )
