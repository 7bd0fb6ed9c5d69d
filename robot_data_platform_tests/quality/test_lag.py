"""Lags that were put in come out in milliseconds, through the real coder; and where none can."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pytest

from robot_data_platform.core.recording import CameraStream, Picture, PictureSequence
from robot_data_platform.quality.lag import Lag, command_lag, picture_lag
from robot_data_platform.quality.picture_meter import PictureMeter
from robot_data_platform.quality.rules.lag import camera_is_on_time, camera_lag_is_known
from robot_data_platform.quality.rules.values import SignalRows
from robot_data_platform.quality.thresholds import THRESHOLDS
from robot_data_platform.video.cut import cut_stream
from robot_data_platform.video.decode import GopDecoder
from robot_data_platform.video.settings import GopSettings

FPS = 30
CONTROL_HZ = 50
WIDTH_PX, HEIGHT_PX, RADIUS_PX = 160, 120, 8
FRAME_MS = 1000 / FPS
CONFIDENT = THRESHOLDS.lag_confidence.value
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Dot:
    """A dot whose x follows the first joint, a sum of two sines; five other joints wander."""

    seconds: float = 10.0
    late_s: float = 0.0
    seed: int = 0
    is_resting: bool = False

    def joint(self, time_s: Floats) -> Floats:
        rng = np.random.default_rng(self.seed)
        slow_hz, fast_hz, start, other = rng.uniform([0.2, 0.6, 0, 0], [0.6, 1.1, 6, 6])
        moving_s = time_s * (not self.is_resting)
        return np.asarray(
            0.6 * np.sin(2 * np.pi * slow_hz * moving_s + start)
            + 0.3 * np.sin(2 * np.pi * fast_hz * moving_s + other)
        )

    def row_ns(self) -> npt.NDArray[np.int64]:
        return np.arange(int(self.seconds * CONTROL_HZ)) * (10**9 // CONTROL_HZ)

    def frame_ns(self) -> npt.NDArray[np.int64]:
        return np.arange(int(self.seconds * FPS)) * 10**9 // FPS

    def state(self) -> SignalRows:
        rows_s = self.row_ns() / 1e9
        rng = np.random.default_rng(self.seed + 100)
        others = np.cumsum(rng.normal(0, 0.003, (len(rows_s), 5)), axis=0)
        return signal(np.column_stack([self.joint(rows_s), others * (not self.is_resting)]))

    def pictures(self) -> Iterator[Picture]:
        rng = np.random.default_rng(self.seed)
        wall = rng.integers(40, 120, (HEIGHT_PX // 8, WIDTH_PX // 8)).repeat(8, 0).repeat(8, 1)
        down, across = np.mgrid[:HEIGHT_PX, :WIDTH_PX]
        for x in self.joint(self.frame_ns() / 1e9 - self.late_s):
            far = np.hypot(across - WIDTH_PX / 2 * (1 + x), down - HEIGHT_PX / 2)
            cover = np.clip(RADIUS_PX + 0.5 - far, 0, 1)
            light = wall * (1 - cover) + 230 * cover + rng.normal(0, 2, wall.shape)
            yield np.clip(np.rint(light), 0, 255).astype(np.uint8)[:, :, None].repeat(3, axis=2)


def signal(values: Floats) -> SignalRows:
    return SignalRows(
        name="observation_state",
        values=values.astype(np.float32),
        is_present=np.ones(len(values), np.bool_),
        names=None,
        units=("rad",) * values.shape[1],
    )


def measured(dot: Dot) -> Lag:
    """Return the lag that is found after the pictures were coded as the lake codes them."""
    pictures = PictureSequence(num_frames=len(dot.frame_ns()), read=dot.pictures)
    stream = CameraStream(name="env", timestamp_ns=dot.frame_ns(), pictures=pictures)
    meter, decoder = PictureMeter(len(dot.frame_ns()), window=15), GopDecoder()
    cut = cut_stream(stream, GopSettings())
    for gop in cut.gops():
        for luma in decoder.decode_luma(
            gop.packets, gop.data, np.arange(gop.num_frames), cut.format
        ):
            meter.add(luma)
    return picture_lag(dot.state(), dot.row_ns(), meter.motion, dot.frame_ns())


@pytest.mark.parametrize(
    ("num_frames", "severities"), [(0, []), (1, []), (2, ["info"]), (5, ["warn"])]
)
def test_a_video_that_is_shifted_by_frames_is_told_in_milliseconds(
    num_frames: int, severities: list[str]
) -> None:
    lag = measured(Dot(late_s=num_frames / FPS))
    assert lag.lag_ms == pytest.approx(num_frames * FRAME_MS, abs=10)
    assert lag.confidence >= CONFIDENT
    found = camera_is_on_time("env", lag, FRAME_MS, THRESHOLDS)
    assert [finding.severity for finding in found] == severities


def test_the_median_error_in_five_seconds_is_below_ten_milliseconds() -> None:
    late_s = np.random.default_rng(7).uniform(-0.2, 0.3, 8)
    lags = [measured(Dot(seconds=5, late_s=s, seed=n)) for n, s in enumerate(late_s.tolist())]
    errors = [abs((lag.lag_ms or 1e9) - 1000 * s) for lag, s in zip(lags, late_s, strict=True)]
    assert np.median(errors) <= 10


def test_a_resting_robot_gives_no_lag_and_says_why() -> None:
    lag = measured(Dot(seconds=5, is_resting=True))
    assert (lag.lag_ms, lag.confidence, lag.reason) == (None, 0.0, "no joint moves")
    (finding,) = camera_lag_is_known("env", lag, THRESHOLDS)
    assert "no joint moves" in finding.message


def test_motion_that_has_nothing_to_do_with_the_joints_is_not_believed() -> None:
    dot, other = Dot(seconds=5, seed=1), Dot(seconds=5, seed=2)
    motion = np.abs(np.diff(other.joint(dot.frame_ns() / 1e9), prepend=0)) * 10
    motion += np.random.default_rng(3).uniform(0, motion.max(), len(motion))
    lag = picture_lag(dot.state(), dot.row_ns(), motion, dot.frame_ns())
    assert lag.confidence < CONFIDENT


def test_a_short_episode_gives_no_lag() -> None:
    dot = Dot(seconds=1)
    lag = picture_lag(dot.state(), dot.row_ns(), np.ones(FPS), dot.frame_ns())
    assert (lag.lag_ms, lag.reason) == (None, "too few pictures lie well within the rows")


def test_pictures_that_were_not_measured_are_left_out() -> None:
    dot = Dot(seconds=5)
    speed = np.abs(np.gradient(dot.joint(dot.frame_ns() / 1e9 - 0.05)))
    speed[40:60] = np.nan
    lag = picture_lag(dot.state(), dot.row_ns(), speed, dot.frame_ns())
    assert lag.lag_ms == pytest.approx(50 - FRAME_MS / 2, abs=5)


@pytest.mark.parametrize("late_ms", [-100, 0, 80, 240])
def test_a_state_is_as_late_as_it_follows_its_action(late_ms: int) -> None:
    dot = Dot(seconds=8)
    rows_s = dot.row_ns() / 1e9
    rng = np.random.default_rng(5)
    action, state = (
        signal(
            np.column_stack([dot.joint(t), Dot(seed=9).joint(t)]) + rng.normal(0, 1e-4, (len(t), 2))
        )
        for t in (rows_s, rows_s - late_ms / 1000)
    )
    lag = command_lag(state, action, dot.row_ns())
    assert lag.lag_ms == pytest.approx(late_ms, abs=5)
    assert lag.confidence >= CONFIDENT


def test_an_action_that_is_no_position_gives_no_lag_that_is_believed() -> None:
    dot = Dot(seconds=8)
    noise = signal(np.random.default_rng(1).normal(0, 1, (len(dot.row_ns()), 6)))
    assert command_lag(dot.state(), noise, dot.row_ns()).confidence < CONFIDENT
