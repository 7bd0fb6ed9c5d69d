"""Runs that never come back are told, and the runs after them are done."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from robot_data_platform_tests.fuzz.run import Case, Outcome
from robot_data_platform_tests.fuzz.workers import Run, Worker, outcomes

MakeWorker = Callable[..., Worker]
HANGS, CRASHES, FINE = (Case(seed_name="any", number=number) for number in range(3))


def stubborn(case: Case, folder: Path) -> Outcome:
    """Do what the case's number says."""
    if case == HANGS:
        time.sleep(600)
    if case == CRASHES:
        os.kill(os.getpid(), signal.SIGSEGV)
    return Outcome(case=case, what=str(os.getpid()))


def greedy(case: Case, folder: Path) -> Outcome:
    """Take 3 GB."""
    try:
        np.ones(3 << 27)
    except MemoryError:
        return Outcome(case=case, faults=("MemoryError",))
    return Outcome(case=case)


@pytest.fixture
def make_worker(tmp_path: Path) -> Iterator[MakeWorker]:
    """Makes a worker that is closed at the end."""
    made: list[Worker] = []

    def make(function: Run, max_seconds: float = 30.0) -> Worker:
        made.append(Worker(tmp_path, function, max_seconds))
        return made[-1]

    yield make
    for worker in made:
        worker.close()


def test_a_process_is_kept_between_runs(make_worker: MakeWorker) -> None:
    worker = make_worker(stubborn)
    assert worker.run(FINE).what == worker.run(FINE).what


@pytest.mark.parametrize(
    ("case", "fault"),
    [(HANGS, "took more than 1.0 s"), (CRASHES, "ended its process (exit code -11)")],
    ids=["hangs", "crashes"],
)
def test_a_run_that_never_comes_back_is_a_fault_and_the_next_one_is_done(
    make_worker: MakeWorker, case: Case, fault: str
) -> None:
    worker = make_worker(stubborn, 1.0)
    assert worker.run(case).faults == (fault,)
    assert worker.run(FINE).faults == ()


def test_more_memory_than_the_limit_is_not_to_be_had(make_worker: MakeWorker) -> None:
    assert make_worker(greedy).run(FINE).faults == ("MemoryError",)


def test_every_case_has_its_outcome_whichever_worker_does_it(make_worker: MakeWorker) -> None:
    cases = [Case(seed_name="any", number=number) for number in range(10, 20)]
    workers = [make_worker(stubborn), make_worker(stubborn)]
    done = [outcome.case.number for outcome in outcomes([CRASHES, *cases], workers)]
    assert sorted(done) == [CRASHES.number, *range(10, 20)]
