from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from robot_data_platform.errors import ErrorKind, NotFoundError
from robot_data_platform.storage.catalog import (
    ModelRow,
    add_model,
    find_model,
    list_edges,
    list_models,
    table_versions,
    versions_of,
)
from robot_data_platform.storage.lake import Lake


def model(name: str, finished_ns: int = 2) -> ModelRow:
    return ModelRow(
        model=name,
        dataset="aloha",
        release="v1",
        release_digest="d",
        splits=["train"],
        tables=table_versions({"gops": 3, "frames": 2}),
        code_commit=None,
        parameters_json="{}",
        metrics_json="{}",
        artifact_uri=None,
        artifact_sha256=None,
        started_ns=1,
        finished_ns=finished_ns,
        run_id=f"run of {name}",
        code_version="7",
    )


def test_a_model_is_read_as_it_was_written(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    add_model(lake, model("m"), {})
    assert find_model(lake, "m") == model("m")


def test_models_are_listed_in_the_order_of_recording(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    for name, finished_ns in (("late", 9), ("early", 3)):
        add_model(lake, model(name, finished_ns), {})
    assert [row["model"] for row in list_models(lake)] == ["early", "late"]


def test_a_name_is_written_once_however_many_try_at_once(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(lambda _: add_model(lake, model("m"), {}).is_new, range(4)))
    assert sorted(done) == [False, False, False, True]
    assert len(list_models(lake)) == 1


def test_an_unknown_model_is_not_found_and_the_known_are_listed(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    add_model(lake, model("policy-7"), {})
    with pytest.raises(
        NotFoundError, match=r"no model 'policy-8': it has \['policy-7'\]"
    ) as caught:
        find_model(lake, "policy-8")
    assert caught.value.kind is ErrorKind.MODEL_NOT_FOUND


def test_a_lake_without_a_catalog_has_no_models_and_no_edges(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    assert (list_models(lake), list_edges(lake, "aloha")) == ([], [])


def test_pinned_versions_survive_being_stored() -> None:
    versions = {"gops": 3, "frames": 2}
    assert versions_of(table_versions(versions)) == versions
