"""Materializations: what each says, one asset alone, failures, and releases after ingestion."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import dagster as dg
import pytest
from dagster._core.remote_origin import (  # noqa: TID251 (only a daemon queues runs in public)
    RegisteredCodeLocationOrigin,
    RemoteJobOrigin,
    RemoteRepositoryOrigin,
)

from robot_data_platform.core.schema import TABLES
from robot_data_platform.defs import runs
from robot_data_platform.defs.alerts import tell_of_failures
from robot_data_platform.defs.curate.sensors import release_after_ingest
from robot_data_platform.defs.graph import build_definitions
from robot_data_platform.defs.resources import Platform
from robot_data_platform.errors import DataFaultError
from robot_data_platform.storage.lake import Lake
from robot_data_platform.storage.landing import Landing
from robot_data_platform.testing.rawlog import Draw, RawlogShape, write_rawlog
from robot_data_platform_tests.video.videos import write_video

DATASET, UPLOAD = "fold", "20260101t000000z-fold-0000"
PER_UPLOAD = (
    *("raw_episodes", "gop_video", "frames", "episodes", "quality_results", "spatial_results"),
)
WITH_TABLE = {"gop_video": "gops", "frames": "frames", "episodes": "episodes"}


def _write_video(path: Path, num_frames: int, draw: Draw) -> Path:
    return write_video(path, num_frames, picture=draw)


@dataclass(frozen=True)
class Graph:
    """An instance on which one upload was ingested and released."""

    instance: dg.DagsterInstance
    platform: Platform

    @property
    def lake(self) -> Lake:
        """The lake that was filled."""
        return Lake(self.platform.lake)

    def metadata(self, asset: str) -> dict[str, object]:
        """Return what the latest materialization of an asset says."""
        event = self.instance.get_latest_materialization_event(dg.AssetKey(asset))
        assert event is not None
        assert event.asset_materialization is not None
        return {k: v.value for k, v in event.asset_materialization.metadata.items()}

    def versions(self) -> dict[str, int]:
        """Return the version of every table of the dataset."""
        found = {name: self.lake.find(DATASET, name) for name in TABLES}
        return {name: table.version for name, table in found.items() if table is not None}


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Graph]:
    folder = tmp_path_factory.mktemp("graph")
    platform = Platform(
        lake=str(folder / "lake"),
        landing=str(folder / "landing"),
        num_workers=1,
        pages_url="http://pages.lab:3001/",
    )
    write_rawlog(folder / "fold", RawlogShape(), _write_video)
    manifest = Landing(platform.landing).put(folder / "fold", DATASET, UPLOAD)
    with dg.DagsterInstance.ephemeral() as instance:
        runs.ingest(instance, platform, manifest)
        runs.release(instance, platform, DATASET)
        yield Graph(instance, platform)


@pytest.mark.parametrize(
    "asset", [*WITH_TABLE, "quality_results", "spatial_results", "curated_splits"]
)
def test_a_materialization_says_which_versions_it_made_and_read(graph: Graph, asset: str) -> None:
    assert set(graph.metadata(asset)) >= {
        *("dagster/uri", "dagster/row_count", "lance/version", "lance/reads", "is_new", "wall_s")
    }


@pytest.mark.parametrize(("asset", "table"), WITH_TABLE.items())
def test_a_data_version_names_dataset_and_table(graph: Graph, asset: str, table: str) -> None:
    event = graph.instance.get_latest_materialization_event(dg.AssetKey(asset))
    assert event is not None
    assert event.asset_materialization is not None
    tags = event.asset_materialization.tags or {}
    assert tags["dagster/data_version"].startswith(f"{DATASET}/{table}@")


@pytest.mark.parametrize("table", ["gops", "frames", "episodes"])
def test_a_commit_names_the_run_that_made_it(graph: Graph, table: str) -> None:
    known = {run.run_id for run in graph.instance.get_runs()}
    assert graph.lake.open(DATASET, table).transaction_properties()["rdp.run_id"] in known


@pytest.mark.parametrize("asset", PER_UPLOAD)
def test_one_asset_materialized_alone_again_writes_nothing(graph: Graph, asset: str) -> None:
    before = graph.versions()
    result = (
        build_definitions(graph.platform)
        .resolve_job_def("ingest_upload")
        .execute_in_process(
            instance=graph.instance,
            partition_key=UPLOAD,
            asset_selection=[dg.AssetKey(asset)],
        )
    )
    assert (result.success, graph.versions()) == (True, before)


def test_the_release_is_the_same_when_it_is_made_again(graph: Graph) -> None:
    before = graph.metadata("dataset_release")["digest"]
    runs.release(graph.instance, graph.platform, DATASET)
    after = graph.metadata("dataset_release")
    assert (after["digest"], after["is_new"]) == (before, False)


def test_every_check_ran_and_passed(graph: Graph) -> None:
    keys = list(build_definitions(graph.platform).resolve_asset_graph().asset_check_keys)
    records = graph.instance.event_log_storage.get_latest_asset_check_execution_by_key(keys)
    failed = [key.name for key in keys if records[key].status.value != "SUCCEEDED"]
    assert failed == []


@pytest.mark.parametrize("suite", ["frames", "episodes"])
def test_a_suite_links_to_the_page_that_tells_of_it(graph: Graph, suite: str) -> None:
    key = dg.AssetCheckKey(dg.AssetKey(suite), f"{suite}_suite_holds")
    store = graph.instance.event_log_storage
    record = store.get_latest_asset_check_execution_by_key([key])[key]
    assert record.evaluation is not None
    metadata = record.evaluation.metadata
    path = str(metadata["data_docs/path"].value)
    assert Path(path).is_file()
    assert metadata["data_docs"].value == path.replace(graph.lake.root, "http://pages.lab:3001")


def ingested(graph: Graph) -> dg.RunStatusSensorContext:
    """Return what the sensor is told when an ingestion has ended."""
    run = next(r for r in graph.instance.get_runs() if r.job_name == "ingest_upload")
    event = graph.instance.get_records_for_run(run.run_id).records[-1].event_log_entry
    return dg.build_run_status_sensor_context(
        sensor_name="release_after_ingest",
        dagster_event=event.get_dagster_event(),
        dagster_instance=graph.instance,
        dagster_run=run,
        resources={"platform": graph.platform},
    )


def test_an_ingestion_requests_the_release_of_its_dataset(graph: Graph) -> None:
    request = release_after_ingest(ingested(graph))
    assert isinstance(request, dg.RunRequest)
    assert request.partition_key == DATASET


def test_a_release_that_waits_is_not_requested_again(graph: Graph) -> None:
    location = RegisteredCodeLocationOrigin(location_name="here")
    repository = RemoteRepositoryOrigin(location, repository_name="__repository__")
    waiting = dg.DagsterRun(
        job_name="release_dataset",
        status=dg.DagsterRunStatus.QUEUED,
        tags={"rdp/dataset": DATASET},
        remote_job_origin=RemoteJobOrigin(repository, job_name="release_dataset"),
    )
    graph.instance.add_run(waiting)
    try:
        assert isinstance(release_after_ingest(ingested(graph)), dg.SkipReason)
    finally:
        graph.instance.delete_run(waiting.run_id)


def test_an_upload_that_is_refused_fails_with_the_reason(graph: Graph, tmp_path: Path) -> None:
    (tmp_path / "odd").mkdir()
    (tmp_path / "odd" / "notes.txt").write_text("nothing recorded")
    name = "20260101t000000z-odd-0000"
    manifest = Landing(graph.platform.landing).put(tmp_path / "odd", "odd", name)
    with pytest.raises(DataFaultError, match="no known format"):
        runs.ingest(graph.instance, graph.platform, manifest)


def test_a_failed_run_is_told_with_its_upload(
    graph: Graph, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "odd").mkdir()
    (tmp_path / "odd" / "notes.txt").write_text("nothing recorded")
    name = "20260101t000000z-odd-0001"
    manifest = Landing(graph.platform.landing).put(tmp_path / "odd", "odd", name)
    with pytest.raises(DataFaultError):
        runs.ingest(graph.instance, graph.platform, manifest)
    run = next(r for r in graph.instance.get_runs() if r.tags.get("rdp/upload") == name)
    event = graph.instance.get_records_for_run(run.run_id).records[-1].event_log_entry
    context = dg.build_run_status_sensor_context(
        sensor_name="tell_of_failures",
        dagster_event=event.get_dagster_event(),
        dagster_instance=graph.instance,
        dagster_run=run,
    ).for_run_failure()
    tell_of_failures(context)
    assert f"upload={name}" in capfd.readouterr().err
