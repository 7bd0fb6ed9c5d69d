"""GOPs that could not be read, as a program that trains counts them."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable

import pytest

from robot_data_platform.errors import DataFaultError
from robot_data_platform.reader import RobotLanceDataset, read_errors
from robot_data_platform.reader.spec import OnError
from robot_data_platform.testing.lake_model import LakeModel
from robot_data_platform_tests.reader.test_faults import FIRST_BAD
from robot_data_platform_tests.reader.test_skips import damage


def new_errors(work: Callable[[], object]) -> dict[tuple[str, str], int]:
    """Return what some work adds to the counts of this process."""
    before = Counter(read_errors())
    with contextlib.suppress(DataFaultError):
        work()
    return dict(Counter(read_errors()) - before)


@pytest.mark.parametrize("on_error", ["raise", "skip"])
@pytest.mark.parametrize(("how", "kind"), [("gone", "gop-missing"), ("other hash", "gop-damaged")])
def test_an_error_counts_by_dataset_and_kind_be_it_raised_or_skipped(
    own: LakeModel, on_error: OnError, how: str, kind: str
) -> None:
    damage(own, how)
    rows = RobotLanceDataset(own.root, own.dataset, on_error=on_error)
    assert new_errors(lambda: rows[FIRST_BAD - 1 : FIRST_BAD + 2]) == {(own.dataset, kind): 1}


def test_decoded_frames_count_too(own: LakeModel) -> None:
    damage(own, "gone")
    rows = RobotLanceDataset(own.root, own.dataset)
    errors = new_errors(lambda: rows.take_frames_decoded(["env"], [FIRST_BAD]))
    assert errors == {(own.dataset, "gop-missing"): 1}


def test_a_read_that_succeeds_counts_nothing(built: LakeModel) -> None:
    rows = RobotLanceDataset(built.root, built.dataset)
    assert new_errors(lambda: rows[:4]) == {}
