from __future__ import annotations

import re
import shutil
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from robot_data_platform.compute.doctor import Visit, examine
from robot_data_platform.compute.ingestion import Workplace
from robot_data_platform.compute.upkeep_policy import UpkeepPolicy
from robot_data_platform.core import schema
from robot_data_platform.core.finding import Severity
from robot_data_platform.core.schema import FORMAT_VERSION_KEY
from robot_data_platform.errors import StorageError
from robot_data_platform.storage.commit import set_metadata
from robot_data_platform.storage.lake import Lake
from robot_data_platform.storage.retention import clean_up
from robot_data_platform.storage.table import open_table
from robot_data_platform.storage.upkeep import delete_rows
from robot_data_platform.testing.rawlog import RawlogShape
from robot_data_platform_tests.compute.test_maintenance import flip_bit
from robot_data_platform_tests.compute.uploads import (
    IN_PROCESS,
    RUN,
    STEPS,
    copied,
    land,
    released,
    workplace,
)
from robot_data_platform_tests.conftest import REPOSITORY
from robot_data_platform_tests.servers import S3Server

SHAPE = RawlogShape(num_episodes=2, num_rows=12)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Workplace:
    return released(tmp_path_factory.mktemp("template"), SHAPE, "r1")


@pytest.fixture
def place(template: Workplace, tmp_path: Path) -> Workplace:
    """A lake in which nothing is wrong."""
    return copied(template, tmp_path)


def told(place: Workplace) -> dict[str, str]:
    """Return what is wrong a year later, and where."""
    visit = Visit(
        lake=place.lake,
        landing=place.landing,
        policy=UpkeepPolicy(grace=timedelta(0)),
        now_ns=RUN.created_ns + 365 * 86_400 * 10**9,
    )
    found = examine(visit)
    assert all(ailment.message and ailment.mend for ailment in found)
    return {a.what: a.where for a in found if a.severity is not Severity.INFO}


def uri(place: Workplace, table: str) -> str:
    return place.lake.table_uri("robot", table)


def damage(place: Workplace) -> None:
    gops = place.lake.open("robot", "gops")
    (blob,) = gops.read_blobs(gops.read(["gop_key"], with_row_id=True)["_rowid"].to_numpy()[:1])
    flip_bit(Path(gops.uri), blob)


def lose_a_file(place: Workplace) -> None:
    next(Path(uri(place, "quality"), "data").glob("*.lance")).unlink()


def lose_manifests(place: Workplace) -> None:
    for path in Path(uri(place, "frames"), "_versions").iterdir():
        path.write_bytes(b"no manifest")


def raise_format(place: Workplace) -> None:
    newer = {FORMAT_VERSION_KEY: str(schema.FORMAT_VERSION + 1)}
    with pytest.raises(StorageError, match="Install a newer"):
        set_metadata(uri(place, "episodes"), lambda _: newer)


def lose_rows(place: Workplace) -> None:
    delete_rows(uri(place, "frames"), "episode_index = 1 AND frame_index = 3", {})


def lose_gops(place: Workplace) -> None:
    delete_rows(uri(place, "gops"), "episode_index = 1 AND gop_index = 0", {})


def lose_a_tag(place: Workplace) -> None:
    place.lake.open("robot", "frames").remove_tag("rel-r1")


def lose_a_version(place: Workplace) -> None:
    lose_a_tag(place)
    delete_rows(uri(place, "frames"), "episode_index = 77", {})
    set_metadata(uri(place, "frames"), lambda _: {"a": "b"})
    clean_up(uri(place, "frames"), timedelta(0))


def leave_a_tag(place: Workplace) -> None:
    place.lake.open("robot", "gops").add_tag("rel-dead")


def stop_half_way(place: Workplace) -> None:
    land(place, "robot", "u2", replace(SHAPE, seed=2))
    for step in ("raw_episodes", "gop_video"):
        STEPS[step](place, "u2", IN_PROCESS, RUN)


