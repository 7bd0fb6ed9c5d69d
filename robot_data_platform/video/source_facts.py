"""What a stream's pictures are before they are cut into GOPs."""

from __future__ import annotations

from dataclasses import dataclass

from robot_data_platform.video.colour import CODED_RGB, UNTAGGED, ColourTags
from robot_data_platform.video.depth import DEPTH_PIX_FMT
from robot_data_platform.video.probe import VideoFacts
from robot_data_platform.video.source_pictures import encoded_tags


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFacts:
    """What a stream's pictures are, upright."""

    codec: str
    """FFmpeg's name; ``rgb`` or ``depth`` for pictures that are no video."""
    pix_fmt: str
    num_frames: int
    """Frames that the source shows in all."""
    width_px: int
    height_px: int
    tags: ColourTags
    """Tags that they have once they are encoded."""


def video_source(facts: VideoFacts) -> SourceFacts:
    """Return the facts of a video file's pictures."""
    size = (facts.width_px, facts.height_px)
    width_px, height_px = reversed(size) if facts.orientation.is_transposed else size
    return SourceFacts(
        codec=facts.codec,
        pix_fmt=facts.pix_fmt,
        num_frames=facts.num_frames,
        width_px=width_px,
        height_px=height_px,
        tags=UNTAGGED if facts.is_depth else encoded_tags(facts),
    )


def picture_source(shape: tuple[int, ...], num_frames: int) -> SourceFacts:
    """Return the facts of pictures that are no video: (H, W, 3) of colour, (H, W) of depth."""
    is_depth = len(shape) == 2
    return SourceFacts(
        codec="depth" if is_depth else "rgb",
        pix_fmt=DEPTH_PIX_FMT if is_depth else "rgb24",
        num_frames=num_frames,
        width_px=shape[1],
        height_px=shape[0],
        tags=UNTAGGED if is_depth else CODED_RGB,
    )
