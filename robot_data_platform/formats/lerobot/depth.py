"""Depth cameras of a LeRobot dataset: which they are, in which unit, and how they were coded."""

from __future__ import annotations

from collections.abc import Iterator

from robot_data_platform.core.finding import Finding, Severity
from robot_data_platform.core.recording import PictureSequence, VideoSegment
from robot_data_platform.formats.lerobot.info import Feature
from robot_data_platform.video.probe import probe_video

MAX_CODE = 4095
"""Code of the farthest distance of a depth video: LeRobot writes 12 bits."""
UNITS_M = {"m": 1.0, "mm": 0.001}
"""Metres per unit by LeRobot's ``depth_unit``."""


def check_depth(
    feature: Feature, pictures: VideoSegment | PictureSequence
) -> tuple[bool, tuple[Finding, ...]]:
    """Return whether a camera can be read as it is declared, and what there is to tell of it.

    Raises
    ------
    DataFaultError
        ``video-unreadable``: a video that is declared depth.
    """
    if not feature.is_depth:
        return True, ()
    if isinstance(pictures, PictureSequence):
        is_read, got = pictures.is_depth, "other pictures"
    else:
        video = probe_video(pictures.path)
        is_read, got = video.is_depth, f"a video of {video.pix_fmt}"
    return is_read, tuple(_coding(feature)) if is_read else (_left_out(feature, got),)


def depth_unit_m(feature: Feature, pictures: VideoSegment | PictureSequence) -> float | None:
    """Return the declared unit of depth maps that are pictures; videos may hold codes."""
    if not isinstance(pictures, PictureSequence) or not pictures.is_depth:
        return None
    return UNITS_M.get(str(feature.info.get("depth_unit")))


def _coding(feature: Feature) -> Iterator[Finding]:
    """Yield what is declared of the codes that a depth video holds in place of distances."""
    near, far, shift = (_number(feature, key) for key in ("depth_min", "depth_max", "shift"))
    if near is None or far is None:
        return
    is_log = feature.info.get("video.use_log") is True
    scale = f"a logarithmic scale shifted by {shift} m" if is_log else "a linear scale"
    yield Finding(
        rule="depth_is_coded",
        severity=Severity.INFO,
        message=f"Camera {feature.key!r} holds codes in place of distances: 0 to {MAX_CODE} stand "
        f"for {near} m to {far} m on {scale}. They are kept as they are.",
        where=f"camera={feature.key}",
        value=MAX_CODE,
    )


def _left_out(feature: Feature, got: str) -> Finding:
    return Finding(
        rule="cameras_are_read",
        severity=Severity.WARN,
        message=f"Camera {feature.key!r} was left out: it is declared depth, got {got}, expected "
        "grey of 9 to 16 bits, and nothing is taken for a distance in silence.",
        where=f"camera={feature.key}",
    )


def _number(feature: Feature, key: str) -> float | None:
    value = feature.info.get(f"video.{key}")
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value)
