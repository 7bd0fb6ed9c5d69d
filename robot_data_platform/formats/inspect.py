"""A look at a source without ingesting it: streams, rates, codecs, and every contradiction."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath

from robot_data_platform.core.finding import Finding, Severity
from robot_data_platform.core.recording import (
    CameraStream,
    EpisodeRef,
    Recording,
    VideoSegment,
)
from robot_data_platform.core.source import Source
from robot_data_platform.core.time_base import NS_PER_S
from robot_data_platform.errors import DataFaultError, ErrorKind, RobotDataError
from robot_data_platform.formats.profile import Profile, find_profile
from robot_data_platform.formats.protocol import DeclaredCamera, Format
from robot_data_platform.formats.registry import detect_format
from robot_data_platform.formats.source_report import (
    CameraReport,
    EpisodeReport,
    SignalReport,
    SourceReport,
    clock_report,
)
from robot_data_platform.formats.video_claims import claim_findings, missing_cameras
from robot_data_platform.video.probe import VideoFacts, probe_video

VIDEO_SUFFIX = ".mp4"
FactsByPath = dict[str, VideoFacts]


def inspect_source(
    source: Source, format_hint: str | None = None, profile: Profile | None = None
) -> SourceReport:
    """Return everything that can be told of a source without decoding its pictures.

    Parameters
    ----------
    source : Source
        What to look at.
    format_hint : str, optional
        Name of the format; found by looking at the files otherwise.
    profile : Profile, optional
        Wins over the source's own ``profile.yaml``.

    Raises
    ------
    DataFaultError
        ``unknown-format``, ``empty-source``; or the source as a whole can't be read.
    InvalidInputError
        ``invalid-argument``: no such format. ``invalid-profile``.
    """
    stated = find_profile(source, profile)
    reader = detect_format(source, format_hint or stated.described_format)
    listing = reader.list_episodes(source, stated)
    facts: FactsByPath = {}
    cameras_by_key: dict[str, tuple[CameraStream, ...]] = {}
    episodes = []
    for ref in listing.episodes:
        report, cameras_by_key[ref.source_key] = _episode(reader, source, ref, stated, facts)
        episodes.append(report)
    return SourceReport(
        source=source.label,
        format=reader.name,
        episodes=tuple(episodes),
        findings=(
            *listing.findings,
            *claim_findings(episodes, _claims(listing.declared_cameras, stated)),
            *missing_cameras(episodes),
            *_unreferenced(source, listing.episodes, cameras_by_key, facts),
        ),
    )


def _episode(
    reader: Format, source: Source, ref: EpisodeRef, profile: Profile, facts: FactsByPath
) -> tuple[EpisodeReport, tuple[CameraStream, ...]]:
    blank = EpisodeReport(source_key=ref.source_key, source_episode_index=ref.source_episode_index)
    try:
        recording = reader.read(source, ref, profile)
        return _described(blank, recording, facts), recording.cameras
    except RobotDataError as err:
        return replace(blank, refused_kind=str(err.kind), refused_reason=str(err)), ()


def _described(blank: EpisodeReport, recording: Recording, facts: FactsByPath) -> EpisodeReport:
    signals = tuple(
        SignalReport(
            name=signal.name,
            width=signal.values.shape[1],
            names=signal.names,
            unit=signal.unit,
            units=signal.units,
            clock=clock_report(signal.timestamp_ns),
        )
        for signal in recording.signals
    )
    rows = max((signal.clock for signal in signals), key=lambda clock: clock.num_samples)
    return replace(
        blank,
        task=recording.task,
        num_rows=rows.num_samples,
        seconds=(rows.end_ns - rows.start_ns) / NS_PER_S,
        signals=signals,
        cameras=tuple(_camera(camera, facts) for camera in recording.cameras),
        findings=recording.findings,
    )


def _camera(camera: CameraStream, facts: FactsByPath) -> CameraReport:
    report = CameraReport(name=camera.name, clock=clock_report(camera.timestamp_ns))
    if not isinstance(camera.pictures, VideoSegment):
        return replace(report, is_depth=camera.pictures.is_depth)
    path = camera.pictures.path
    video = facts[path] = facts.get(path) or probe_video(path)
    _check_covered(camera.name, camera.pictures, video)
    rate_hz = video.rate_hz_from_header
    coded = (video.width_px, video.height_px)
    width_px, height_px = coded[::-1] if video.orientation.is_transposed else coded
    return replace(
        report,
        codec=video.codec,
        width_px=width_px,
        height_px=height_px,
        pix_fmt=video.pix_fmt,
        is_depth=video.is_depth,
        header_fps=None if rate_hz is None else float(rate_hz),
        first_frame=camera.pictures.first_frame,
        num_frames_in_file=video.num_frames,
    )


def _check_covered(name: str, segment: VideoSegment, video: VideoFacts) -> None:
    end = segment.first_frame + segment.num_frames
    if end > video.num_frames:
        raise DataFaultError(
            f"Camera {name!r} has fewer frames than rows: got {video.num_frames} frames in "
            f"{segment.path!r}, expected frames {segment.first_frame}..{end - 1}. Record the "
            "episode again, or drop it.",
            kind=ErrorKind.VIDEO_TOO_SHORT,
            camera=name,
            num_frames=video.num_frames,
        )


def _claims(
    declared: Mapping[str, DeclaredCamera], profile: Profile
) -> Mapping[str, DeclaredCamera]:
    """By the name after renaming, with the profile's rate where it states one."""
    claims = dict(declared)
    for name, camera in profile.cameras.items():
        claim = claims.pop(name, DeclaredCamera())
        claims[camera.rename or name] = replace(claim, fps=camera.fps or claim.fps)
    return claims


def _unreferenced(
    source: Source,
    refs: Sequence[EpisodeRef],
    cameras_by_key: Mapping[str, Sequence[CameraStream]],
    facts: FactsByPath,
) -> Iterator[Finding]:
    """Yield the frames after the last row of each video of which every episode was read.

    A video that is no file of the source lies in a table: its last episode says that it is.
    """
    relative_by_path: dict[str, str] = {}
    hidden: set[str] = set()
    ended: set[str] = set()
    ends: dict[str, int] = {}
    for ref in refs:
        videos = [f for f in ref.files if f.endswith(VIDEO_SUFFIX)]
        cameras = cameras_by_key[ref.source_key]
        hidden.update(() if cameras else videos)
        relative_by_path.update({str(source.local_path(f)): f for f in videos if cameras})
        for segment in (c.pictures for c in cameras if isinstance(c.pictures, VideoSegment)):
            end = segment.first_frame + segment.num_frames
            ends[segment.path] = max(end, ends.get(segment.path, 0))
            ended.update([segment.path] if segment.is_last else ())
    for path, end in ends.items():
        extra = facts[path].num_frames - end
        name = relative_by_path.get(path, PurePath(path).name)
        is_read = name not in hidden if path in relative_by_path else path in ended
        if extra > 0 and is_read:
            yield Finding(
                rule="video_frames_are_referenced",
                severity=Severity.WARN,
                message=(
                    f"{extra} frames at the end of {name!r} belong to no row: "
                    f"got {facts[path].num_frames} frames, expected {end}. They are left out."
                ),
                where=name,
                value=extra,
                threshold=0,
                unit="frames",
            )
