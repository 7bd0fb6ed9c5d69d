"""A lake that is maintained: its releases read back bit for bit, and a dry run told it all."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import asdict, replace
from datetime import timedelta
from pathlib import Path

import pytest

from robot_data_platform.compute.ingestion import Workplace
from robot_data_platform.compute.maintenance import Upkeep, maintain_dataset, maintain_lake
from robot_data_platform.compute.scrub_share import NONE
from robot_data_platform.compute.upkeep_policy import UpkeepPolicy
from robot_data_platform.core.schema import CATALOG_TABLES, TABLES
from robot_data_platform.curation.release import create_release
from robot_data_platform.curation.spec import SplitSpec
from robot_data_platform.curation.verify import verify
from robot_data_platform.errors import ErrorKind
from robot_data_platform.storage.commit import write_rows
from robot_data_platform.storage.compaction import CompactionPolicy
from robot_data_platform.testing.rawlog import RawlogShape
from robot_data_platform_tests.compute.release_print import release_prints
from robot_data_platform_tests.compute.uploads import (
    RUN,
    copied,
    ingest,
    land,
    workplace,
)
from robot_data_platform_tests.servers import S3Server

SHAPE = RawlogShape(num_episodes=2, num_rows=12)
AT_ONCE = UpkeepPolicy(
    keep_versions=timedelta(0),
    grace=timedelta(0),
    compaction=dict.fromkeys((*TABLES, *CATALOG_TABLES, "measurements"), CompactionPolicy()),
    scrub=NONE,
)
LATER = replace(RUN, asset="maintenance", created_ns=RUN.created_ns + 1)


def fill(place: Workplace) -> None:
    """Release an upload, correct it, release again, and leave a dead task's file and tag."""
    land(place, "robot", "u1", SHAPE)
    ingest(place, "u1")
    create_release(place.lake, "robot", SplitSpec(), RUN, name="r1")
    land(place, "robot", "u1", replace(SHAPE, seed=1))
    land(place, "robot", "u2", replace(SHAPE, seed=2))
    ingest(place, "u1")
    ingest(place, "u2")
    create_release(place.lake, "robot", SplitSpec(), RUN, name="r2")
    frames = place.lake.open("robot", "frames")
    write_rows(frames.uri, frames.schema, frames.lance.to_batches())
    frames.add_tag("rel-dead")


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Workplace:
    place = workplace(tmp_path_factory.mktemp("template"))
    fill(place)
    return place


@pytest.fixture
def place(template: Workplace, tmp_path: Path) -> Workplace:
    return copied(template, tmp_path)


@pytest.fixture(params=["local", "s3"])
def anywhere(request: pytest.FixtureRequest, template: Workplace) -> Iterator[Workplace]:
    """The same lake on this machine, and on S3, where each file is put as it is."""
    if request.param == "local":
        yield request.getfixturevalue("place")
        return
    server: S3Server = request.getfixturevalue("s3_environment")
    bucket, prefix = server.make_bucket("upkeep"), uuid.uuid4().hex
    for path in Path(template.lake_root).rglob("*"):
        if path.is_file():
            key = f"{prefix}/{path.relative_to(template.lake_root).as_posix()}"
            server.client.upload_file(str(path), bucket.removeprefix("s3://"), key)
    yield replace(template, lake_root=f"{bucket}/{prefix}")


def test_every_release_is_bit_for_bit_the_same_after_maintenance(anywhere: Workplace) -> None:
    before = release_prints(anywhere.lake)
    done = maintain_lake(Upkeep(lake=anywhere.lake, run=LATER, policy=AT_ONCE))
    (report,) = done.datasets
    assert done.failed == {}
    assert min(report.num_superseded_rows, report.num_versions_removed) > 0
    assert report.tables["frames"].orphan_files == 1
    assert report.tables["frames"].tags_removed == 1
    assert report.compacted
    assert release_prints(anywhere.lake) == before
    assert sorted(before) == ["robot/r1", "robot/r2"]
    assert [verify(anywhere.lake, "robot", name).problems for name in ("r1", "r2")] == [(), ()]


def test_a_dry_run_tells_what_each_table_loses_and_changes_nothing(place: Workplace) -> None:
    files = {p: p.stat().st_mtime_ns for p in Path(place.lake_root).rglob("*") if p.is_file()}
    told = maintain_dataset(place.lake, "robot", LATER, AT_ONCE, dry_run=True)
    after = {p: p.stat().st_mtime_ns for p in Path(place.lake_root).rglob("*") if p.is_file()}
    assert after == files
    assert told.dry_run
    done = maintain_dataset(place.lake, "robot", LATER, AT_ONCE)
    same = ("superseded_rows", "superseded_bytes", "orphan_files", "orphan_bytes", "tags_removed")
    for name, table in done.tables.items():
        planned = asdict(told.tables[name])
        assert {key: planned[key] for key in same} == {key: asdict(table)[key] for key in same}
        assert bool(planned["compacted_fragments"]) <= bool(table.compacted_fragments)
    assert told.tables["frames"].orphan_bytes > 0
    assert told.num_bytes_removed > 0


def test_a_tag_that_a_release_lost_is_set_again_before_the_clean_up(place: Workplace) -> None:
    before = release_prints(place.lake)
    place.lake.open("robot", "frames").remove_tag("rel-r1")
    report = maintain_dataset(place.lake, "robot", LATER, AT_ONCE)
    assert report.tables["frames"].tags_mended == 1
    assert release_prints(place.lake) == before


def test_a_tag_within_the_grace_stays(place: Workplace) -> None:
    policy = replace(AT_ONCE, grace=timedelta(days=3))
    run = replace(LATER, created_ns=place.lake.open("robot", "frames").tag_times()["rel-dead"])
    maintain_dataset(place.lake, "robot", run, policy)
    assert "rel-dead" in place.lake.open("robot", "frames").tags()


def test_a_dataset_that_fails_is_told_and_the_others_go_on(place: Workplace) -> None:
    land(place, "other", "u3", replace(SHAPE, seed=3))
    ingest(place, "u3")
    for manifest in Path(place.lake.table_uri("other", "gops"), "_versions").iterdir():
        manifest.write_bytes(b"no manifest")
    done = maintain_lake(Upkeep(lake=place.lake, run=LATER, policy=AT_ONCE))
    assert {name: error.kind for name, error in done.failed.items()} == {
        "other": ErrorKind.STORE_FAILED
    }
    assert [report.dataset for report in done.datasets] == ["robot"]
    assert done.catalog is not None
    assert done.catalog.num_versions_removed > 0
