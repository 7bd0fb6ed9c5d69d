"""2,000 spoilt sources: each is refused by name, or told of, or read as it was.

`make fuzz` does ten times as many.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from robot_data_platform_tests.fuzz.__main__ import NUM_WORKERS, cases_of, told
from robot_data_platform_tests.fuzz.seeds import SEEDS
from robot_data_platform_tests.fuzz.workers import Worker, outcomes

NUM_RUNS = 2_000


@pytest.fixture(scope="module")
def workers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sequence[Worker]]:
    """The processes that do the runs."""
    folder = tmp_path_factory.mktemp("fuzz")
    started = [Worker(folder) for _ in range(NUM_WORKERS)]
    yield started
    for worker in started:
        worker.close()


@pytest.mark.parametrize("name", SEEDS)
def test_a_spoilt_source_is_refused_told_of_or_read_as_it_was(
    name: str, workers: Sequence[Worker]
) -> None:
    cases = [case for case in cases_of(NUM_RUNS, list(SEEDS)) if case.seed_name == name]
    failed = [told(outcome) for outcome in outcomes(cases, workers) if outcome.faults]
    again = f"python -m robot_data_platform_tests.fuzz --replay {name} NUMBER"
    assert not failed, "\n".join([f"{len(failed)} runs failed; `{again}` does one again:", *failed])
