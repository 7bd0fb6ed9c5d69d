from __future__ import annotations

import itertools

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from robot_data_platform.core.index_ranges import (
    IndexRange,
    covers,
    indices_in,
    merged,
    ranges_from_json,
    ranges_to_json,
    without,
)

bounds = st.tuples(st.integers(0, 40), st.integers(0, 40))
ranges = st.lists(bounds, max_size=8)


def indices(found: list[IndexRange]) -> set[int]:
    return {index for bounds in found for index in range(*bounds)}


@given(ranges)
def test_merged_ranges_hold_the_same_indices_and_never_touch(given: list[IndexRange]) -> None:
    found = merged(given)
    assert indices(found) == indices(given)
    assert all(a[1] < b[0] for a, b in itertools.pairwise(found))


@given(ranges, st.lists(st.integers(-5, 45)))
def test_what_is_taken_out_is_in_none_of_the_ranges(
    given: list[IndexRange], taken: list[int]
) -> None:
    left = without(given, np.array(taken, dtype=np.int64))
    assert indices(left) == indices(given) - set(taken)
    assert left == merged(left)


@given(ranges, bounds)
def test_ranges_cover_another_that_has_no_index_of_its_own(
    given: list[IndexRange], other: IndexRange
) -> None:
    assume(indices([other]))
    assert covers(given, other) == (indices([other]) <= indices(given))


@given(ranges, st.sets(st.integers(0, 40)))
def test_indices_in_ranges_are_those_that_both_have(given: list[IndexRange], of: set[int]) -> None:
    assert indices_in(given, of) == of & indices(given)


@given(ranges)
def test_ranges_come_back_from_text(given: list[IndexRange]) -> None:
    assert ranges_from_json(ranges_to_json(given)) == merged(given)
