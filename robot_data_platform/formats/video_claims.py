"""Claims on cameras held against what their videos really are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from robot_data_platform.core.finding import Finding, Severity
from robot_data_platform.formats.natural_order import shortened
from robot_data_platform.formats.protocol import DeclaredCamera
from robot_data_platform.formats.source_report import CameraReport, EpisodeReport

CODEC_ALIASES = {
    "avc1": "h264",
    "h265": "hevc",
    "libaom-av1": "av1",
    "libsvtav1": "av1",
    "libx264": "h264",
    "libx265": "hevc",
    "mp4v": "mpeg4",
}
"""Names of encoders and container tags that metadata states in place of the codec."""
RATE_TOLERANCE = 0.01
"""Relative deviation of a header's rate from the declared one that is told: rounding of 29.97 to
30 stays below, a wrong rate is far above."""


def claim_findings(
    episodes: Sequence[EpisodeReport], declared: Mapping[str, DeclaredCamera]
) -> Iterator[Finding]:
    """Yield one finding per camera and wrong claim, however many episodes show it."""
    for name, claim in declared.items():
        seen: dict[tuple[str, str, str], list[str]] = {}
        for episode in episodes:
            for camera in episode.cameras:
                if camera.name == name:
                    for contradiction in _contradictions(camera, claim):
                        seen.setdefault(contradiction, []).append(episode.source_key)
        for (rule, expected, got), keys in seen.items():
            yield Finding(
                rule=rule,
                severity=Severity.WARN,
                message=(
                    f"Camera {name!r} is not what is declared: got {got} in {len(keys)} episodes "
                    f"({shortened(keys, 3)}), expected {expected}. What the file says is used."
                ),
                where=f"camera={name}",
                value=len(keys),
                unit="episodes",
            )


def missing_cameras(episodes: Sequence[EpisodeReport]) -> Iterator[Finding]:
    """Yield a finding for each camera that some episodes have and others don't."""
    readable = [episode for episode in episodes if episode.refused_kind is None]
    names = {camera.name for episode in readable for camera in episode.cameras}
    for name in sorted(names):
        without = [e.source_key for e in readable if name not in {c.name for c in e.cameras}]
        if without:
            yield Finding(
                rule="cameras_in_every_episode",
                severity=Severity.WARN,
                message=(
                    f"Camera {name!r} is missing in {len(without)} of {len(readable)} episodes "
                    f"({shortened(without, 3)}). Its columns are null there."
                ),
                where=f"camera={name}",
                value=len(without),
                threshold=0,
                unit="episodes",
            )


def _contradictions(camera: CameraReport, claim: DeclaredCamera) -> Iterable[tuple[str, str, str]]:
    codec = CODEC_ALIASES.get(claim.codec or "", claim.codec)
    size, claimed_size = (camera.width_px, camera.height_px), (claim.width_px, claim.height_px)
    if None not in (codec, camera.codec) and codec != camera.codec:
        yield "codec_as_declared", f"codec {claim.codec}", f"{camera.codec}"
    if None not in (*size, *claimed_size) and size != claimed_size:
        got = f"{camera.width_px}x{camera.height_px}"
        yield "size_as_declared", f"{claim.width_px}x{claim.height_px} pixels", got
    fps, claimed_fps = camera.header_fps, claim.fps
    if fps and claimed_fps and abs(fps / claimed_fps - 1) > RATE_TOLERANCE:
        yield "fps_as_declared", f"{claimed_fps:g} pictures per second", f"{fps:g}"
