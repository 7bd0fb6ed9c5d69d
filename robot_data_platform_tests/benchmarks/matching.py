"""Finds the quality setting with which our encoder reaches a stated PSNR."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from robot_data_platform.core.gop import Gop, StreamFormat
from robot_data_platform.core.recording import CameraStream, Picture, PictureSequence
from robot_data_platform.video.cut import cut_stream
from robot_data_platform.video.decode import GopDecoder
from robot_data_platform.video.settings import GopSettings
from robot_data_platform_tests.benchmarks.scale import CAMERAS
from robot_data_platform_tests.benchmarks.source_index import SourceIndex, psnr_db, squared_error

Tried = TypeVar("Tried")

SAMPLE_FRAMES = 48
"""Pictures of each episode that stand for it in the search: three GOPs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoded:
    """A clip as GOPs, and how good they are."""

    settings: GopSettings
    form: StreamFormat
    gops: Sequence[Gop]
    errors: Sequence[float]
    """Mean squared error of each picture against its source."""

    @property
    def psnr_db(self) -> float:
        """PSNR over all pictures."""
        return psnr_db(self.errors)

    @property
    def bytes_per_picture(self) -> float:
        """Bytes of the packets over the pictures."""
        return sum(len(gop.data) for gop in self.gops) / sum(gop.num_frames for gop in self.gops)


def encode_clip(clip: Sequence[Picture], settings: GopSettings) -> Encoded:
    """Encode pictures and compare every one of them with its source."""
    cut = cut_stream(_stream(clip), settings)
    gops = list(cut.gops())
    errors = [
        squared_error(shown, clip[gop.first_frame + at])
        for gop in gops
        for at, shown in enumerate(_pictures(gop, cut.format))
    ]
    return Encoded(settings=settings, form=cut.format, gops=gops, errors=errors)


def encode_matched(clip: Sequence[Picture], settings: GopSettings, goal_db: float) -> Encoded:
    """Encode pictures with the CRF whose PSNR is the nearest to a goal."""
    return _nearest(
        settings.crf,
        lambda crf: encode_clip(clip, replace(settings, crf=crf)),
        lambda encoded: encoded.psnr_db - goal_db,
    )


def matched_crf(source: SourceIndex, settings: GopSettings, goal_db: float) -> GopSettings:
    """Return settings whose CRF gives the stated PSNR, as the mean over the cameras."""
    clips = {camera: _samples(source, camera) for camera in CAMERAS}

    def mean_psnr(crf: int) -> tuple[GopSettings, float]:
        tried = replace(settings, crf=crf)
        of_camera = [
            psnr_db([error for clip in clips[camera] for error in encode_clip(clip, tried).errors])
            for camera in CAMERAS
        ]
        return tried, sum(of_camera) / len(of_camera)

    return _nearest(settings.crf, mean_psnr, lambda tried: tried[1] - goal_db)[0]


def _nearest(
    start: int, attempt: Callable[[int], Tried], above_goal: Callable[[Tried], float]
) -> Tried:
    """Step the CRF from ``start`` until the goal is crossed; return the nearer of both sides."""
    tried = attempt(start)
    step = 1 if above_goal(tried) > 0 else -1
    for crf in range(start + step, *((52, 1) if step > 0 else (0, -1))):
        following = attempt(crf)
        if above_goal(following) * step <= 0:
            return min(tried, following, key=lambda each: abs(above_goal(each)))
        tried = following
    return tried


def _samples(source: SourceIndex, camera: str) -> list[Sequence[Picture]]:
    """Return a stretch of every episode, each from another place."""
    num_episodes = len(source.files)
    longest = max(0, source.rows_per_episode - SAMPLE_FRAMES)
    return [
        list(source.pictures(camera, number)[start : start + SAMPLE_FRAMES])
        for number in range(num_episodes)
        for start in [longest * number // num_episodes]
    ]


def _stream(clip: Sequence[Picture]) -> CameraStream:
    def read() -> Iterator[Picture]:
        return iter(clip)

    pictures = PictureSequence(num_frames=len(clip), read=read)
    return CameraStream(name="clip", timestamp_ns=np.arange(len(clip)), pictures=pictures)


def _pictures(gop: Gop, form: StreamFormat) -> Picture:
    everything = np.arange(gop.num_frames, dtype=np.int64)
    return GopDecoder().decode_rgb(gop.packets, gop.data, everything, form)
