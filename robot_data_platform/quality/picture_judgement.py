"""The rules on pictures applied to one episode."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robot_data_platform.core.finding import Finding
from robot_data_platform.core.recording import ACTION, STATE
from robot_data_platform.quality.measurements import EpisodeMeasurements
from robot_data_platform.quality.motion import moved_in_windows
from robot_data_platform.quality.picture_meter import StreamPictures
from robot_data_platform.quality.rules import lag, look, pictures
from robot_data_platform.quality.rules.timing import NS_PER_MS, period_ns
from robot_data_platform.quality.rules.values import SignalRows
from robot_data_platform.quality.runs import Bools
from robot_data_platform.quality.stored_episode import StoredEpisode
from robot_data_platform.quality.thresholds import Thresholds


def judge_pictures(
    stored: StoredEpisode,
    signals: Sequence[SignalRows],
    measured: EpisodeMeasurements,
    limits: Thresholds,
) -> list[Finding]:
    """Return what the rules find in the pictures of an episode."""
    findings: list[Finding] = []
    for stream, late in zip(measured.streams, measured.lags, strict=True):
        shown = stream.pictures
        findings += pictures.picture_is_not_black(shown, limits)
        findings += pictures.picture_is_not_overexposed(shown, limits)
        findings += pictures.depth_is_measured(shown, limits)
        moved = _moved(stored, signals, shown, limits)
        findings += pictures.picture_changes_while_moving(shown, moved, limits)
        findings += look.picture_is_well_exposed(shown, limits)
        findings += look.picture_is_sharp(shown.camera, stream.look, limits)
        if not shown.is_depth:
            period_ms = (period_ns(shown.pts_ns) or 0) / NS_PER_MS
            findings += lag.camera_is_on_time(shown.camera, late, period_ms, limits)
            findings += lag.camera_lag_is_known(shown.camera, late, limits)
    return findings


def driving_signal(signals: Sequence[SignalRows]) -> SignalRows | None:
    """Return the measured state, or where there is none the action."""
    by_name = {s.name: s for s in signals if s.is_present.any()}
    return by_name.get(STATE) or by_name.get(ACTION)


def _moved(
    stored: StoredEpisode,
    signals: Sequence[SignalRows],
    shown: StreamPictures,
    limits: Thresholds,
) -> Bools:
    """Return which dimensions move in each window; none where neither state nor action is there."""
    signal = driving_signal(signals)
    if signal is None:
        return np.zeros((max(0, len(shown.pts_ns) - shown.window_frames), 1), dtype=np.bool_)
    return moved_in_windows(signal, stored.timestamp_ns, shown.pts_ns, shown.window_frames, limits)
