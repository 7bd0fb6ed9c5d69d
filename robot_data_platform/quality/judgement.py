"""The rules applied to one episode, from what its tables say and what was measured of it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robot_data_platform.core.finding import Finding
from robot_data_platform.core.recording import ACTION, STATE
from robot_data_platform.quality.measurements import EpisodeMeasurements
from robot_data_platform.quality.motion import rows_at_rest
from robot_data_platform.quality.picture_judgement import driving_signal, judge_pictures
from robot_data_platform.quality.rules import (
    coverage,
    idle,
    integrity,
    lag,
    meaning,
    timing,
    values,
)
from robot_data_platform.quality.stored_episode import StoredEpisode, StoredStream
from robot_data_platform.quality.stream_measurements import StreamMeasurements
from robot_data_platform.quality.thresholds import Thresholds


def judge(
    stored: StoredEpisode, measured: EpisodeMeasurements, limits: Thresholds
) -> list[Finding]:
    """Return what the rules find in an episode that was measured before."""
    signals = stored.signals()
    return [
        *_judge_integrity(stored, measured.streams),
        *_judge_time(stored, limits),
        *_judge_values(stored, signals, limits),
        *_judge_motion(stored, signals, measured, limits),
        *judge_pictures(stored, signals, measured, limits),
        *meaning.task_is_stated(stored.declared["task"], stored.instructions()),
        *meaning.instructions_fit_task(stored.declared["task"], stored.instructions()),
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
        findings += _judge_coverage(stored, camera, limits)
    spans = _spans(stored, limits)
    return [
        *findings,
        *timing.cameras_start_together(spans, limits),
        *timing.cameras_end_together(spans, limits),
    ]


def _judge_coverage(stored: StoredEpisode, camera: str, limits: Thresholds) -> list[Finding]:
    stream = stored.stream(camera)
    if stream is not None:
        apart = timing.clocks_agree(camera, stored.timestamp_ns, stream.pts_ns, limits)
        if apart:
            return apart
    return coverage.camera_covers_rows(_camera_coverage(stored, camera), limits)


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


def _spans(stored: StoredEpisode, limits: Thresholds) -> list[timing.CameraSpan]:
    """Return when cameras show something while there are rows; those of another clock left out."""
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
        if not timing.clocks_agree(stream.camera, rows_ns, stream.pts_ns, limits)
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


def _judge_motion(
    stored: StoredEpisode,
    signals: Sequence[values.SignalRows],
    measured: EpisodeMeasurements,
    limits: Thresholds,
) -> list[Finding]:
    signal, row_ns = driving_signal(signals), stored.timestamp_ns
    findings = lag.state_follows_action(measured.rows.command, limits)
    if signal is not None and len(row_ns):
        num_head, num_tail = rows_at_rest(signal, limits)
        findings += idle.robot_moves(num_head, row_ns, limits)
        findings += idle.motion_starts_soon(num_head, row_ns, limits)
        findings += idle.motion_lasts_to_the_end(num_tail, row_ns, limits)
    return findings
