"""2,000 spoilt sources: each is refused by name, or told of, or read as it was.

`make fuzz` does ten times as many.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

import numpy as np
import pytest

from robot_data_platform_tests.fuzz.__main__ import NUM_WORKERS, cases_of, told
from robot_data_platform_tests.fuzz.mutations.tree import Change, Promise, Tree
from robot_data_platform_tests.fuzz.run import Case, judge, whole_source
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


def test_a_reader_that_trusts_its_files_is_found_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = whole_source("rlds", tmp_path)
    monkeypatch.setattr("robot_data_platform.formats.rlds.messages.check_record", lambda *_: None)
    tree = Tree(tmp_path / "source", SEEDS["rlds"], Random(0))
    shutil.copytree(whole.root, tree.root)
    (shard,) = tree.root.rglob("*.tfrecord-*")
    shard.write_bytes(shard.read_bytes().replace(np.float32(50).tobytes(), b"\0\0\0\0"))
    change = Change(what="50 became 0", promise=Promise.EQUAL)
    found = judge(Case(seed_name="rlds", number=1), whole, tree, change).faults
    assert any("other columns 'action'" in fault for fault in found)
