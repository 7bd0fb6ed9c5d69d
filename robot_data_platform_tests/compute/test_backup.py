"""A lake copied while it is written to, and restored elsewhere."""

from __future__ import annotations

import shutil
import uuid
from dataclasses import replace
from pathlib import Path

import pytest

from robot_data_platform.compute.doctor import Visit, examine
from robot_data_platform.compute.ingestion import Workplace
from robot_data_platform.compute.upkeep_policy import UpkeepPolicy
from robot_data_platform.core.finding import Severity
from robot_data_platform.core.measurement_schema import MEASUREMENTS
from robot_data_platform.core.schema import CATALOG_TABLES, TABLES
from robot_data_platform.errors import ErrorKind, InvalidInputError, StorageError
from robot_data_platform.lineage.models import training_run
from robot_data_platform.lineage.query import lineage_of
from robot_data_platform.storage import backup
from robot_data_platform.storage.backup import copy_lake
from robot_data_platform.storage.lake import Lake
from robot_data_platform.storage.objects import ObjectStore
from robot_data_platform.storage.upkeep import delete_rows
from robot_data_platform.testing.rawlog import RawlogShape
from robot_data_platform_tests.compute.release_print import release_prints
from robot_data_platform_tests.compute.uploads import (
    RUN,
    assert_holds,
    copied,
    doubled,
    ingest,
    land,
    published,
    released,
)
from robot_data_platform_tests.servers import S3Server

SHAPE = RawlogShape(num_episodes=2, num_rows=12)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Workplace:
    place = released(tmp_path_factory.mktemp("template"), SHAPE, "r1")
    with training_run(place.lake_root, "robot", "r1", model="policy-1") as run:
        run.log_metrics(loss=0.5)
    return place


@pytest.fixture
def place(template: Workplace, tmp_path: Path) -> Workplace:
    """A lake with a release and a model of it."""
    return copied(template, tmp_path)


@pytest.fixture(params=["local", "s3"])
def target(request: pytest.FixtureRequest, tmp_path: Path) -> Lake:
    """An empty place for a copy, on this machine and on S3."""
    if request.param == "local":
        return Lake(tmp_path / "copy")
    server: S3Server = request.getfixturevalue("s3_environment")
    return Lake(f"{server.make_bucket('backup')}/{uuid.uuid4().hex}")


def test_a_lake_lost_is_restored_elsewhere_with_its_releases_and_lineage(
    place: Workplace, target: Lake, tmp_path: Path
) -> None:
    prints, lineage = release_prints(place.lake), lineage_of(place.lake, "policy-1")
    copy_lake(place.lake, target)
    shutil.rmtree(place.lake_root)
    assert release_prints(target) == prints
    restored = Lake(tmp_path / "restored")
    copy_lake(target, restored)
    assert release_prints(restored) == prints
    assert lineage_of(restored, "policy-1") == lineage
    again = replace(place, lake_root=restored.root)
    episodes = land(again, "robot", "u2", replace(SHAPE, seed=2))
    ingest(again, "u2")
    assert_holds(again, "robot", "u2", episodes)
    assert doubled(restored, "robot") == {}


def test_a_second_copy_brings_only_what_is_new(place: Workplace, tmp_path: Path) -> None:
    target = Lake(tmp_path / "copy")
    first = copy_lake(place.lake, target)
    assert first.num_files_there == 0
    assert copy_lake(place.lake, target).num_files == 0
    delete_rows(place.lake.table_uri("robot", "quality"), "episode_index = 0", {})
    second = copy_lake(place.lake, target)
    assert second.num_files_there == first.num_files
    assert target.open("robot", "quality").version == place.lake.open("robot", "quality").version


@pytest.mark.parametrize("moment", range(0, 12, 3))
def test_a_copy_beside_an_ingestion_is_whole_at_whatever_moment_it_comes(
    place: Workplace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: int
) -> None:
    land(place, "robot", "u2", replace(SHAPE, seed=2))
    listing, listed = backup._list, []

    def list_while_others_write(store: ObjectStore, folder: str) -> object:
        listed.append(folder)
        if len(listed) == moment + 1:
            ingest(place, "u2")
        return listing(store, folder)

    monkeypatch.setattr(backup, "_list", list_while_others_write)
    target = Lake(tmp_path / "copy")
    copy_lake(place.lake, target)
    copied = replace(place, lake_root=target.root)
    assert unsound(target) == []
    assert len(published(copied, "robot", "u2")) in (0, 2)
    assert release_prints(target) == release_prints(place.lake)


def unsound(lake: Lake) -> list[str]:
    visit = Visit(lake=lake, landing=None, policy=UpkeepPolicy(), now_ns=RUN.created_ns)
    return [a.message for a in examine(visit) if a.severity is not Severity.INFO]


def test_every_table_of_a_lake_is_copied() -> None:
    folders = {folder.rpartition("/")[2] for folder in backup._folders(OneDataset("lab"))}
    names = (*TABLES, MEASUREMENTS, *CATALOG_TABLES)
    assert folders == {f"{name}.lance" for name in names}


class OneDataset(Lake):
    """A lake that says it has one dataset."""

    def datasets(self) -> list[str]:
        return ["robot"]


def test_a_copy_over_another_lake_is_refused(place: Workplace, tmp_path: Path) -> None:
    target = Lake(tmp_path / "copy")
    copy_lake(place.lake, target)
    delete_rows(target.table_uri("robot", "quality"), "episode_index = 0", {})
    with pytest.raises(InvalidInputError, match="expected an empty place") as caught:
        copy_lake(place.lake, target)
    assert caught.value.kind is ErrorKind.ALREADY_EXISTS


def test_a_file_that_goes_away_meanwhile_ends_the_copy(
    place: Workplace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copying = backup._copy

    def lose_one_first(source: object, target: object, keys: dict[str, int]) -> None:
        for path in Path(place.lake_root).rglob("data/*.lance"):
            path.unlink()
        copying(source, target, keys)  # type: ignore[arg-type]

    monkeypatch.setattr(backup, "_copy", lose_one_first)
    with pytest.raises(StorageError, match="went away"):
        copy_lake(place.lake, Lake(tmp_path / "copy"))
    assert Lake(tmp_path / "copy").find("robot", "episodes") is None
