"""Every fault of a set of stored recordings is found, by its rule alone, at its place."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pytest

from robot_data_platform.core.finding import Finding, Severity
from robot_data_platform.core.fingerprint import table_digest
from robot_data_platform.core.measurement_schema import measurements_schema
from robot_data_platform.quality.episode import check_episode, fits
from robot_data_platform.quality.measurement_rows import episode_measurements, measurement_rows
from robot_data_platform.quality.stored_episode import read_episode
from robot_data_platform.storage.commit import rewrite_columns
from robot_data_platform.storage.lake import Lake
from robot_data_platform.storage.snapshot import Snapshot, open_snapshot
from robot_data_platform_tests.quality.recorded_lake import DATASET, Take, store
from robot_data_platform_tests.quality.scenes import Scene

ENV = Scene(seed=1)


def wrist(**faults: frozenset[int]) -> Take:
    return Take(scenes={"env": ENV, "wrist": Scene(seed=2, **faults)})  # type: ignore[arg-type]


def with_value(row: int, value: float) -> Take:
    state = ENV.state()
    state[row, 0] = value
    return Take(scenes={"env": ENV, "wrist": Scene(seed=2)}, state=state)


TAKES: Mapping[str, Take] = {
    "clean": wrist(),
    "frozen": wrist(frozen=frozenset(range(31, 51))),
    "frozen_to_the_end": wrist(frozen=frozenset(range(60, 90))),
    "black": wrist(black=frozenset(range(30, 50))),
    "black_throughout": wrist(black=frozenset(range(90))),
    "dropped_a_few": wrist(lost=frozenset({40, 41})),
    "dropped_many": wrist(lost=frozenset(range(30, 50))),
    "nan": with_value(17, np.nan),
    "infinite": with_value(299, np.inf),
    "jump": with_value(150, 5.0),
    "count": wrist(),
}
FOUND: Mapping[str, tuple[str, Severity, str]] = {
    "frozen": ("picture_changes_while_moving", Severity.WARN, "camera=wrist frames 30..50"),
    "frozen_to_the_end": (
        "picture_changes_while_moving",
        Severity.WARN,
        "camera=wrist frames 59..89",
    ),
    "black": ("picture_is_not_black", Severity.WARN, "camera=wrist frames 30..49"),
    "black_throughout": ("picture_is_not_black", Severity.WARN, "camera=wrist frames 0..89"),
    "dropped_a_few": ("camera_covers_rows", Severity.INFO, "camera=wrist rows 132..138"),
    "dropped_many": ("camera_covers_rows", Severity.WARN, "camera=wrist rows 99..164"),
    "nan": ("state_is_finite", Severity.FAIL, "observation_state[0] rows 17..17"),
    "infinite": ("state_is_finite", Severity.FAIL, "observation_state[0] rows 299..299"),
    "jump": ("state_has_no_jumps", Severity.WARN, "observation_state[0] rows 150..150"),
    "count": ("counts_match_declared", Severity.FAIL, "rows"),
}
NOT_KNOWN = "camera_lag_is_known"
"""Three seconds of slow motion are too few to tell a lag, whatever else is wrong."""


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    root = tmp_path_factory.mktemp("lake")
    stored = store(root, list(TAKES.values()))
    wrong = {"episode_index": [list(TAKES).index("count")], "num_rows": [301]}
    rewrite_columns(stored.episodes.uri, pa.table(wrong), key="episode_index", properties={})
    return open_snapshot(Lake(root), DATASET)


def found(snapshot: Snapshot, name: str) -> list[Finding]:
    stored = read_episode(snapshot, list(TAKES).index(name))
    findings = check_episode(snapshot, stored).findings
    return [finding for finding in findings if finding.rule != NOT_KNOWN]


@pytest.mark.parametrize("name", list(FOUND))
def test_a_fault_is_found_by_its_rule_alone(snapshot: Snapshot, name: str) -> None:
    (finding,) = found(snapshot, name)
    assert (finding.rule, finding.severity, finding.where) == FOUND[name]


def test_a_clean_recording_has_no_finding(snapshot: Snapshot) -> None:
    assert found(snapshot, "clean") == []


@pytest.mark.parametrize("name", ["clean", "black", "dropped_many"])
def test_measurements_come_back_from_their_rows_as_they_were(snapshot: Snapshot, name: str) -> None:
    stored = read_episode(snapshot, list(TAKES).index(name))
    measured = check_episode(snapshot, stored).measured
    rows = measurement_rows("c", 0, measured)
    again = episode_measurements(rows.to_pylist(), ["env", "wrist"])
    assert again is not None
    assert table_digest(measurement_rows("c", 0, again)) == table_digest(rows)
    assert fits(again, stored)
    assert rows.schema == measurements_schema()


def test_measurements_without_a_stream_are_none(snapshot: Snapshot) -> None:
    stored = read_episode(snapshot, 0)
    rows = measurement_rows("c", 0, check_episode(snapshot, stored).measured)
    assert episode_measurements(rows.to_pylist(), ["env", "wrist", "third"]) is None
