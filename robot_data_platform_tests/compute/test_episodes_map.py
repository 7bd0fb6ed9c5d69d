from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from robot_data_platform.compute.episodes_map import Fanout, Outcome, map_episodes
from robot_data_platform.errors import (
    LASTING_KINDS,
    CommitConflictError,
    DataFaultError,
    ErrorKind,
    RobotDataError,
    StorageError,
)
from robot_data_platform_tests.compute.items import (
    Item,
    items,
    num_tries,
    squared,
    squared_or_bug,
    squared_or_data_fault,
    squared_or_killed,
    squared_or_store_error,
)

ALONE = Fanout(num_workers=1, pause_s=0)
PAIR = Fanout(num_workers=2, pause_s=0)
ALWAYS = 1_000_000


def values(outcomes: list[Outcome[int]]) -> list[int | None]:
    return [outcome.value for outcome in outcomes]


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The pauses that were asked for; none is made."""
    asked: list[float] = []
    monkeypatch.setattr("robot_data_platform.compute.episodes_map.time.sleep", asked.append)
    return asked


@pytest.mark.parametrize("fanout", [ALONE, PAIR], ids=["in this process", "in two"])
def test_outcomes_stand_in_the_order_of_the_items(tmp_path: Path, fanout: Fanout) -> None:
    assert values(map_episodes(squared, items(tmp_path, 7), fanout)) == [0, 1, 4, 9, 16, 25, 36]


@pytest.mark.parametrize("fanout", [ALONE, PAIR], ids=["in this process", "in two"])
def test_no_items_have_no_outcomes(fanout: Fanout) -> None:
    assert map_episodes(squared, [], fanout) == []


def test_progress_counts_every_item_that_ended(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    work = items(tmp_path, 5, at_2=ALWAYS)
    map_episodes(squared_or_data_fault, work, PAIR, lambda *counts: told.append(counts))
    assert told == [(1, 5), (2, 5), (3, 5), (4, 5), (5, 5)]


def test_a_failing_store_is_tried_again_after_pauses_that_double(
    tmp_path: Path, pauses: list[float]
) -> None:
    work = items(tmp_path, 2, at_1=3)
    fanout = Fanout(num_workers=1, max_attempts=4, pause_s=0.5)
    assert values(map_episodes(squared_or_store_error, work, fanout)) == [0, 1]
    assert pauses == [0.5, 1.0, 2.0]


def test_a_commit_that_another_writer_won_is_tried_again(
    tmp_path: Path, pauses: list[float]
) -> None:
    item = Item(number=3, folder=tmp_path, num_failures=1, kind=ErrorKind.COMMIT_CONFLICT)
    assert values(map_episodes(squared_or_store_error, [item], ALONE)) == [9]


@pytest.mark.parametrize("fanout", [ALONE, PAIR], ids=["in this process", "in two"])
@pytest.mark.parametrize(
    ("kind", "error"),
    [
        (ErrorKind.STORE_FAILED, StorageError),
        (ErrorKind.COMMIT_CONFLICT, CommitConflictError),
    ],
)
def test_a_store_that_fails_too_often_ends_the_whole_with_its_error(
    tmp_path: Path, fanout: Fanout, kind: ErrorKind, error: type[RobotDataError]
) -> None:
    work = items(tmp_path, 3)
    work[1] = replace(work[1], num_failures=ALWAYS, kind=kind)
    with pytest.raises(error, match="Item 1 met a failing store") as caught:
        map_episodes(squared_or_store_error, work, fanout)
    assert (caught.value.kind, caught.value.facts) == (kind, {"item": 1})
    assert num_tries(work[1]) == fanout.max_attempts


@pytest.mark.parametrize("kind", sorted(LASTING_KINDS))
def test_a_store_that_another_try_cannot_mend_is_tried_once(
    tmp_path: Path, kind: ErrorKind
) -> None:
    item = Item(number=0, folder=tmp_path, num_failures=ALWAYS, kind=kind)
    with pytest.raises(StorageError) as caught:
        map_episodes(squared_or_store_error, [item], ALONE)
    assert caught.value.kind == kind
    assert num_tries(item) == 1


@pytest.mark.parametrize("fanout", [ALONE, PAIR], ids=["in this process", "in two"])
def test_a_data_fault_is_the_outcome_of_its_item_and_the_rest_goes_on(
    tmp_path: Path, fanout: Fanout
) -> None:
    work = items(tmp_path, 4, at_1=ALWAYS)
    outcomes = map_episodes(squared_or_data_fault, work, fanout)
    assert values(outcomes) == [0, None, 4, 9]
    fault = outcomes[1].error
    assert isinstance(fault, DataFaultError)
    assert (fault.kind, fault.facts) == (ErrorKind.UNREADABLE_FILE, {"item": 1})
    assert num_tries(work[1]) == 1


def test_the_result_of_a_faulty_item_raises_its_fault(tmp_path: Path) -> None:
    (outcome,) = map_episodes(squared_or_data_fault, items(tmp_path, 1, at_0=ALWAYS), ALONE)
    with pytest.raises(DataFaultError, match="Item 0 is damaged"):
        outcome.result()


@pytest.mark.parametrize("fanout", [ALONE, PAIR], ids=["in this process", "in two"])
def test_a_bug_is_not_taken_for_a_fault_of_the_data(tmp_path: Path, fanout: Fanout) -> None:
    work = items(tmp_path, 2, at_1=ALWAYS)
    with pytest.raises(KeyError):
        map_episodes(squared_or_bug, work, fanout)
    assert num_tries(work[1]) == 1


def test_items_whose_workers_died_once_are_tried_again(tmp_path: Path) -> None:
    work = items(tmp_path, 5, at_0=1, at_1=1, at_2=1, at_4=1)
    assert values(map_episodes(squared_or_killed, work, PAIR)) == [0, 1, 4, 9, 16]


def test_an_item_that_always_kills_its_worker_is_named(tmp_path: Path) -> None:
    work = items(tmp_path, 3, at_1=ALWAYS)
    with pytest.raises(StorageError, match=r"Items \[1.*worker died 3 times") as caught:
        map_episodes(squared_or_killed, work, PAIR)
    assert caught.value.kind == ErrorKind.WORKER_DIED
    assert caught.value.facts["items"][0] == 1  # type: ignore[index]
