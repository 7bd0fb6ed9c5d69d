"""Lineage of the demonstration's model, from the command line and without Dagster's storage."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path
from typing import Any, cast

import pytest

from robot_data_platform_tests.end_to_end.conftest import Demonstration, run_rdp


@pytest.fixture(scope="session")
def model(demonstration: Demonstration) -> str:
    rows = demonstration.rdp_json("release", "list", "aloha_fold")
    return "ridge-" + str(cast("list[dict[str, Any]]", rows)[-1]["digest"])[:12]


@pytest.fixture(scope="session")
def lineage(demonstration: Demonstration, model: str) -> dict[str, Any]:
    return cast("dict[str, Any]", demonstration.rdp_json("lineage", model))


def test_the_lineage_has_exactly_the_documented_keys(lineage: dict[str, Any]) -> None:
    assert set(lineage) == {
        *("model", "release", "digest", "tables", "episodes", "uploads", "sources", "runs"),
        *("dataset", "code_version"),
    }


def test_each_source_has_the_hash_of_the_file_that_was_uploaded(
    lineage: dict[str, Any], samples: Path
) -> None:
    hashes = {
        s["path"]: hashlib.sha256((samples / "aloha_fold" / s["path"]).read_bytes()).hexdigest()
        for s in lineage["sources"]
    }
    assert {s["path"]: s["sha256"] for s in lineage["sources"]} == hashes


def test_a_quarantined_episode_is_not_among_the_sources(lineage: dict[str, Any]) -> None:
    assert not [s for s in lineage["sources"] if "fold_004" in s["path"]]


def test_impact_of_a_trained_episode_names_the_model(
    demonstration: Demonstration, lineage: dict[str, Any], model: str
) -> None:
    facts = cast("dict[str, Any]", demonstration.rdp_json("impact", lineage["episodes"][0]))
    assert [m["model"] for m in facts["models"]] == [model]


def test_lineage_answers_the_same_after_dagsters_storage_is_gone(
    demonstration: Demonstration, lineage: dict[str, Any], model: str, tmp_path: Path
) -> None:
    copy = tmp_path / "lake"
    shutil.copytree(demonstration.lake.root, copy)
    done = run_rdp(tmp_path, "lineage", model, "--lake", str(copy), "--json")
    assert done.returncode == 0, done.stderr
    assert lineage["sources"][0]["sha256"] in done.stdout


def test_an_unknown_name_is_refused_with_near_matches(
    demonstration: Demonstration, model: str
) -> None:
    done = demonstration.rdp("lineage", model[:-1] + "x")
    assert (done.returncode, model in done.stderr) == (1, True)