def only_land(place: Workplace) -> None:
    land(place, "robot", "u2", replace(SHAPE, seed=2))


def land_without_marker(place: Workplace) -> None:
    only_land(place)
    Path(place.landing_root, "_uploads", "u2.json").unlink()


AILMENTS: dict[str, tuple[Callable[[Workplace], None], str]] = {
    "gops_have_their_hash": (damage, "robot/ep_"),
    "data_files_are_there": (lose_a_file, "quality.lance"),
    "table_can_be_opened": (lose_manifests, "frames.lance"),
    "format_is_known": (raise_format, "episodes.lance"),
    "episodes_have_their_rows": (lose_rows, "episodes.lance"),
    "pictures_have_their_gops": (lose_gops, "frames.lance"),
    "releases_are_protected": (lose_a_tag, "robot/r1"),
    "releases_have_their_versions": (lose_a_version, "robot/r1"),
    "tags_belong_to_releases": (leave_a_tag, "robot/gops"),
    "ingestions_end": (stop_half_way, "robot/u2"),
    "uploads_are_ingested": (only_land, "_uploads/u2.json"),
    "uploads_have_a_marker": (land_without_marker, "robot/u2"),
}
"""By what should hold: how it is broken, and a part of where that is told."""


def test_nothing_is_wrong_with_a_sound_lake(place: Workplace) -> None:
    assert told(place) == {}


@pytest.mark.parametrize("what", AILMENTS)
def test_what_is_wrong_is_told_with_its_place(place: Workplace, what: str) -> None:
    break_it, where = AILMENTS[what]
    break_it(place)
    found = told(place)
    assert list(found) == [what]
    assert where in found[what]


def test_a_lake_that_is_not_there_yet_is_sound(tmp_path: Path) -> None:
    assert told(workplace(tmp_path)) == {}


def test_a_clock_that_is_not_the_stores_is_told(s3_environment: S3Server) -> None:
    lake = Lake(f"{s3_environment.make_bucket('doctor')}/lake")
    visit = Visit(lake=lake, landing=None, policy=UpkeepPolicy(), now_ns=time.time_ns())
    assert examine(visit) == []
    ahead = replace(visit, now_ns=visit.now_ns + 3600 * 10**9)
    assert [ailment.what for ailment in examine(ahead)] == ["clocks_agree"]


def test_a_store_that_can_not_be_reached_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    visit = Visit(lake=Lake("s3://lab/lake"), landing=None, policy=UpkeepPolicy(), now_ns=1)
    found = examine(visit)
    assert found[0].what == "store_is_safe"
    assert {ailment.severity for ailment in found} == {Severity.FAIL}


def test_every_finding_is_on_the_page() -> None:
    page = (REPOSITORY / "docs" / "operations.md").read_text()
    modules = (REPOSITORY / "robot_data_platform" / "compute").glob("doctor*.py")
    call = re.compile(r'\b(?:fail|warn|info)\(\s*"(\w+)"')
    names = {name for module in modules for name in call.findall(module.read_text())}
    assert names == set(re.findall(r"^\| `(\w+)` \| (?:fail|warn|info) ", page, re.MULTILINE))


def test_a_visit_changes_nothing(place: Workplace) -> None:
    before = {p: p.stat().st_mtime_ns for p in Path(place.lake_root).rglob("*") if p.is_file()}
    told(place)
    after = {p: p.stat().st_mtime_ns for p in Path(place.lake_root).rglob("*") if p.is_file()}
    assert after == before


def test_files_of_dead_tasks_are_told_and_are_no_fault(place: Workplace) -> None:
    table = open_table(uri(place, "quality"))
    source = next(Path(table.uri, "data").glob("*.lance"))
    shutil.copy(source, source.with_name("dead.lance"))
    visit = Visit(lake=place.lake, landing=None, policy=UpkeepPolicy(), now_ns=RUN.created_ns * 2)
    assert [ailment.what for ailment in examine(visit)] == ["no_file_is_left_behind"]
