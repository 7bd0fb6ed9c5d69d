"""What a look at a source shows to somebody who is to write its profile."""

from __future__ import annotations

from dataclasses import dataclass, replace

from robot_data_platform.core.alignment import rate_hz
from robot_data_platform.core.recording import (
    CameraStream,
    EpisodeRef,
    PictureSequence,
    Recording,
    Signal,
    VideoSegment,
)
from robot_data_platform.core.source import Source
from robot_data_platform.errors import RobotDataError
from robot_data_platform.formats.joint_units import unit_of_each
from robot_data_platform.formats.profile import Profile
from robot_data_platform.formats.protocol import Format
from robot_data_platform.formats.registry import detect_format
from robot_data_platform.video.probe import VideoFacts, probe_video

MAX_EPISODES_TRIED = 10
"""Episodes that are read until one is readable."""
RATE_KEY = "control_hz"
"""Fact ``key`` of the error of a format that reads nothing without a rate."""
CHANNEL_ORDER_RULE = "channel_order_is_stated"
"""Rule of the finding of a reader that takes pictures for RGB because nothing says otherwise."""
ANY_RATE_HZ = 1.0
"""Stated to such a format; the times that come of it are not looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalFacts:
    """One signal as recorded."""

    name: str
    width: int
    names: tuple[str, ...] | None
    units: tuple[str | None, ...]
    """Of each dimension; None = not stated."""
    rate_hz: float | None
    """Measured; None = the source has no clock, or a single sample."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CameraFacts:
    """One camera as recorded."""

    name: str
    is_video: bool
    is_depth: bool
    depth_unit_m: float | None
    """As the data states it."""
    width_px: int | None
    """None = still pictures, which are not decoded."""
    height_px: int | None
    fps: float | None
    """Measured; None = the source has no clock, or a single picture."""
    header_fps: float | None
    """Rate that the video's header states."""
    has_intrinsics: bool
    has_extrinsics: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFacts:
    """A source as its first readable episode shows it."""

    source: str
    format: str
    num_episodes: int
    looked_at: str | None = None
    """Key of that episode; None = none of the first ones can be read."""
    refused_reason: str | None = None
    """Why an episode could not be read, where none could."""
    has_clock: bool = True
    has_channel_order: bool = True
    """Whether the order of channels of still pictures is known, where there are any."""
    robot: str | None = None
    task: str | None = None
    signals: tuple[SignalFacts, ...] = ()
    cameras: tuple[CameraFacts, ...] = ()


def look_at(source: Source, format_hint: str | None, permitted: Profile) -> SourceFacts:
    """Return what the source shows; a ``profile.yaml`` of its own is left aside.

    Parameters
    ----------
    source : Source
        What to look at.
    format_hint : str or None
        Name of the format; None = found by looking at the files.
    permitted : Profile
        States what has to be permitted before anything is read, or nothing.

    Raises
    ------
    DataFaultError
        ``unknown-format``, ``empty-source``; or the source as a whole can't be read.
    InvalidInputError
        ``invalid-argument``: no such format.
    """
    reader = detect_format(source, format_hint)
    refs = reader.list_episodes(source, permitted).episodes
    blank = SourceFacts(source=source.label, format=reader.name, num_episodes=len(refs))
    reason = None
    for ref in refs[:MAX_EPISODES_TRIED]:
        try:
            recording, has_clock = _read(reader, source, ref, permitted)
            return _described(blank, recording, has_clock)
        except RobotDataError as err:
            reason = str(err)
    return replace(blank, refused_reason=reason)


def _read(
    reader: Format, source: Source, ref: EpisodeRef, permitted: Profile
) -> tuple[Recording, bool]:
    try:
        return reader.read(source, ref, permitted), True
    except RobotDataError as err:
        if err.facts.get("key") != RATE_KEY:
            raise
    rated = permitted.model_copy(update={RATE_KEY: ANY_RATE_HZ})
    return reader.read(source, ref, rated), False


def _described(blank: SourceFacts, recording: Recording, has_clock: bool) -> SourceFacts:
    return replace(
        blank,
        looked_at=recording.ref.source_key,
        has_clock=has_clock,
        has_channel_order=all(f.rule != CHANNEL_ORDER_RULE for f in recording.findings),
        robot=recording.robot,
        task=recording.task,
        signals=tuple(_signal(signal, has_clock) for signal in recording.signals),
        cameras=tuple(_camera(camera, has_clock) for camera in recording.cameras),
    )


def _signal(signal: Signal, has_clock: bool) -> SignalFacts:
    return SignalFacts(
        name=signal.name,
        width=signal.values.shape[1],
        names=signal.names,
        units=unit_of_each(signal),
        rate_hz=rate_hz(signal.timestamp_ns) if has_clock else None,
    )


def _camera(camera: CameraStream, has_clock: bool) -> CameraFacts:
    pictures, known = camera.pictures, camera.calibration
    video = probe_video(pictures.path) if isinstance(pictures, VideoSegment) else None
    shown = pictures if isinstance(pictures, PictureSequence) else video
    width_px, height_px = _shown_size(video) if video else (None, None)
    header_hz = video.rate_hz_from_header if video else None
    return CameraFacts(
        name=camera.name,
        is_video=video is not None,
        is_depth=shown is not None and shown.is_depth,
        depth_unit_m=camera.depth_unit_m,
        width_px=width_px,
        height_px=height_px,
        fps=rate_hz(camera.timestamp_ns) if has_clock else None,
        header_fps=None if header_hz is None else float(header_hz),
        has_intrinsics=known is not None and known.intrinsics_px is not None,
        has_extrinsics=known is not None and known.base_from_cam is not None,
    )


def _shown_size(video: VideoFacts) -> tuple[int, int]:
    coded = (video.width_px, video.height_px)
    return coded[::-1] if video.orientation.is_transposed else coded
