"""Rows held in memory are those that are taken from the table."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform.reader import RobotLanceDataset
from robot_data_platform.reader.ram_rows import RamRows
from robot_data_platform.storage.table import LakeTable
from robot_data_platform.testing.lake_model import LakeModel
from robot_data_platform_tests.reader.test_processes import assert_same


@pytest.fixture(scope="module")
def pair(built: LakeModel) -> tuple[RobotLanceDataset, RobotLanceDataset]:
    window = {"action": [-0.02, 0.0], "is_intervention": [0.0, 0.02]}
    held, taken = (
        RobotLanceDataset(
            built.root, built.dataset, delta_timestamps=window, ram_budget_bytes=num_bytes
        )
        for num_bytes in (1 << 30, 0)
    )
    return held, taken


@settings(max_examples=15)
@given(indices=st.lists(st.integers(0, 128), min_size=1, max_size=10))
def test_held_rows_equal_taken_ones(
    pair: tuple[RobotLanceDataset, RobotLanceDataset], indices: list[int]
) -> None:
    held, taken = (rows.__getitems__(indices) for rows in pair)
    assert_same(held, taken)


def test_some_episodes_are_held_alone(released: LakeModel) -> None:
    held, taken = (
        RobotLanceDataset(released.root, "robot", episodes=[1, 3], ram_budget_bytes=num_bytes)
        for num_bytes in (1 << 30, 0)
    )
    assert_same(held[:], taken[:])


def test_what_is_beyond_the_budget_is_not_held(built: LakeModel) -> None:
    # 129 rows of 7 + 3 + 1 float32, three texts, a boolean and two references: 83 bytes each.
    for num_bytes, is_held in ((20_000, True), (5_000, False)):
        rows = RobotLanceDataset(built.root, built.dataset, ram_budget_bytes=num_bytes)
        assert isinstance(rows._open().rows, RamRows) == is_held


def test_a_scan_that_gives_other_rows_than_the_index_has_is_caught(
    built: LakeModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = RobotLanceDataset(built.root, built.dataset)
    batches = LakeTable.batches

    def fewer(table: LakeTable, *arguments: object, **named: object) -> object:
        return (batch.slice(1) for batch in batches(table, *arguments, **named))  # type: ignore[arg-type]

    monkeypatch.setattr(LakeTable, "batches", fewer)
    with pytest.raises(DataFaultError, match=r"got 128 .*expected 129") as caught:
        rows[0]
    assert caught.value.kind is ErrorKind.ROW_MISMATCH


def test_values_are_copies_that_a_caller_may_change(built: LakeModel) -> None:
    rows = RobotLanceDataset(built.root, built.dataset)
    rows[3]["action"][:] = np.nan
    np.testing.assert_array_equal(rows[3]["action"], built.episodes[0].action[3])
