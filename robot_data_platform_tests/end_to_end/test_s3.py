"""The whole way with lake and landing folder on a real S3 server, and no secret left behind."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import dagster as dg
import pytest

from robot_data_platform.curation.verify import verify
from robot_data_platform.defs import runs
from robot_data_platform.defs.resources import Platform
from robot_data_platform.defs.watch import requested_uploads
from robot_data_platform.reader import RobotLanceDataset
from robot_data_platform.storage.lake import Lake
from robot_data_platform.storage.landing import Landing
from robot_data_platform.testing.pictures import read_number
from robot_data_platform.testing.rawlog import Draw, RawlogEpisode, RawlogShape, write_rawlog
from robot_data_platform_tests.servers import S3Server
from robot_data_platform_tests.video.videos import write_video

DATASET, UPLOAD = "fold", "20260101t000000z-fold-0000"


def _write_video(path: Path, num_frames: int, draw: Draw) -> Path:
    return write_video(path, num_frames, picture=draw)


@dataclass(frozen=True)
class Ingested:
    """What went through, and everything that was said on the way."""

    lake: Lake
    episodes: tuple[RawlogEpisode, ...]
    events: str
    logs: str


@pytest.fixture(scope="module")
def ingested(s3_server: S3Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ingested]:
    folder = tmp_path_factory.mktemp("s3")
    bucket = s3_server.make_bucket("lab-data")
    with pytest.MonkeyPatch.context() as patch:
        for name, value in s3_server.environment.items():
            patch.setenv(name, value)
        platform = Platform(lake=f"{bucket}/a/lake", landing=f"{bucket}/landing", num_workers=2)
        episodes = tuple(write_rawlog(folder / "fold", RawlogShape(), _write_video))
        yield _go_through(platform, folder, episodes)


def _go_through(platform: Platform, folder: Path, episodes: tuple[RawlogEpisode, ...]) -> Ingested:
    Landing(platform.landing).put(folder / "fold", DATASET, UPLOAD)
    with dg.DagsterInstance.local_temp(str(folder)) as instance:
        for manifest in requested_uploads(instance, platform):
            runs.ingest(instance, platform, manifest)
        runs.release(instance, platform, DATASET, "v1")
        events = "\n".join(
            str(record.event_log_entry)
            for run in instance.get_runs()
            for record in instance.get_records_for_run(run.run_id).records
        )
    logs = "\n".join(
        path.read_text(errors="replace") for path in folder.rglob("*.err") if path.is_file()
    )
    return Ingested(Lake(platform.lake), episodes, events, logs)


def test_the_release_on_s3_is_whole(ingested: Ingested) -> None:
    assert verify(ingested.lake, DATASET, "v1").problems == ()


def test_the_reader_returns_the_picture_of_each_row(ingested: Ingested) -> None:
    view = RobotLanceDataset(ingested.lake.root, DATASET, release="v1")
    items = view.__getitems__(list(range(len(view))))
    got = [read_number(item["observation.images.env"]) for item in items]
    by_id = sorted(ingested.episodes, key=lambda e: e.source_key)
    expected = [n for e in by_id for n in e.picture_number["env"].tolist()]
    assert sorted(got) == sorted(expected)


def test_materializations_name_tables_by_uri_without_a_credential(ingested: Ingested) -> None:
    assert f"{ingested.lake.root}/{DATASET}/gops.lance" in ingested.events


@pytest.mark.parametrize("secret", ["access_key", "secret_key"])
def test_no_secret_is_in_events_or_logs(
    ingested: Ingested, s3_server: S3Server, secret: str
) -> None:
    assert getattr(s3_server, secret) not in ingested.events + ingested.logs


@pytest.mark.parametrize("secret", ["access_key", "secret_key"])
def test_no_secret_is_in_any_object(ingested: Ingested, s3_server: S3Server, secret: str) -> None:
    needle = str(getattr(s3_server, secret)).encode()
    pages = s3_server.client.get_paginator("list_objects_v2").paginate(Bucket="lab-data")
    keys = [item["Key"] for page in pages for item in page.get("Contents", ())]
    found = [
        key
        for key in keys
        if needle in s3_server.client.get_object(Bucket="lab-data", Key=key)["Body"].read()
    ]
    assert (found, len(keys) > 20) == ([], True)
