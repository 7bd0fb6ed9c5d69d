"""Findings as rows, back again, and rolled up."""

from __future__ import annotations

from robot_data_platform.core.finding import Finding, Severity
from robot_data_platform.core.finding_rows import EpisodeKeys, findings_by_episode
from robot_data_platform.core.findings_schema import findings_schema
from robot_data_platform.core.schema import episodes_schema
from robot_data_platform.quality.lag import Lag
from robot_data_platform.quality.report import CameraLag, findings_table, rollup, worst_lag
from robot_data_platform.quality.thresholds import RULES_VERSION, THRESHOLDS
from robot_data_platform_tests.quality.arrays import faultless_episode, measurements_of

KEYS = EpisodeKeys(episode_index=7, episode_id="ep_7", upload="u1")
INFO = Finding(rule="steps_are_regular", severity=Severity.INFO, message="Uneven.")
WARN = Finding(
    rule="no_gaps",
    severity=Severity.WARN,
    message="A gap.",
    where="rows 3",
    value=300.0,
    threshold=250.0,
    unit="ms",
)
FAIL = Finding(rule="state_is_finite", severity=Severity.FAIL, message="NaN.")


def test_a_finding_becomes_a_row_of_quality() -> None:
    table = findings_table([(KEYS, [WARN])], RULES_VERSION)
    assert table.schema.equals(findings_schema())
    assert table.to_pylist() == [
        {
            "episode_index": 7,
            "episode_id": "ep_7",
            "upload": "u1",
            "stage": "quality",
            "rules_version": RULES_VERSION,
            "rule": "no_gaps",
            "severity": "warn",
            "value": 300.0,
            "threshold": 250.0,
            "unit": "ms",
            "where": "rows 3",
            "message": "A gap.",
        }
    ]


def test_no_findings_are_an_empty_table() -> None:
    table = findings_table([(KEYS, [])], RULES_VERSION)
    assert table.num_rows == 0
    assert table.schema.equals(findings_schema())


def test_rows_of_quality_become_the_findings_they_were() -> None:
    other = EpisodeKeys(episode_index=8, episode_id="ep_8", upload="u1")
    table = findings_table([(KEYS, [WARN, INFO]), (other, [FAIL])], RULES_VERSION)
    assert findings_by_episode(table) == {7: [WARN, INFO], 8: [FAIL]}


def test_an_episode_without_findings_is_ok() -> None:
    verdict = rollup([], RULES_VERSION)
    assert (verdict.status, verdict.q_version, verdict.q_rules_broken) == ("ok", RULES_VERSION, ())
    assert (verdict.q_num_info, verdict.q_num_warn, verdict.q_num_fail) == (0, 0, 0)


def test_a_note_leaves_an_episode_ok() -> None:
    verdict = rollup([INFO], RULES_VERSION)
    assert (verdict.status, verdict.q_num_info, verdict.q_rules_broken) == ("ok", 1, ())


def test_broken_rules_flag_an_episode_and_are_named_once() -> None:
    verdict = rollup([WARN, FAIL, WARN], RULES_VERSION)
    assert verdict.status == "flagged"
    assert (verdict.q_num_warn, verdict.q_num_fail) == (2, 1)
    assert verdict.q_rules_broken == ("no_gaps", "state_is_finite")


def test_findings_of_ingestion_count_too() -> None:
    verdict = rollup([INFO], RULES_VERSION, earlier=[WARN])
    assert (verdict.status, verdict.q_num_warn, verdict.q_num_info) == ("flagged", 1, 1)


def test_quarantine_is_never_lifted() -> None:
    assert rollup([], RULES_VERSION, is_quarantined=True).status == "quarantined"


def test_a_rollup_is_made_of_columns_of_episodes() -> None:
    assert set(type(rollup([], RULES_VERSION)).__slots__) <= set(episodes_schema().names)


def worst_of(first: Lag, second: Lag) -> CameraLag | None:
    episode = faultless_episode()
    episode.cameras["a"].lag, episode.cameras["b"].lag = first, second
    return worst_lag(measurements_of(episode), THRESHOLDS)


def test_the_worst_lag_is_that_of_the_camera_farthest_off_either_way() -> None:
    found = worst_of(Lag(lag_ms=40.0, confidence=0.95), Lag(lag_ms=-120.0, confidence=0.97))
    assert found == CameraLag(camera="b", lag_ms=-120.0, confidence=0.97)


def test_a_doubtful_lag_is_none() -> None:
    found = worst_of(Lag(lag_ms=40.0, confidence=0.95), Lag(lag_ms=500.0, confidence=0.4))
    assert found == CameraLag(camera="a", lag_ms=40.0, confidence=0.95)
    unknown = Lag(lag_ms=None, confidence=0.0, reason="nothing moves")
    assert worst_of(unknown, unknown) is None


def test_the_worst_lag_stands_in_the_columns_of_the_episode() -> None:
    lag = CameraLag(camera="b", lag_ms=-120.0, confidence=0.97)
    verdict = rollup([], RULES_VERSION, lag=lag)
    told = (verdict.q_lag_camera, verdict.q_lag_ms, verdict.q_lag_confidence)
    assert told == ("b", -120.0, 0.97)
