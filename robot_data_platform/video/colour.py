"""Colour rules: which matrix and range turn coded pictures into RGB, and back.

Untagged YUV pictures are BT.601 in limited range, as FFmpeg and the readers built on it take them.
Pictures that arrive as RGB are coded as BT.601 limited and tagged so; a reader that ignores tags
falls back on the same rule and still gets the colours right.
"""

from __future__ import annotations

from dataclasses import dataclass

import av
from av.video.reformatter import ColorRange, Colorspace, Interpolation, VideoReformatter

from robot_data_platform.core.gop import StreamFormat
from robot_data_platform.video.planes import without_tags

RANGE_LIMITED, RANGE_FULL = 1, 2
"""FFmpeg's ``AVCOL_RANGE``; 0 is unspecified."""

SPACE_BT601 = 6
"""FFmpeg's ``AVCOL_SPC`` of SMPTE 170M, whose matrix is BT.601's."""

TAG_UNSPECIFIED = 2
"""The "unspecified" of FFmpeg's matrix, primaries and transfer characteristics."""

MATRICES = {
    0: Colorspace.ITU601,
    1: Colorspace.ITU709,
    TAG_UNSPECIFIED: Colorspace.ITU601,
    4: Colorspace.FCC,
    5: Colorspace.ITU601,
    SPACE_BT601: Colorspace.ITU601,
    7: Colorspace.SMPTE240M,
    9: Colorspace.BT2020,
    10: Colorspace.BT2020,
}
"""swscale's matrix by FFmpeg's tag; for RGB (0) it is not used. Other tags can't be converted."""

FAST = Interpolation.BILINEAR
"""Several times as fast as ``EXACT``: subsampled chroma is repeated and not interpolated."""

SCALING = Interpolation.AREA
"""Each pixel of a smaller picture is the mean of the area it covers, so that nothing flickers
(antialiased); a larger one is interpolated bilinearly."""

# BITEXACT: the same pixels whatever the processor's vector instructions.
EXACT = (
    Interpolation.BICUBIC
    | Interpolation.FULL_CHR_H_INT
    | Interpolation.FULL_CHR_H_INP
    | Interpolation.ACCURATE_RND
    | Interpolation.BITEXACT
)
"""The best that swscale can do, for writing and for measuring."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ColourTags:
    """FFmpeg's colour tags of a stream."""

    color_range: int = 0
    color_space: int = TAG_UNSPECIFIED
    color_primaries: int = TAG_UNSPECIFIED
    color_trc: int = TAG_UNSPECIFIED


UNTAGGED = ColourTags()
CODED_RGB = ColourTags(color_range=RANGE_LIMITED, color_space=SPACE_BT601)
"""How pictures that arrive as RGB or grey are coded; what their primaries are, nobody said."""


def tags_of(fmt: StreamFormat) -> ColourTags:
    """Return the colour tags of a stream's format."""
    return ColourTags(
        color_range=fmt.color_range,
        color_space=fmt.color_space,
        color_primaries=fmt.color_primaries,
        color_trc=fmt.color_trc,
    )


def split_full_range(pix_fmt: str, color_range: int) -> tuple[str, int]:
    """Return pixel format and range with the deprecated full-range names (``yuvj``) taken apart."""
    if pix_fmt.startswith("yuvj"):
        return "yuv" + pix_fmt.removeprefix("yuvj"), RANGE_FULL
    return pix_fmt, color_range


def is_yuv(kind: av.VideoFormat) -> bool:
    """Return whether samples are luma and chroma, and not RGB, palette or grey."""
    return not kind.is_rgb and not kind.has_palette and len(kind.components) >= 3


def to_rgb24(
    frame: av.VideoFrame,
    tags: ColourTags,
    converter: VideoReformatter,
    interpolation: Interpolation = FAST,
    size: tuple[int, int] | None = None,
) -> av.VideoFrame:
    """Return a frame as ``rgb24``, of the same size or scaled in the same pass.

    Parameters
    ----------
    frame : VideoFrame
        A decoded frame; its own tags are not looked at.
    tags : ColourTags
        Tags of its stream.
    converter : VideoReformatter
        Kept by the caller for each kind of picture: making one costs more than a conversion.
    interpolation : Interpolation, default FAST
        ``FAST`` or ``EXACT``; ``SCALING`` where the size changes.
    size : tuple of int, optional
        Height and width of the result.
    """
    return _to_rgb(frame, "rgb24", tags, converter, interpolation, size)


def to_rgb_planes(
    frame: av.VideoFrame, tags: ColourTags, converter: VideoReformatter
) -> av.VideoFrame | None:
    """Return a frame as ``gbrp``, the same values as `to_rgb24`; None where they would differ.

    FFmpeg 8.1 leaves the last columns of ``gbrp`` unwritten where the width is no multiple of 8,
    and interpolates the chroma of other formats than ``yuv420p`` in another way than for ``rgb24``.
    """
    if frame.width % 8 or split_full_range(frame.format.name, 0)[0] != "yuv420p":
        return None
    return _to_rgb(frame, "gbrp", tags, converter, FAST, None)


def _to_rgb(
    frame: av.VideoFrame,
    pix_fmt: str,
    tags: ColourTags,
    converter: VideoReformatter,
    interpolation: Interpolation,
    size: tuple[int, int] | None,
) -> av.VideoFrame:
    height, width = size or (None, None)
    return converter.reformat(
        frame,
        width=width,
        height=height,
        format=pix_fmt,
        src_colorspace=MATRICES[tags.color_space],
        src_color_range=_sample_range(frame.format, tags),
        dst_color_range=ColorRange.JPEG,
        interpolation=interpolation,
        threads=1,
    )


def to_yuv420p(
    frame: av.VideoFrame, tags: ColourTags, new_tags: ColourTags, converter: VideoReformatter
) -> av.VideoFrame:
    """Return a frame as ``yuv420p``, or as it is where it has these samples already.

    Chroma is sited in the middle of its pixels, which is where ``FAST`` takes it to be.

    Parameters
    ----------
    frame : VideoFrame
        A decoded frame, or one made of an RGB array.
    tags, new_tags : ColourTags
        Tags of the frame, and those that its samples must agree with afterwards.
    converter : VideoReformatter
        As in ``to_rgb24``.
    """
    if split_full_range(frame.format.name, 0)[0] == "yuv420p":
        return frame
    return converter.reformat(
        without_tags(frame),
        format="yuv420p",
        src_colorspace=MATRICES[tags.color_space],
        dst_colorspace=MATRICES[new_tags.color_space],
        src_color_range=_sample_range(frame.format, tags),
        dst_color_range=_sample_range(av.VideoFormat("yuv420p"), new_tags),
        interpolation=EXACT,
        threads=1,
    )


def _sample_range(kind: av.VideoFormat, tags: ColourTags) -> ColorRange:
    """Return the range of samples; where untagged, full for RGB and grey, else limited."""
    color_range = split_full_range(kind.name, tags.color_range)[1]
    is_full = color_range == RANGE_FULL or (not color_range and not is_yuv(kind))
    return ColorRange.JPEG if is_full else ColorRange.MPEG
