"""A camera that repeats its last picture is told from one that doesn't, after real encoding."""

from __future__ import annotations

from pathlib import Path

import av
import numpy as np
import pytest
from av.video.stream import VideoStream

from robot_data_platform.core.finding import Finding
from robot_data_platform.core.recording import CameraStream, VideoSegment
from robot_data_platform.quality.motion import moved_in_windows
from robot_data_platform.quality.picture_meter import (
    PictureMeter,
    StreamPictures,
    window_frames,
)
from robot_data_platform.quality.rules.pictures import picture_changes_while_moving
from robot_data_platform.quality.rules.values import SignalRows
from robot_data_platform.quality.thresholds import THRESHOLDS
from robot_data_platform.video.cut import cut_stream
from robot_data_platform.video.decode import GopDecoder
from robot_data_platform.video.settings import GopSettings
from robot_data_platform_tests.quality.scenes import FPS, HEIGHT_PX, WIDTH_PX, Scene

FROZEN = frozenset(range(31, 50))
"""Frames that repeat frame 30: a stall of 633 ms, over two or three borders of GOPs."""

STALL_MS = 19 * 1000 / FPS
MISSED_MS = 2 * 1000 / FPS + 1
"""Coarse coding may hide the first frames of a stall: the coder still refines the picture."""

CRF20, CRF23, CRF26 = (
    GopSettings(profile="anchored", gop_size=16, crf=20),
    GopSettings(profile="anchored", gop_size=8, crf=23),
    GopSettings(profile="anchored", gop_size=16, crf=26),
)
CHAIN = GopSettings(profile="chain", gop_size=8, crf=23)
CODINGS = [(CRF20, 0.0), (CRF20, 6.0), (CRF23, 2.0), (CRF26, 0.0), (CRF26, 6.0), (CHAIN, 2.0)]
"""Settings, and noise of the camera in grey levels."""


def _findings(
    scene: Scene, settings: GopSettings, stream: CameraStream | None = None
) -> list[Finding]:
    pictures = _measure(stream or scene.stream("env"), settings)
    state = scene.state()
    signal = SignalRows(
        name="observation_state",
        values=state,
        is_present=np.ones(len(state), np.bool_),
        names=None,
        units=("rad",) * state.shape[1],
    )
    moved = moved_in_windows(
        signal, scene.row_ns(), scene.frame_ns(), pictures.window_frames, THRESHOLDS
    )
    return picture_changes_while_moving(pictures, moved, THRESHOLDS)


def _measure(stream: CameraStream, settings: GopSettings) -> StreamPictures:
    window = window_frames(stream.timestamp_ns)
    meter = PictureMeter(stream.pictures.num_frames, window)
    decoder = GopDecoder()
    cut = cut_stream(stream, settings)
    for gop in cut.gops():
        everything = np.arange(gop.num_frames)
        for luma in decoder.decode_luma(gop.packets, gop.data, everything, cut.format):
            meter.add(luma)
    return StreamPictures(
        camera=stream.name,
        pts_ns=stream.timestamp_ns,
        black=16,
        white=235,
        window_frames=window,
        percentiles=meter.percentiles,
        change=meter.change,
        window_change=meter.window_change,
        motion=meter.motion,
        measured_share=np.full_like(meter.motion, np.nan),
    )


def _label(value: object) -> str:
    return f"{value.profile}-crf{value.crf}" if isinstance(value, GopSettings) else str(value)


def _recorded(scene: Scene, path: Path, codec: str, options: dict[str, str]) -> CameraStream:
    """Return the scene as a robot's recorder would have encoded it before."""
    with av.open(path, "w") as container:
        track = container.add_stream(codec, rate=FPS, options=options)
        assert isinstance(track, VideoStream)
        track.width, track.height, track.pix_fmt = WIDTH_PX, HEIGHT_PX, "yuv420p"
        for picture in scene.pictures():
            container.mux(track.encode(av.VideoFrame.from_ndarray(picture, "rgb24")))
        container.mux(track.encode())
    segment = VideoSegment(path=str(path), first_frame=0, num_frames=scene.num_frames)
    return CameraStream(name="env", timestamp_ns=scene.frame_ns(), pictures=segment)


@pytest.mark.parametrize(("settings", "noise"), CODINGS, ids=_label)
def test_a_freeze_is_found_with_its_length(settings: GopSettings, noise: float) -> None:
    (finding,) = _findings(Scene(noise=noise, frozen=FROZEN), settings)
    assert finding.where.endswith("..49")
    assert finding.value == pytest.approx(STALL_MS, abs=MISSED_MS)


@pytest.mark.parametrize(("settings", "noise"), CODINGS[:5:2], ids=_label)
def test_a_working_camera_is_not_reported(settings: GopSettings, noise: float) -> None:
    assert _findings(Scene(noise=noise), settings) == []


def test_single_repeated_frames_are_not_reported() -> None:
    scene = Scene(frozen=frozenset(range(3, 90, 4)) | frozenset(range(50, 58)))
    assert _findings(scene, CRF20) == []


def test_a_still_scene_is_not_reported() -> None:
    assert _findings(Scene(noise=0, is_resting=True), CRF20) == []


@pytest.mark.parametrize("is_frozen", [True, False])
@pytest.mark.parametrize(
    ("codec", "options"),
    [
        ("libx264", {"crf": "28", "g": "30"}),
        ("mpeg4", {"b": "1000k"}),
    ],
    ids=["x264", "mpeg4"],
)
def test_a_source_that_was_coded_before_makes_no_difference(
    tmp_path: Path, codec: str, options: dict[str, str], is_frozen: bool
) -> None:
    scene = Scene(frozen=FROZEN if is_frozen else frozenset())
    stream = _recorded(scene, tmp_path / "source.mp4", codec, options)
    found = _findings(scene, GopSettings(profile="anchored"), stream)
    assert len(found) == is_frozen


@pytest.mark.parametrize("is_frozen", [True, False])
def test_copied_packets_are_judged_alike(tmp_path: Path, is_frozen: bool) -> None:
    scene = Scene(frozen=FROZEN if is_frozen else frozenset())
    options = {"g": "2", "crf": "30", "preset": "12"}
    stream = _recorded(scene, tmp_path / "source.mp4", "libsvtav1", options)
    found = _findings(scene, GopSettings(profile="copy"), stream)
    assert len(found) == is_frozen
