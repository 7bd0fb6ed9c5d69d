"""Cut a camera stream into GOPs: copied where possible, re-encoded where not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain

from robot_data_platform.core.gop import Gop, StreamFormat
from robot_data_platform.core.recording import (
    CameraStream,
    DepthPicture,
    PictureSequence,
    VideoSegment,
)
from robot_data_platform.errors import DataFaultError, ErrorKind, InvalidInputError
from robot_data_platform.video.copy import can_copy, copied_format, copy_gops
from robot_data_platform.video.encode import encode_gops
from robot_data_platform.video.fidelity import Fidelity
from robot_data_platform.video.frames import check_length
from robot_data_platform.video.lossless import encode_depth, lossless_format
from robot_data_platform.video.probe import probe_video
from robot_data_platform.video.settings import GopSettings
from robot_data_platform.video.source_depth import (
    SourceDepth,
    check_grey,
    depth_of_segment,
    depth_of_sequence,
)
from robot_data_platform.video.source_facts import SourceFacts, picture_source, video_source
from robot_data_platform.video.source_pictures import (
    SourcePicture,
    pictures_of_segment,
    pictures_of_sequence,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamReport:
    """What cutting a stream came to."""

    num_frames: int
    """Frames in the GOPs, counted."""
    num_source_frames: int
    """Frames that the source shows in all: those of other episodes in the same file included."""
    num_damaged_frames: int
    """Frames that the source's decoder had to make up in part; 0 where nothing was decoded."""
    source_codec: str
    """FFmpeg's name; ``rgb`` or ``depth`` for pictures that are no video."""
    source_pix_fmt: str
    reencode_reason: str | None
    """Why packets were not copied; None where they were."""
    psnr_db: float | None
    """PSNR in RGB of sampled frames against the source, in dB; None where nothing was lost."""


class CutStream:
    """A stream on its way to GOPs: its format first, its GOPs one by one, its report at the end."""

    def __init__(
        self, fmt: StreamFormat, gops: Iterator[Gop], report: Callable[[int], StreamReport]
    ) -> None:
        self.format = fmt
        """How all of its GOPs are coded."""
        self._gops = gops
        self._make_report = report
        self._report: StreamReport | None = None

    def gops(self) -> Iterator[Gop]:
        """Yield the stream's GOPs, in order, cutting one at a time; once only.

        Raises
        ------
        DataFaultError
            As ``cut_stream``: faults deep in a file show only when it is read.
        """
        num_frames = 0
        for gop in self._gops:
            num_frames += gop.num_frames
            yield gop
        self._report = self._make_report(num_frames)

    @property
    def report(self) -> StreamReport:
        """What it came to, once ``gops`` has yielded the last one.

        Raises
        ------
        InvalidInputError
            ``invalid-argument``: GOPs are left.
        """
        if self._report is None:
            raise InvalidInputError(
                "Stream has no report yet: got GOPs that are left to cut, expected none. Read "
                "gops() to its end first.",
                kind=ErrorKind.INVALID_ARGUMENT,
            )
        return self._report


def cut_stream(stream: CameraStream, settings: GopSettings) -> CutStream:
    """Return a stream ready to be cut into GOPs.

    Depth maps that are not copied are stored without loss, whatever the profile.

    Parameters
    ----------
    stream : CameraStream
        A stretch of a video file, or pictures.
    settings : GopSettings
        Profile, size and quality.

    Returns
    -------
    CutStream
        Nothing but the source's packets and its first picture has been read.

    Raises
    ------
    DataFaultError
        ``video-unreadable``, ``video-too-short``, ``shape-mismatch``, ``metadata-contradiction``:
        the source is not what the stream says; some show only while GOPs are read.
    InvalidInputError
        ``invalid-argument``: profile ``copy`` for a source that can't be copied.
    """
    pictures = stream.pictures
    if pictures.num_frames < 1:
        raise _no_frames(stream.name, pictures.num_frames)
    if isinstance(pictures, PictureSequence):
        return _cut_pictures(pictures, stream.name, settings)
    return _cut_segment(pictures, stream.name, settings)


class _Tally:
    """What was seen of the pictures on their way to the encoder."""

    def __init__(self) -> None:
        self.fidelity = Fidelity()
        self.num_damaged = 0

    def watch(self, pictures: Iterable[SourcePicture]) -> Iterator[SourcePicture]:
        for picture in pictures:
            self.num_damaged += picture.is_damaged
            yield picture

    def watch_depth(self, pictures: Iterable[SourceDepth]) -> Iterator[DepthPicture]:
        for picture in pictures:
            self.num_damaged += picture.is_damaged
            yield picture.depth


