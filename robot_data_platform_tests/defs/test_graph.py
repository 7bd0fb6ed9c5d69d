"""The shape of the graph: what is there, what depends on what, what blocks."""

from __future__ import annotations

import warnings

import dagster as dg
import pytest

from robot_data_platform.definitions import defs
from robot_data_platform.defs.graph import build_definitions

CHAIN = [
    ("gop_video", {"raw_episodes"}),
    ("frames", {"gop_video"}),
    ("episodes", {"frames", "gop_video"}),
    ("quality_results", {"episodes"}),
    ("spatial_results", {"quality_results"}),
    ("curated_splits", {"spatial_results"}),
    ("dataset_release", {"curated_splits"}),
    ("trained_models", {"dataset_release"}),
]


def test_the_definitions_load() -> None:
    dg.Definitions.validate_loadable(build_definitions())


@pytest.mark.parametrize(("asset", "parents"), CHAIN)
def test_an_asset_depends_on_the_one_before_it(asset: str, parents: set[str]) -> None:
    node = defs.resolve_asset_graph().get(dg.AssetKey(asset))
    assert {key.to_user_string() for key in node.parent_keys} == parents


def test_what_a_command_runs_is_resolved_without_a_warning_to_its_user() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        build_definitions().resolve_job_def("ingest_upload")


def test_trained_models_is_made_elsewhere() -> None:
    assert not defs.resolve_asset_graph().get(dg.AssetKey("trained_models")).is_materializable


def test_what_would_make_a_release_wrong_blocks() -> None:
    graph = defs.resolve_asset_graph()
    blocking = {key.name for key in graph.asset_check_keys if graph.get(key).blocking}
    assert blocking == {
        "gop_keys_are_unique",
        "frames_are_contiguous",
        "references_resolve",
        "upload_is_published_once",
        "splits_are_disjoint",
        "latest_release_verifies",
    }


def test_a_schedule_and_the_sensors_are_there() -> None:
    repository = defs.get_repository_def()
    names = {s.name for s in repository.sensor_defs} | {s.name for s in repository.schedule_defs}
    assert names >= {
        "new_uploads",
        "release_after_ingest",
        "lost_retries",
        "tell_of_failures",
        "tell_of_quarantine",
        "nightly_maintenance",
        "nightly_history_pruning",
    }


def test_every_asset_says_its_grain() -> None:
    graph = defs.resolve_asset_graph()
    silent = [k for k in graph.get_all_asset_keys() if not (graph.get(k).description or "").strip()]
    assert silent == []
