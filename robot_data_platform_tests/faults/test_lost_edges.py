"""A run that dies between a commit and its lineage: the next one records what it came from."""

from __future__ import annotations

from pathlib import Path

import dagster as dg
import pytest

from robot_data_platform.defs import runs
from robot_data_platform.defs.ingest import assets
from robot_data_platform.defs.resources import Platform
from robot_data_platform.errors import ErrorKind, StorageError
from robot_data_platform.storage.catalog import list_edges
from robot_data_platform.testing.rawlog import RawlogShape
from robot_data_platform_tests.compute.uploads import land, workplace

DATASET, UPLOAD = "robot", "20260101t000000z-robot-0000"
TABLES = {"gops", "frames", "episodes", "quality", "spatial"}


def test_edges_that_a_dead_run_did_not_record_are_recorded_once_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = workplace(tmp_path)
    land(place, DATASET, UPLOAD, RawlogShape(num_episodes=1, num_rows=8, cameras=("env",)))
    manifest = place.landing.manifest(UPLOAD)
    platform = Platform(lake=place.lake_root, landing=place.landing_root, num_workers=1)
    with dg.DagsterInstance.ephemeral() as instance:
        monkeypatch.setattr(assets, "record_edges", die)
        with pytest.raises(StorageError):
            runs.ingest(instance, platform, manifest)
        assert list_edges(place.lake, DATASET) == []
        monkeypatch.undo()
        for _ in range(2):
            runs.ingest(instance, platform, manifest)
    told = [edge["output_table"] for edge in list_edges(place.lake, DATASET)]
    assert set(told) == TABLES
    made = {
        (edge["output_table"], edge["output_version"]) for edge in list_edges(place.lake, DATASET)
    }
    assert len(made) == len(TABLES)


def die(*_: object) -> None:
    raise StorageError("The process dies here.", kind=ErrorKind.DISK_FULL)
