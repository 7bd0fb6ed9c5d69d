"""A run finds out what it is there to find out."""

from __future__ import annotations

import shutil
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import numpy as np

from robot_data_platform_tests.fuzz.mutations.tree import Change, Promise, Tree
from robot_data_platform_tests.fuzz.run import Case, judge, run, whole_source
from robot_data_platform_tests.fuzz.seeds import SEEDS

if TYPE_CHECKING:
    import pytest

CASE = Case(seed_name="rlds", number=1)
CHECK = "robot_data_platform.formats.rlds.messages.check_record"
"""What holds each record against its checksum."""


def test_a_reader_that_trusts_its_files_is_found_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = whole_source("rlds", tmp_path)
    monkeypatch.setattr(CHECK, lambda *_: None)
    tree = Tree(tmp_path / "source", SEEDS["rlds"], Random(0))
    shutil.copytree(whole.root, tree.root)
    (shard,) = tree.root.rglob("*.tfrecord-*")
    shard.write_bytes(shard.read_bytes().replace(np.float32(50).tobytes(), b"\0\0\0\0"))
    change = Change(what="50 became 0", promise=Promise.EQUAL)
    (fault,) = judge(CASE, whole, tree, change).faults
    assert "other columns 'action'" in fault


def test_an_error_that_is_no_refusal_is_a_fault_and_its_source_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise KeyError("steps")

    whole_source("rlds", tmp_path)
    monkeypatch.setattr(CHECK, fail)
    (fault,) = run(CASE, tmp_path).faults
    assert fault.rstrip().endswith("KeyError: 'steps'")
    assert (tmp_path / CASE.name / "source").is_dir()


def test_memory_over_the_limit_is_a_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole_source("rlds", tmp_path)
    monkeypatch.setattr("robot_data_platform_tests.fuzz.run.MAX_MEMORY_BYTES", -1)
    (fault,) = run(CASE, tmp_path).faults
    assert "bytes of memory: expected at most -1" in fault


def test_nothing_is_kept_of_a_run_that_went_well(tmp_path: Path) -> None:
    outcome = run(CASE, tmp_path)
    assert outcome.faults == ()
    assert outcome.num_converted == 2
    assert not (tmp_path / CASE.name).exists()
