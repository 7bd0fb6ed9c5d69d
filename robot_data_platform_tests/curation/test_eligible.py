from __future__ import annotations

from collections.abc import Collection

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robot_data_platform.curation.eligible import keep_within, pass_filter
from robot_data_platform.curation.spec import EpisodeFilter

GOOD = {
    **{"episode_id": "a", "upload": "u1", "task": "fold", "robot": "aloha", "num_rows": 10},
    **{"status": "ok", "q_num_info": 0, "q_num_warn": 0, "q_num_fail": 0},
}
SCHEMA = pa.schema(
    [(name, pa.string() if isinstance(value, str) else pa.int64()) for name, value in GOOD.items()]
)


def episodes(*rows: dict[str, object]) -> pa.Table:
    return pa.Table.from_pylist([GOOD | row for row in rows], schema=SCHEMA)


@pytest.mark.parametrize(
    ("wanted", "row", "reason"),
    [
        ({}, {"status": "flagged"}, "status"),
        ({}, {"status": "quarantined", "num_rows": 0}, "status"),
        ({"tasks": ["pick"]}, {}, "task"),
        ({"tasks": ["pick"]}, {"task": None}, "task"),
        ({"robots": ["so101"]}, {}, "robot"),
        ({"uploads": ["u2"]}, {}, "upload"),
        ({"min_rows": 11}, {}, "min_rows"),
        ({}, {"num_rows": 0}, "min_rows"),
        ({}, {"q_num_fail": 1}, "max_fail"),
        ({}, {"q_num_fail": None}, "not_measured"),
        ({"max_findings": {"warn": 2}}, {"q_num_warn": 3}, "max_warn"),
    ],
)
def test_an_episode_is_left_out_for_a_reason_that_is_counted(
    wanted: dict[str, object], row: dict[str, object], reason: str
) -> None:
    kept, excluded = pass_filter(episodes(row), EpisodeFilter.model_validate(wanted))
    assert (len(kept), excluded) == (0, {reason: 1})


@pytest.mark.parametrize(
    ("wanted", "row"),
    [
        ({}, {}),
        ({"status": ["flagged"]}, {"status": "flagged"}),
        ({"tasks": ["pick", "fold"]}, {}),
        ({"min_rows": 10}, {}),
        ({"max_findings": {}}, {"q_num_fail": 3}),
        ({"max_findings": {}}, {"q_num_fail": None}),
        ({"max_findings": {"warn": 2}}, {"q_num_warn": 2}),
    ],
)
def test_an_episode_that_the_filter_allows_passes(
    wanted: dict[str, object], row: dict[str, object]
) -> None:
    kept, excluded = pass_filter(episodes(row), EpisodeFilter.model_validate(wanted))
    assert (len(kept), excluded) == (1, {})


def test_an_episode_counts_for_the_first_reason_only() -> None:
    bad = {"status": "flagged", "num_rows": 0, "q_num_fail": 4}
    _, excluded = pass_filter(episodes(bad, {}, bad), EpisodeFilter())
    assert excluded == {"status": 2}


ROWS = st.lists(st.sampled_from(["fold", "pick"]), max_size=12)


def capped(
    tasks: list[str], cap: int, earlier: Collection[str] = ()
) -> tuple[pa.Table, dict[str, int]]:
    rows: list[dict[str, object]] = [
        {"episode_id": str(number), "task": task} for number, task in enumerate(tasks)
    ]
    is_earlier = np.array([row["episode_id"] in earlier for row in rows], dtype=np.bool_)
    return keep_within(episodes(*rows), {"task": cap}, 0, is_earlier)


@given(ROWS, st.integers(1, 5))
def test_a_cap_keeps_as_many_episodes_as_it_allows(tasks: list[str], cap: int) -> None:
    kept, excluded = capped(tasks, cap)
    for task in ("fold", "pick"):
        assert kept["task"].to_pylist().count(task) == min(cap, tasks.count(task))
    assert excluded.get("caps", 0) == len(tasks) - len(kept)


@given(ROWS, ROWS, st.integers(1, 5))
def test_growth_pushes_no_earlier_episode_over_a_cap(
    tasks: list[str], later: list[str], cap: int
) -> None:
    before = set(capped(tasks, cap)[0]["episode_id"].to_pylist())
    after = capped(tasks + later, cap, before)[0]["episode_id"].to_pylist()
    assert before <= set(after)