def _cut_segment(segment: VideoSegment, camera: str, settings: GopSettings) -> CutStream:
    check_length(segment)
    facts = probe_video(segment.path)
    source = video_source(facts)
    reason = _asked_for(settings) or can_copy(segment, settings)
    if reason is None:
        gops = copy_gops(segment, settings)
        return CutStream(copied_format(facts), gops, partial(_report, source, None, _Tally()))
    check_grey(segment.path, facts.pix_fmt)
    if facts.is_depth:
        return _store_depth(source, depth_of_segment(segment, facts), reason, camera, settings)
    return _encode(source, pictures_of_segment(segment, facts), reason, camera, settings)


def _cut_pictures(sequence: PictureSequence, camera: str, settings: GopSettings) -> CutStream:
    reason = _asked_for(settings) or "the source is no video"
    if sequence.is_depth:
        maps = depth_of_sequence(sequence, camera)
        first_map = next(maps)
        source = picture_source(first_map.depth.shape, sequence.num_frames)
        return _store_depth(source, chain([first_map], maps), reason, camera, settings)
    pictures = pictures_of_sequence(sequence, camera)
    first = next(pictures)
    source = picture_source(first.rgb().shape, sequence.num_frames)
    return _encode(source, chain([first], pictures), reason, camera, settings)


def _asked_for(settings: GopSettings) -> str | None:
    is_encoder = settings.profile in ("anchored", "chain")
    return f"profile {settings.profile} was asked for" if is_encoder else None


def _encode(
    source: SourceFacts,
    pictures: Iterator[SourcePicture],
    reason: str,
    camera: str,
    settings: GopSettings,
) -> CutStream:
    if settings.profile == "copy":
        raise _not_copyable(camera, reason)
    fmt, tally = _encoded_format(source, settings), _Tally()
    gops = encode_gops(tally.watch(pictures), fmt, settings, tally.fidelity)
    return CutStream(fmt, gops, partial(_report, source, reason, tally))


def _store_depth(
    source: SourceFacts,
    pictures: Iterator[SourceDepth],
    reason: str,
    camera: str,
    settings: GopSettings,
) -> CutStream:
    if settings.profile == "copy":
        raise _not_copyable(camera, reason)
    fmt, tally = lossless_format(source.width_px, source.height_px), _Tally()
    gops = encode_depth(tally.watch_depth(pictures), fmt, settings.gop_size)
    return CutStream(fmt, gops, partial(_report, source, reason, tally))


def _encoded_format(source: SourceFacts, settings: GopSettings) -> StreamFormat:
    return StreamFormat(
        codec="h264",
        profile="chain" if settings.profile == "chain" else "anchored",
        width_px=source.width_px,
        height_px=source.height_px,
        coded_width_px=source.width_px + source.width_px % 2,
        coded_height_px=source.height_px + source.height_px % 2,
        pix_fmt="yuv420p",
        color_range=source.tags.color_range,
        color_space=source.tags.color_space,
        color_primaries=source.tags.color_primaries,
        color_trc=source.tags.color_trc,
    )


def _report(
    source: SourceFacts, reason: str | None, tally: _Tally, num_frames: int
) -> StreamReport:
    return StreamReport(
        num_frames=num_frames,
        num_source_frames=source.num_frames,
        num_damaged_frames=tally.num_damaged,
        source_codec=source.codec,
        source_pix_fmt=source.pix_fmt,
        reencode_reason=reason,
        psnr_db=tally.fidelity.psnr_db,
    )


def _no_frames(camera: str, num_frames: int) -> DataFaultError:
    return DataFaultError(
        f"Camera {camera!r} has no pictures in this episode: got {num_frames}, expected 1 or more. "
        "Leave the camera out of the episode.",
        kind=ErrorKind.VIDEO_TOO_SHORT,
        camera=camera,
        num_frames=num_frames,
    )


def _not_copyable(camera: str, reason: str) -> InvalidInputError:
    return InvalidInputError(
        f"Camera {camera!r} can't be copied: got a source where {reason}, expected short closed "
        "GOPs for profile 'copy'. Use profile 'auto'.",
        kind=ErrorKind.INVALID_ARGUMENT,
        camera=camera,
        reason=reason,
    )
