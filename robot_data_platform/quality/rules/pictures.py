"""Rules on what the pictures show: neither black nor white nor empty, and moving with the robot."""

from __future__ import annotations

import numpy as np

from robot_data_platform.core.finding import Finding, Severity
from robot_data_platform.quality.picture_meter import StreamPictures
from robot_data_platform.quality.rules.timing import NS_PER_MS
from robot_data_platform.quality.runs import Bools, runs_of
from robot_data_platform.quality.thresholds import Thresholds


def picture_is_not_black(pictures: StreamPictures, limits: Thresholds) -> list[Finding]:
    """Warn of a run of pictures in which hardly a block is above black."""
    brightest = pictures.percentiles[:, 2]
    is_black = brightest <= pictures.black + limits.black_level.value
    return _long_runs("picture_is_not_black", "black", is_black, pictures, limits)


def picture_is_not_overexposed(pictures: StreamPictures, limits: Thresholds) -> list[Finding]:
    """Warn of a run of pictures that are white all over."""
    darkest = pictures.percentiles[:, 0]
    is_white = darkest >= pictures.white - limits.white_level.value
    return _long_runs("picture_is_not_overexposed", "white", is_white, pictures, limits)


def depth_is_measured(pictures: StreamPictures, limits: Thresholds) -> list[Finding]:
    """Warn of a run of depth maps in which next to nothing is measured."""
    is_empty = pictures.measured_share <= limits.depth_measured_share.value
    return _long_runs("depth_is_measured", "empty", is_empty, pictures, limits)


def _long_runs(
    rule: str, what: str, is_bad: Bools, pictures: StreamPictures, limits: Thresholds
) -> list[Finding]:
    return [
        _run_finding(
            rule, f"shows {what} pictures", start, stop, pictures, limits.dark_or_bright.value
        )
        for start, stop in runs_of(is_bad).tolist()
        if _duration_ms(pictures, start, stop) >= limits.dark_or_bright.value
    ]


def picture_changes_while_moving(
    pictures: StreamPictures, moved: Bools, limits: Thresholds
) -> list[Finding]:
    """Warn of a run of pictures that stay the same while joints that the camera sees move.

    Depth maps are stored without loss: a repeated one is the same but for nothing.

    Parameters
    ----------
    pictures : StreamPictures
        Measurements of the stream's F frames.
    moved : ndarray of bool, shape (F - window_frames, D)
        Which dimensions of the state are under way in each window of frames.

    Notes
    -----
    Two codings of one picture differ, by several levels at the border of two GOPs, and little of
    a camera's noise survives coding: one pair of frames says nothing. Over half a second an arm
    that moves changes its picture by far more than a coder does, so a window is still where
    neither any of its steps nor the whole of it shows more change than coding makes. Then the
    camera has frozen, or looks past what moves: the first picture after the run tells which, or
    else what the same joints do to the picture at other times.
    """
    level = _still_level(pictures, moved, limits)
    what = "depth map" if pictures.is_depth else "picture"
    is_still = _still_windows(pictures, level, limits)
    return [
        _run_finding(
            "picture_changes_while_moving",
            f"repeats one {what} while the state moves",
            start,
            stop + pictures.window_frames,
            pictures,
            limits.frozen.value,
        )
        for start, stop in runs_of(is_still).tolist()
        if _duration_ms(pictures, start, stop + pictures.window_frames) >= limits.frozen.value
        and _moves_through(moved[start:stop], pictures.window_frames, limits)
        and (
            _catches_up(stop + pictures.window_frames, pictures, level, limits)
            or _is_seen(slice(start, stop), pictures, moved, level, limits)
        )
    ]


def _still_level(pictures: StreamPictures, moved: Bools, limits: Thresholds) -> float:
    """Return the change, in levels or of depth as a share, up to which a window is still."""
    if pictures.is_depth:
        return limits.depth_still_share.value
    change = pictures.window_change[pictures.window_frames :][np.any(moved, axis=1)]
    known = change[np.isfinite(change)]
    usual = float(np.median(known)) if len(known) else 0.0
    share = limits.frozen_share_of_usual.value * usual
    return min(max(share, limits.frozen_floor.value), limits.frozen_ceiling.value)


def _still_windows(pictures: StreamPictures, level: float, limits: Thresholds) -> Bools:
    """Return (F - window,) which windows show one picture, with enough contrast to tell."""
    window = pictures.window_frames
    if len(pictures.change) <= window:
        return np.zeros(0, dtype=np.bool_)
    is_clear = _shows_something(pictures, limits)[window:]
    steps = np.lib.stride_tricks.sliding_window_view(pictures.change[1:], window)
    is_same = (pictures.window_change[window:] <= level) & (steps.max(axis=1) <= level)
    return np.asarray(is_same & is_clear)


def _shows_something(pictures: StreamPictures, limits: Thresholds) -> Bools:
    """Return (F,) which pictures have enough in them to show motion."""
    if pictures.is_depth:
        return np.asarray(pictures.measured_share > limits.depth_measured_share.value)
    contrast = pictures.percentiles[:, 2] - pictures.percentiles[:, 0]
    return np.asarray(contrast >= limits.flat_contrast.value)


def _moves_through(moved: Bools, window: int, limits: Thresholds) -> bool:
    """Return whether the state moves during a still run, not only at an end of it."""
    share = limits.frozen_moving_share.value
    return int(np.any(moved, axis=1).sum()) >= share * min(len(moved), window)


def _catches_up(frame: int, pictures: StreamPictures, level: float, limits: Thresholds) -> bool:
    """Return whether the frame after a still run makes up for it at once.

    An arm that comes into view, or starts, changes its first pictures less than others.
    """
    if frame >= len(pictures.change):
        return False
    known = pictures.change[np.isfinite(pictures.change)]
    usual = max(
        limits.frozen_seen_change.value * level,
        limits.frozen_catch_up.value * float(np.median(known)),
    )
    return bool(pictures.change[frame] >= usual)


def _is_seen(
    run: slice, pictures: StreamPictures, moved: Bools, level: float, limits: Thresholds
) -> bool:
    """Return whether the joints that move in a still run visibly change the picture elsewhere.

    A camera may look past them: one on the left wrist sees nothing of a right arm. Where they
    don't move by themselves for as long as a window elsewhere, most of the state must be moving.
    """
    in_run = moved[run].any(axis=0)
    is_like = np.any(moved, axis=1) & ~np.any(moved & ~in_run, axis=1)
    is_like[run] = False
    change = pictures.window_change[pictures.window_frames :][is_like]
    known = change[np.isfinite(change)]
    if len(known) < pictures.window_frames:
        return float(np.mean(in_run)) > limits.frozen_most_of_state.value
    return float(np.median(known)) >= limits.frozen_seen_change.value * level


def _run_finding(
    rule: str, what: str, start: int, stop: int, pictures: StreamPictures, limit_ms: float
) -> Finding:
    lasts_ms = _duration_ms(pictures, start, stop)
    return Finding(
        rule=rule,
        severity=Severity.WARN,
        message=f"Camera {pictures.camera!r} {what} for {lasts_ms:.0f} ms: {stop - start} frames, "
        f"{start} to {stop - 1} of {len(pictures.pts_ns)}.",
        where=f"camera={pictures.camera} frames {start}..{stop - 1}",
        value=lasts_ms,
        threshold=limit_ms,
        unit="ms",
    )


def _duration_ms(pictures: StreamPictures, start: int, stop: int) -> float:
    """Return the time from the first to the last frame of a half-open run."""
    return float(pictures.pts_ns[stop - 1] - pictures.pts_ns[start]) / NS_PER_MS
