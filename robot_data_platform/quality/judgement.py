"""The rules applied to one episode, from what its tables say and what its streams gave."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robot_data_platform.core.finding import Finding
from robot_data_platform.core.recording import ACTION, STATE
from robot_data_platform.quality.motion import moved_in_windows
from robot_data_platform.quality.picture_meter import StreamPictures
from robot_data_platform.quality.rules import coverage, integrity, pictures, timing, values
from robot_data_platform.quality.runs import Bools
from robot_data_platform.quality.stored_episode import StoredEpisode, StoredStream
from robot_data_platform.quality.stream_measurements import StreamMeasurements
from robot_data_platform.quality.thresholds import Thresholds


def judge(
    stored: StoredEpisode, streams: Sequence[StreamMeasurements], limits: Thresholds
) -> list[Finding]:
    """Return what the rules find in an episode whose streams were measured before."""
    signals = stored.signals()
    return [
        *_judge_integrity(stored, streams),
        *_judge_time(stored, limits),
        *_judge_values(stored, signals, limits),
        *_judge_pictures(stored, signals, streams, limits),
    ]


def _judge_integrity(stored: StoredEpisode, streams: Sequence[StreamMeasurements]) -> list[Finding]:
    gops = [gop for stream in streams for gop in stream.gops]
    findings = [
        *integrity.gop_hash_matches(gops),
        *integrity.gop_decodes_to_declared_frames(gops),
        *integrity.gops_follow_each_other(gops),
        *integrity.counts_match_declared(_counts(stored)),
        *timing.rows_count_up(stored.frame_index),
    ]
    for camera in stored.cameras:
        findings += integrity.row_references_exist(_references(stored, camera))
    return findings


def _counts(stored: StoredEpisode) -> list[integrity.Count]:
    declared = {"rows": stored.declared["num_rows"]}
    found = {"rows": stored.rows.num_rows}
    for camera in stored.declared["cameras"] or []:
        place = f"camera={camera['name']}"
        stream = stored.stream(camera["name"])
        gops = stream.gops if stream else ()
        declared |= {f"{place} gops": camera["num_gops"], f"{place} frames": camera["num_frames"]}
        found |= {f"{place} gops": len(gops), f"{place} frames": sum(g.num_frames for g in gops)}
    return [
        integrity.Count(what=what, declared=number, found=found[what])
        for what, number in declared.items()
    ]


def _references(stored: StoredEpisode, camera: str) -> integrity.References:
    stream = stored.stream(camera)
    gops = stream.gops if stream else ()
    return integrity.References(
        camera=camera,
        ref_id=stored.references(camera, "ref_id"),
        gop_index=stored.references(camera, "gop_index"),
        frame_index_in_gop=stored.references(camera, "frame_index_in_gop"),
        stream_ref_id=stream.ref_id if stream else -1,
        stored_gop_index=np.array([gop.gop_index for gop in gops], dtype=np.int64),
        stored_num_frames=np.array([gop.num_frames for gop in gops], dtype=np.int64),
    )


def _judge_time(stored: StoredEpisode, limits: Thresholds) -> list[Finding]:
    rows = timing.Clock(
        place="rows", timestamp_ns=stored.timestamp_ns, nominal_hz=stored.nominal_control_hz()
    )
    clocks = [rows, *(_camera_clock(stored, stream) for stream in stored.streams)]
    findings = timing.no_gaps(rows, limits)
    for clock in clocks:
        findings += timing.timestamps_increase(clock)
        findings += timing.rate_matches_nominal(clock, limits)
        findings += timing.steps_are_regular(clock, limits)
    for camera in stored.cameras:
        findings += coverage.camera_covers_rows(_camera_coverage(stored, camera), limits)
    spans = _spans(stored)
    return [
        *findings,
        *timing.cameras_start_together(spans, limits),
        *timing.cameras_end_together(spans, limits),
    ]


def _camera_clock(stored: StoredEpisode, stream: StoredStream) -> timing.Clock:
    return timing.Clock(
        place=f"camera={stream.camera} frames",
        timestamp_ns=stream.pts_ns,
        nominal_hz=stored.nominal_fps(stream.camera),
    )


def _camera_coverage(stored: StoredEpisode, camera: str) -> coverage.Coverage:
    stream = stored.stream(camera)
    return coverage.Coverage(
        name=camera,
        timestamp_ns=stored.timestamp_ns,
        is_covered=stored.references(camera, "ref_id") >= 0,
        period_ns=timing.period_ns(stream.pts_ns) or 0 if stream else 0,
    )


def _signal_coverage(stored: StoredEpisode, signal: values.SignalRows) -> coverage.Coverage:
    return coverage.Coverage(
        name=signal.name,
        timestamp_ns=stored.timestamp_ns,
        is_covered=signal.is_present,
        period_ns=stored.held_period_ns(signal.name),
    )


def _spans(stored: StoredEpisode) -> list[timing.CameraSpan]:
    rows_ns = stored.timestamp_ns
    if not len(rows_ns):
        return []
    return [
        timing.CameraSpan(
            camera=stream.camera,
            start_ns=int(np.clip(stream.pts_ns[0], rows_ns[0], rows_ns[-1])),
            end_ns=int(np.clip(stream.pts_ns[-1], rows_ns[0], rows_ns[-1])),
        )
        for stream in stored.streams
    ]


def _judge_values(
    stored: StoredEpisode, signals: Sequence[values.SignalRows], limits: Thresholds
) -> list[Finding]:
    findings: list[Finding] = []
    for signal in signals:
        findings += coverage.signal_covers_rows(_signal_coverage(stored, signal), limits)
        findings += values.is_finite(signal)
        if signal.name in (STATE, ACTION):
            findings += values.varies(signal, limits)
        findings += values.is_within_limits(signal, limits)
        findings += values.is_not_saturated(signal, limits)
        if signal.name == STATE:
            findings += values.has_no_jumps(signal, limits)
    return findings


def _judge_pictures(
    stored: StoredEpisode,
    signals: Sequence[values.SignalRows],
    streams: Sequence[StreamMeasurements],
    limits: Thresholds,
) -> list[Finding]:
    findings: list[Finding] = []
    for stream in streams:
        shown = stream.pictures
        findings += pictures.picture_is_not_black(shown, limits)
        findings += pictures.picture_is_not_overexposed(shown, limits)
        moved = _moved(stored, signals, shown, limits)
        findings += pictures.picture_changes_while_moving(shown, moved, limits)
    return findings


def _moved(
    stored: StoredEpisode,
    signals: Sequence[values.SignalRows],
    shown: StreamPictures,
    limits: Thresholds,
) -> Bools:
    """Return which dimensions move in each window; none where neither state nor action is there."""
    by_name = {s.name: s for s in signals if s.is_present.any()}
    signal = by_name.get(STATE) or by_name.get(ACTION)
    if signal is None:
        return np.zeros((max(0, len(shown.pts_ns) - shown.window_frames), 1), dtype=np.bool_)
    return moved_in_windows(signal, stored.timestamp_ns, shown.pts_ns, shown.window_frames, limits)
