from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from robot_data_platform.curation.grouping import group_episodes, joined_values

TEXTS = st.one_of(st.none(), st.text(max_size=4), st.sampled_from(["a", 'a"b', "a\\", "\n", ""]))
PAIRS = st.lists(st.tuples(TEXTS, TEXTS), max_size=12)


@given(PAIRS)
def test_values_are_joined_as_a_json_list(rows: list[tuple[str | None, str | None]]) -> None:
    table = pa.table(
        {"task": [a for a, _ in rows], "robot": [b for _, b in rows]},
        schema=pa.schema([("task", pa.string()), ("robot", pa.string())]),
    )
    texts = joined_values(table, ("task", "robot")).to_pylist()
    assert texts == [json.dumps(row, ensure_ascii=False) for row in rows]


def test_without_columns_all_values_are_the_same() -> None:
    table = pa.table({"task": ["a", "b"]})
    assert joined_values(table, ()).to_pylist() == ["", ""]


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("xyz")), max_size=20))
def test_groups_count_their_episodes_by_stratum(rows: list[tuple[str, str]]) -> None:
    group, stratum = (pa.array([row[part] for row in rows], pa.string()) for part in (0, 1))
    groups, of_episode = group_episodes(group, stratum)
    assert groups.names.take(pa.array(of_episode)).to_pylist() == group.to_pylist()
    strata = sorted({b for _, b in rows})
    for number, name in enumerate(groups.names.to_pylist()):
        entries = groups.entries(np.array([number]))
        counted = {
            strata[groups.stratum[entry]]: int(groups.size[entry]) for entry in entries.tolist()
        }
        assert counted == Counter(b for a, b in rows if a == name)
