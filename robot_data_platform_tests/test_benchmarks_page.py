from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from robot_data_platform_tests.benchmarks.page import render
from robot_data_platform_tests.benchmarks.ratios import RATIO_KEYS

FILES = ("benchmarks.md", "benchmarks_readers.svg", "benchmarks_sweep.svg")


@pytest.fixture(scope="module")
def results(repository: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((repository / "docs" / "benchmarks.json").read_text())
    return found


@pytest.mark.parametrize("name", FILES)
def test_the_page_and_its_plots_say_what_the_json_says(
    repository: Path, results: dict[str, Any], name: str
) -> None:
    assert (repository / "docs" / name).read_text() == render(results)[name]


def test_a_published_run_is_whole(results: dict[str, Any]) -> None:
    assert results["scale"] == "full"
    assert tuple(results["ratios"]) == tuple(sorted(RATIO_KEYS))


def test_every_published_figure_has_a_spread(results: dict[str, Any]) -> None:
    figures = {**results["figures"], **results["ratio_spreads"]}
    wrong = [n for n, f in figures.items() if not f["p25"] <= f["median"] <= f["p75"] or not f["n"]]
    assert not wrong


def test_results_carry_machine_versions_commit_and_command(results: dict[str, Any]) -> None:
    assert results["machine"].keys() >= {"processor", "cores", "memory_gb", "system"}
    assert {"robot_data_platform", "pylance", "peers: lerobot"} <= results["versions"].keys()
    assert results["commit"]
    assert results["command"] == "make bench"


def test_results_name_no_place_of_the_machine_that_made_them(repository: Path) -> None:
    texts = [(repository / "docs" / name).read_text() for name in ("benchmarks.json", *FILES)]
    marks = ("/work", "/root", "/home", "://", "127.0.0.1")
    # An SVG file names its own namespace.
    texts = [text.replace('xmlns="http://www.w3.org/2000/svg"', "") for text in texts]
    assert not [mark for mark in marks for text in texts if mark in text]
