from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from robot_data_platform.lineage.edges import record_edges
from robot_data_platform.storage.catalog import list_edges
from robot_data_platform.storage.lake import Lake
from robot_data_platform_tests.curation.small_lake import RUN


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(tmp_path / "lake")


def test_each_input_of_an_output_version_is_an_edge(lake: Lake) -> None:
    record_edges(lake, "aloha", ("frames", 7), [("gops", 3), ("upload:u1", "abc")], RUN)
    edges = list_edges(lake, "aloha")
    assert [(e["input_table"], e["input_version"]) for e in edges] == [
        ("gops", "3"),
        ("upload:u1", "abc"),
    ]
    assert {(e["output_table"], e["output_version"], e["run_id"]) for e in edges} == {
        ("frames", 7, "run-1")
    }


def test_edges_of_one_output_are_written_once(lake: Lake) -> None:
    written = [record_edges(lake, "aloha", ("frames", 7), [("gops", 3)], RUN) for _ in range(2)]
    assert (written, len(list_edges(lake, "aloha"))) == ([True, False], 1)


@pytest.mark.parametrize(
    ("dataset", "output", "changes"),
    [
        ("so101", ("frames", 7), {}),
        ("aloha", ("frames", 8), {}),
        ("aloha", ("episodes", 7), {}),
        ("aloha", ("frames", 7), {"partition": "u2"}),
        ("aloha", ("frames", 7), {"partition": None}),
        ("aloha", ("frames", 7), {"asset": "other"}),
    ],
)
def test_edges_of_another_output_partition_or_asset_are_written_too(
    lake: Lake, dataset: str, output: tuple[str, int], changes: dict[str, str | None]
) -> None:
    record_edges(lake, "aloha", ("frames", 7), [("gops", 3)], RUN)
    assert record_edges(lake, dataset, output, [("gops", 3)], replace(RUN, **changes))  # type: ignore[arg-type]


def test_an_output_without_partition_is_recognised_too(lake: Lake) -> None:
    run = replace(RUN, partition=None)
    assert record_edges(lake, "aloha", ("splits", 2), [("episodes", 3)], run)
    assert not record_edges(lake, "aloha", ("splits", 2), [("episodes", 3)], run)


def test_an_output_without_inputs_has_no_edges(lake: Lake) -> None:
    assert not record_edges(lake, "aloha", ("frames", 7), [], RUN)
    assert list_edges(lake, "aloha") == []


def test_writers_at_once_lose_no_edge_and_double_none(lake: Lake) -> None:
    lake.ensure_catalog("lineage")

    def record(version: int) -> bool:
        return record_edges(lake, "aloha", ("frames", version), [("gops", 3)], RUN)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(record, [1, 2, 3, 4, 1, 2, 3, 4]))
    versions = [edge["output_version"] for edge in list_edges(lake, "aloha")]
    assert sorted(versions) == [1, 2, 3, 4]
