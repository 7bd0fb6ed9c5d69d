"""First frames in a shared video are whole numbers that floats can't shift."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robot_data_platform.errors import DataFaultError
from robot_data_platform.formats.lerobot.shared_video import SharedVideo, first_frame, share_video


def shared(lengths: list[int], starts_s: list[float], fps: Fraction = Fraction(30)) -> SharedVideo:
    return share_video(
        "v.mp4",
        np.arange(len(lengths)),
        np.array(lengths),
        np.array(starts_s, dtype=np.float64),
        fps,
    )


def never() -> int:
    raise AssertionError("the file was counted though nothing contradicts itself")


def test_two_thousand_starts_summed_in_float32_come_out_exact() -> None:
    lengths = np.random.default_rng(0).integers(7, 18, 2000)
    seconds = (lengths / 30).astype(np.float32)
    starts = np.concatenate([[0], np.cumsum(seconds, dtype=np.float32)[:-1]])
    assert np.abs(starts - np.concatenate([[0], np.cumsum(lengths)[:-1]]) / 30).max() > 0.0005
    video = share_video("v.mp4", np.arange(2000), lengths, starts.astype(np.float64), Fraction(30))
    for k in (0, 1, 999, 1999):
        assert first_frame(video, k, never) == (int(lengths[:k].sum()), ())


@given(
    st.lists(st.integers(1, 400), min_size=1, max_size=40),
    st.sampled_from([Fraction(10), Fraction(30000, 1001), Fraction(50)]),
    st.floats(-0.0004, 0.0004),
    st.integers(0, 1000),
)
def test_drift_that_stays_below_half_a_frame_a_step_never_shifts_a_start(
    lengths: list[int], fps: Fraction, drift_s: float, seed: int
) -> None:
    starts = [0.0]
    for length in lengths[:-1]:
        starts.append(starts[-1] + length / float(fps) + drift_s)
    order = np.random.default_rng(seed).permutation(len(lengths))
    video = share_video("v.mp4", order, np.array(lengths)[order], np.array(starts)[order], fps)
    for k in range(len(lengths)):
        first, _ = first_frame(video, k, never)
        assert first == sum(lengths[:k])


def test_a_file_that_starts_with_frames_of_nobody_keeps_them_out() -> None:
    video = shared([10, 10], [2.0, 2.0 + 10 / 30])
    assert first_frame(video, 1, never) == (70, ())


def test_frames_of_episodes_that_were_taken_out_are_no_fault() -> None:
    video = share_video(
        "v.mp4", np.array([2, 5]), np.array([10, 10]), np.array([0.0, 1.0]), Fraction(30)
    )
    first, findings = first_frame(video, 2, lambda: 40)
    assert (first, findings[0].value, str(findings[0].severity)) == (0, 20, "info")


def test_an_overlap_that_the_file_does_not_settle_is_refused_with_both_places() -> None:
    video = shared([10, 10], [0.0, 5 / 30])
    with pytest.raises(
        DataFaultError, match=r"episode 0 up to frame 10 and episode 1 from frame 5"
    ):
        first_frame(video, 1, lambda: 25)


def test_an_overlap_is_settled_by_a_file_that_the_rows_fill() -> None:
    video = shared([10, 10], [0.0, 5 / 30])
    first, findings = first_frame(video, 1, lambda: 20)
    assert (first, findings[0].rule) == (10, "video_start_matches_frame_count")
