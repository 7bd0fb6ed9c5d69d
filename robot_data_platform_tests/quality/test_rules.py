"""Each rule has an episode that breaks it and only it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pytest

from robot_data_platform.core.finding import Severity
from robot_data_platform.quality.lag import Lag
from robot_data_platform_tests.quality.arrays import (
    GOP_SIZE,
    NUM_FRAMES,
    NUM_ROWS,
    WINDOW,
    CameraArrays,
    EpisodeArrays,
    camera_arrays,
    faultless_episode,
    findings_of,
)

MS = 1_000_000
STATE = "observation_state"
INFO, WARN, FAIL = Severity


@dataclass(frozen=True, slots=True)
class Case:
    """A way to break an episode, and the one finding it must give."""

    rule: str
    severity: Severity
    damage: Callable[[EpisodeArrays], object]
    where: str
    value: float | None
    """None = checked elsewhere, or not a round number."""


def _row_time_stands_still(e: EpisodeArrays) -> None:
    e.timestamp_ns[200:] -= 10 * MS


def _frame_time_stands_still(e: EpisodeArrays) -> None:
    pts_ns = e.cameras["a"].pts_ns
    pts_ns[60:] -= pts_ns[60] - pts_ns[59]


def _rows_out_of_order(e: EpisodeArrays) -> None:
    e.frame_index[[5, 6]] = 6, 5


def _one_row_lost(e: EpisodeArrays) -> None:
    e.timestamp_ns[200:] += 10 * MS


def _recorder_stalls(e: EpisodeArrays) -> None:
    e.timestamp_ns[200:] += 290 * MS


def _every_tenth_row_lost(e: EpisodeArrays) -> None:
    e.timestamp_ns += np.arange(NUM_ROWS) // 10 * 10 * MS


def _rows_slower_than_stated(e: EpisodeArrays) -> None:
    e.nominal_hz = 110


def _camera_slower_than_stated(e: EpisodeArrays) -> None:
    e.cameras["b"].nominal_fps = 60


def _rows_jitter(e: EpisodeArrays) -> None:
    rng = np.random.default_rng(1)
    e.timestamp_ns += rng.integers(-2 * MS, 2 * MS, NUM_ROWS)


def _few_pictures_dropped(e: EpisodeArrays) -> None:
    for start in (50, 200, 333):
        e.cameras["b"].references[start : start + 3] = -1


def _many_pictures_dropped(e: EpisodeArrays) -> None:
    e.cameras["b"].references[5::10] = -1


def _pictures_missing_long(e: EpisodeArrays) -> None:
    e.cameras["b"].references[100:155] = -1


def _camera_missing(e: EpisodeArrays) -> None:
    e.drop_camera("b")


def _camera_starts_late(e: EpisodeArrays) -> None:
    e.cameras["b"] = camera_arrays("b", 1, e.timestamp_ns, 18, NUM_FRAMES - 18)


def _camera_dies_early(e: EpisodeArrays) -> None:
    e.cameras["b"] = camera_arrays("b", 1, e.timestamp_ns, 0, NUM_FRAMES - 24)


def _blob_changed(e: EpisodeArrays) -> None:
    gops = e.cameras["a"].gops
    gops[3] = replace(gops[3], sha256_found="bb", num_frames_decoded=None)


def _frames_lost_in_gop(e: EpisodeArrays) -> None:
    gops = e.cameras["a"].gops
    gops[3] = replace(gops[3], num_frames_decoded=GOP_SIZE - 1)


def _gop_undecodable(e: EpisodeArrays) -> None:
    gops = e.cameras["a"].gops
    gops[3] = replace(gops[3], num_frames_decoded=0, decode_error="no key frame")


def _gops_overlap(e: EpisodeArrays) -> None:
    gops = e.cameras["a"].gops
    gops[3] = replace(gops[3], first_frame=gops[2].first_frame)


def _wrong_row_count(e: EpisodeArrays) -> None:
    e.declared_num_rows = NUM_ROWS + 1


def _reference_past_gop(e: EpisodeArrays) -> None:
    e.cameras["a"].references[7, 2] = GOP_SIZE


def _reference_to_no_gop(e: EpisodeArrays) -> None:
    e.cameras["a"].references[7, 1] = 99


def _reference_to_other_stream(e: EpisodeArrays) -> None:
    e.cameras["a"].references[7, 0] = 77


def _half_a_reference(e: EpisodeArrays) -> None:
    e.cameras["a"].references[7, 1] = -1


def _state_has_nan(e: EpisodeArrays) -> None:
    e.signals[STATE][17, 3] = np.nan


def _action_has_inf(e: EpisodeArrays) -> None:
    e.signals["action"][30, 0] = np.inf


def _other_signal_has_nan(e: EpisodeArrays) -> None:
    e.signals["observation_effort"][2:5, 1] = np.nan


def _joint_is_constant(e: EpisodeArrays) -> None:
    e.signals[STATE][:, 3] = 0.5


def _action_is_constant(e: EpisodeArrays) -> None:
    e.signals["action"][:, :2] = 0.5


def _sensor_glitch(e: EpisodeArrays) -> None:
    e.signals[STATE][200, 1] += 2


def _glitch_of_two_samples(e: EpisodeArrays) -> None:
    e.signals[STATE][200:202, 1] += 2


def _joint_teleports(e: EpisodeArrays) -> None:
    e.signals[STATE][200:, 1] += 2


def _beyond_limits(e: EpisodeArrays) -> None:
    e.limits = [[-2, 2], [-2, 0.9], [-2, 2], [-2, 2]]


def _beyond_one_limit_of_few(e: EpisodeArrays) -> None:
    e.limits = [[None, None], [None, None], [-2, 0.9], [None, None]]


def _rests_at_limit(e: EpisodeArrays) -> None:
    e.signals[STATE][:, 2] = np.minimum(e.signals[STATE][:, 2], 0.8)
    e.limits = [[-2, 2], [-2, 2], [-2, 0.8], [-2, 2]]


def _action_starts_late(e: EpisodeArrays) -> None:
    e.absent["action"] = range(4)


def _action_is_sparse(e: EpisodeArrays) -> None:
    e.absent["action"] = range(0, NUM_ROWS, 3)


def _action_missing(e: EpisodeArrays) -> None:
    e.absent["action"] = range(NUM_ROWS)


def _lens_covered(e: EpisodeArrays) -> None:
    _blank(e, level=16)


def _overexposed(e: EpisodeArrays) -> None:
    _blank(e, level=234)


def _blank(e: EpisodeArrays, level: float) -> None:
    camera = e.cameras["b"]
    camera.percentiles[30:60] = level
    camera.change[31:60] = 0
    camera.window_change[30 + WINDOW : 60] = 0


def _camera_freezes(e: EpisodeArrays) -> None:
    camera = e.cameras["b"]
    camera.change[41:60] = 2
    camera.window_change[40 + WINDOW : 60] = 2.5


def _camera_on_another_clock(e: EpisodeArrays) -> None:
    camera = e.cameras["b"]
    camera.pts_ns += 3_600_000 * MS
    camera.references[:] = -1


def _camera_is_late(e: EpisodeArrays) -> None:
    e.cameras["b"].lag = Lag(lag_ms=5000 / 30, confidence=0.95)


def _camera_is_a_little_early(e: EpisodeArrays) -> None:
    e.cameras["b"].lag = Lag(lag_ms=-70.0, confidence=0.95)


def _camera_lag_is_doubtful(e: EpisodeArrays) -> None:
    e.cameras["b"].lag = Lag(lag_ms=400.0, confidence=0.4)


def _state_before_action(e: EpisodeArrays) -> None:
    e.command = Lag(lag_ms=-60.0, confidence=0.99)


def _state_long_after_action(e: EpisodeArrays) -> None:
    e.command = Lag(lag_ms=500.0, confidence=0.99)


def _robot_starts_late(e: EpisodeArrays) -> None:
    e.signals[STATE][:230] = e.signals[STATE][230]


def _robot_stops_early(e: EpisodeArrays) -> None:
    e.signals[STATE][170:] = e.signals[STATE][170]


def _robot_shivers(e: EpisodeArrays) -> None:
    rng = np.random.default_rng(0)
    e.signals[STATE][:] = rng.normal(0, 1e-3, e.signals[STATE].shape)


def _picture_is_dark(e: EpisodeArrays) -> None:
    e.cameras["b"].percentiles[:90, 1] = 20


def _lens_is_out_of_focus(e: EpisodeArrays) -> None:
    e.cameras["b"].sharpness = 0.018


def _depth(e: EpisodeArrays) -> CameraArrays:
    camera = e.cameras["b"]
    camera.percentiles[:] = np.nan
    camera.measured_share = np.full(NUM_FRAMES, 0.9, np.float32)
    camera.change[:] = 0.4
    camera.window_change[:] = 0.6
    return camera


def _depth_is_empty(e: EpisodeArrays) -> None:
    camera = _depth(e)
    assert camera.measured_share is not None
    camera.measured_share[30:60] = 0
    camera.change[31:60] = 0
    camera.window_change[30 + WINDOW : 60] = 0


def _depth_freezes(e: EpisodeArrays) -> None:
    camera = _depth(e)
    camera.change[41:60] = 0
    camera.window_change[40 + WINDOW : 60] = 0


def _no_task(e: EpisodeArrays) -> None:
    e.task = e.instruction = None


def _placeholder_task(e: EpisodeArrays) -> None:
    e.task, e.instruction = "Dummy task", None


def _left_over_instruction(e: EpisodeArrays) -> None:
    e.instruction = "open the drawer"


CASES = [
    Case("timestamps_increase", FAIL, _row_time_stands_still, "rows 200", 1),
    Case("timestamps_increase", FAIL, _frame_time_stands_still, "camera=a frames 60", 1),
    Case("rows_count_up", FAIL, _rows_out_of_order, "rows 5..6", 2),
    Case("no_gaps", INFO, _one_row_lost, "rows 199", 20),
    Case("no_gaps", WARN, _recorder_stalls, "rows 199", 300),
    Case("no_gaps", WARN, _every_tenth_row_lost, "rows 9, 19, 29, 39, 49 and 34 more", 20),
    Case("rate_matches_nominal", WARN, _rows_slower_than_stated, "rows", 1 / 11),
    Case("rate_matches_nominal", WARN, _camera_slower_than_stated, "camera=b frames", 0.5),
    Case("steps_are_regular", INFO, _rows_jitter, "rows", None),
    Case("camera_covers_rows", INFO, _few_pictures_dropped, "camera=b rows 50..335", 9 / 400),
    Case("camera_covers_rows", WARN, _many_pictures_dropped, "camera=b rows 5..395", 0.1),
    Case("camera_covers_rows", WARN, _pictures_missing_long, "camera=b rows 100..154", 55 / 400),
    Case("camera_is_recorded", INFO, _camera_missing, "camera=b", None),
    Case("cameras_start_together", WARN, _camera_starts_late, "camera=b", 600),
    Case("cameras_end_together", WARN, _camera_dies_early, "camera=b", 800),
    Case("gop_hash_matches", FAIL, _blob_changed, "camera=a gops 3", 1),
    Case("gop_decodes_to_declared_frames", FAIL, _frames_lost_in_gop, "camera=a gops 3", 1),
    Case("gop_decodes_to_declared_frames", FAIL, _gop_undecodable, "camera=a gops 3", 1),
    Case("gops_follow_each_other", FAIL, _gops_overlap, "camera=a gops 3", 1),
    Case("counts_match_declared", FAIL, _wrong_row_count, "rows", 400),
    Case("row_references_exist", FAIL, _reference_past_gop, "camera=a rows 7", 1),
    Case("row_references_exist", FAIL, _reference_to_no_gop, "camera=a rows 7", 1),
    Case("row_references_exist", FAIL, _reference_to_other_stream, "camera=a rows 7", 1),
    Case("row_references_exist", FAIL, _half_a_reference, "camera=a rows 7", 1),
    Case("state_is_finite", FAIL, _state_has_nan, "observation_state[3] rows 17..17", 1),
    Case("action_is_finite", FAIL, _action_has_inf, "action[0] rows 30..30", 1),
    Case("signal_is_finite", FAIL, _other_signal_has_nan, "observation_effort[1] rows 2..4", 3),
    Case("state_varies", INFO, _joint_is_constant, "observation_state[3]", 1),
    Case("action_varies", INFO, _action_is_constant, "action[0,1]", 2),
    Case("state_has_no_jumps", WARN, _sensor_glitch, "observation_state[1] rows 200..200", 1),
    Case(
        "state_has_no_jumps", WARN, _glitch_of_two_samples, "observation_state[1] rows 200..202", 2
    ),
    Case("state_has_no_jumps", WARN, _joint_teleports, "observation_state[1] rows 200..200", 1),
    Case("state_is_within_limits", WARN, _beyond_limits, "observation_state[1]", None),
    Case("state_is_within_limits", WARN, _beyond_one_limit_of_few, "observation_state[2]", None),
    Case("state_is_not_saturated", INFO, _rests_at_limit, "observation_state[2]", None),
    Case("signal_covers_rows", INFO, _action_starts_late, "action rows 0..3", 0.01),
    Case("signal_covers_rows", WARN, _action_is_sparse, "action rows 0..399", 134 / 400),
    Case("signal_is_recorded", INFO, _action_missing, "action", None),
    Case("picture_is_not_black", WARN, _lens_covered, "camera=b frames 30..59", 29_000 / 30),
    Case("picture_is_not_overexposed", WARN, _overexposed, "camera=b frames 30..59", 29_000 / 30),
    Case(
        "picture_changes_while_moving", WARN, _camera_freezes, "camera=b frames 40..59", 19_000 / 30
    ),
    Case("clocks_agree", FAIL, _camera_on_another_clock, "camera=b", 3596.01),
    Case("camera_is_on_time", WARN, _camera_is_late, "camera=b", 5000 / 30),
    Case("camera_is_on_time", INFO, _camera_is_a_little_early, "camera=b", -70),
    Case("camera_lag_is_known", INFO, _camera_lag_is_doubtful, "camera=b", 0.4),
    Case("state_follows_action", WARN, _state_before_action, STATE, -60),
    Case("state_follows_action", INFO, _state_long_after_action, STATE, 500),
    Case("motion_starts_soon", INFO, _robot_starts_late, "rows 0..", None),
    Case("motion_lasts_to_the_end", INFO, _robot_stops_early, "rows 1", None),
    Case("robot_moves", INFO, _robot_shivers, "rows 0..399", 3990),
    Case("picture_is_well_exposed", INFO, _picture_is_dark, "camera=b", 0.75),
    Case("picture_is_sharp", INFO, _lens_is_out_of_focus, "camera=b", 0.018),
    Case("depth_is_measured", WARN, _depth_is_empty, "camera=b frames 30..59", 29_000 / 30),
    Case(
        "picture_changes_while_moving", WARN, _depth_freezes, "camera=b frames 40..59", 19_000 / 30
    ),
    Case("task_is_stated", INFO, _no_task, "task", None),
    Case("task_is_stated", INFO, _placeholder_task, "task", None),
    Case("instructions_fit_task", INFO, _left_over_instruction, "language_instruction", 1),
]


def test_a_faultless_episode_has_no_finding() -> None:
    assert findings_of(faultless_episode()) == []


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.damage.__name__.strip("_"))
def test_a_rule_is_broken_by_its_example_and_no_other(case: Case) -> None:
    episode = faultless_episode()
    case.damage(episode)
    (finding,) = findings_of(episode)
    assert (finding.rule, finding.severity) == (case.rule, case.severity)
    assert finding.where.startswith(case.where)
    if case.value is not None:
        assert finding.value == pytest.approx(case.value, rel=1e-4)
    assert (finding.value is None) == (finding.threshold is None) == (finding.unit == "")
    assert finding.message.endswith(".")


def test_a_non_finite_value_is_named_with_its_joint() -> None:
    episode = faultless_episode()
    _state_has_nan(episode)
    (finding,) = findings_of(episode)
    assert "dimension 3 'gripper' rows 17" in finding.message


def test_a_value_beyond_its_limits_is_told_in_the_unit_of_its_dimension() -> None:
    episode = faultless_episode()
    _beyond_limits(episode)
    episode.units_of_state = ["deg", "rad", "deg", "m"]
    (finding,) = findings_of(episode)
    assert "dimension 1 'shoulder' comes to 1 rad where -2 to 0.9 is declared" in finding.message


def test_a_dimension_without_limits_is_not_judged() -> None:
    episode = faultless_episode()
    episode.limits = [[None, None]] * 4
    assert findings_of(episode) == []


def test_an_episode_without_rows_is_judged_by_what_it_declares() -> None:
    episode = faultless_episode()
    empty = EpisodeArrays(
        frame_index=episode.frame_index[:0],
        timestamp_ns=episode.timestamp_ns[:0],
        signals={name: values[:0] for name, values in episode.signals.items()},
        absent={},
        cameras={},
        declared_num_rows=3,
    )
    (finding,) = findings_of(empty)
    assert finding.message == "The episode declares 3 rows: found 0."
