"""Rows found through footers and runs are those that a plain filter finds."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robot_data_platform.errors import DataFaultError
from robot_data_platform.formats.lerobot.row_files import read_rows, rows_by_episode
from robot_data_platform.storage.source import LocalSource


@given(
    st.lists(st.integers(0, 4), min_size=1, max_size=30),
    st.integers(1, 9),
    st.booleans(),
    st.sampled_from([pa.int64(), pa.int32(), pa.float64()]),
)
def test_episodes_in_any_order_and_row_groups_of_any_size(
    tmp_path_factory: pytest.TempPathFactory,
    episodes: list[int],
    group_size: int,
    has_statistics: bool,
    kind: pa.DataType,
) -> None:
    table = pa.table({"episode_index": pa.array(episodes, kind), "row": list(range(len(episodes)))})
    folder = tmp_path_factory.mktemp("rows")
    pq.write_table(
        table, folder / "f.parquet", row_group_size=group_size, write_statistics=has_statistics
    )
    source = LocalSource(folder)
    assert rows_by_episode(source, "f.parquet") == Counter(episodes)
    for episode in range(5):
        found = [t["row"].to_pylist() for t in read_rows(source, "f.parquet", episode, ["row"])]
        slow = table.filter(pc.equal(table["episode_index"], episode))["row"].to_pylist()
        assert [row for rows in found for row in rows] == slow


def test_a_row_of_no_episode_is_refused(tmp_path: Path) -> None:
    pq.write_table(pa.table({"episode_index": [0, None, 1]}), tmp_path / "f.parquet")
    with pytest.raises(DataFaultError, match="null at row 1"):
        rows_by_episode(LocalSource(tmp_path), "f.parquet")
