"""workspace.yaml, dagster.yaml and pyproject.toml as Dagster reads them."""

from __future__ import annotations

import shutil
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
import yaml


@pytest.fixture
def instance(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[dg.DagsterInstance]:
    """The instance of dagster.yaml, in a folder of its own."""
    shutil.copy(repository / "dagster.yaml", tmp_path)
    monkeypatch.chdir(tmp_path)
    with dg.DagsterInstance.from_config(str(tmp_path)) as instance:
        yield instance


def test_what_a_run_leaves_stays_in_one_folder(
    instance: dg.DagsterInstance, tmp_path: Path
) -> None:
    @dg.asset
    def step() -> int:
        print("a line of its output")  # noqa: T201
        return 1

    result = dg.materialize([step], instance=instance)
    assert instance.get_run_by_id(result.run_id) is not None
    assert sorted(path.name for path in tmp_path.iterdir()) == [".dagster", "dagster.yaml"]


def test_nothing_is_reported_to_anyone(instance: dg.DagsterInstance) -> None:
    assert not instance.telemetry_enabled
    assert not instance.nux_enabled


def test_a_pool_holds_one_commit_at_a_time(instance: dg.DagsterInstance) -> None:
    assert instance.get_concurrency_config().pool_config.default_pool_limit == 1


def test_a_killed_run_gives_its_place_in_a_pool_back(instance: dg.DagsterInstance) -> None:
    assert instance.run_monitoring_settings["free_slots_after_run_end_seconds"] == 60


def test_the_location_has_one_name_however_dagster_is_started(repository: Path) -> None:
    workspace: dict[str, Any] = yaml.safe_load((repository / "workspace.yaml").read_text())
    project = tomllib.loads((repository / "pyproject.toml").read_text())["tool"]["dagster"]
    location = workspace["load_from"][0]["python_module"]
    assert location["location_name"] == project["code_location_name"]
    assert location["module_name"] == project["module_name"]
