"""Shortcuts of the format tests: list and read a folder."""

from __future__ import annotations

from pathlib import Path

import av
import numpy as np
import pytest

from robot_data_platform.core.finding import Finding
from robot_data_platform.core.recording import (
    CameraStream,
    DepthPicture,
    PictureSequence,
    Recording,
    Signal,
    VideoSegment,
)
from robot_data_platform.errors import DataFaultError
from robot_data_platform.formats.profile import Profile
from robot_data_platform.formats.protocol import EpisodeListing
from robot_data_platform.formats.registry import detect_format
from robot_data_platform.storage.source import LocalSource
from robot_data_platform_tests.formats.coded_video import code_of, video_codes


def list_folder(root: Path, profile: Profile | None = None) -> EpisodeListing:
    """Return the episodes of a folder."""
    source = LocalSource(root)
    return detect_format(source).list_episodes(source, profile or Profile())


def read_episode(root: Path, key: str, profile: Profile | None = None) -> Recording:
    """Return one episode of a folder by its key."""
    source, stated = LocalSource(root), profile or Profile()
    reader = detect_format(source)
    refs = {ref.source_key: ref for ref in reader.list_episodes(source, stated).episodes}
    return reader.read(source, refs[key], stated)


def refusal(root: Path, key: str, profile: Profile | None = None) -> DataFaultError:
    """Return the error that reading an episode raises."""
    with pytest.raises(DataFaultError) as caught:
        read_episode(root, key, profile)
    return caught.value


def signal(recording: Recording, name: str) -> Signal:
    """Return one signal of a recording."""
    return {s.name: s for s in recording.signals}[name]


def camera(recording: Recording, name: str) -> CameraStream:
    """Return one camera of a recording."""
    return {c.name: c for c in recording.cameras}[name]


def shown_codes(stream: CameraStream) -> list[int]:
    """Return the numbers that a camera's pictures spell, in order."""
    pictures = stream.pictures
    if isinstance(pictures, VideoSegment):
        return list(video_codes(pictures.path, pictures.first_frame, pictures.num_frames))
    return [code_of(np.asarray(picture, np.uint8)) for picture in pictures.read()]


def shown_depth(stream: CameraStream) -> list[DepthPicture]:
    """Return a camera's depth maps, in order; those of a video by PyAV's own conversion."""
    pictures = stream.pictures
    if isinstance(pictures, PictureSequence):
        assert pictures.is_depth
        maps = [np.asarray(depth, np.uint16) for depth in pictures.read()]
        assert len(maps) == pictures.num_frames
        return maps
    with av.open(pictures.path) as container:
        frames = [frame.to_ndarray() for frame in container.decode(video=0)]
    shown = frames[pictures.first_frame :][: pictures.num_frames]
    assert all(depth.dtype == np.uint16 and depth.ndim == 2 for depth in shown)
    return [np.asarray(depth, np.uint16) for depth in shown]


def by_rule(findings: tuple[Finding, ...]) -> dict[str, Finding]:
    """Return findings by rule; a rule that is there twice fails the test."""
    rules = [finding.rule for finding in findings]
    assert len(set(rules)) == len(rules), rules
    return {finding.rule: finding for finding in findings}
