"""A lake that is too new, out of reach, denied or on a full disk: told, and left as it was."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import lance
import pytest

from robot_data_platform.core.schema import FORMAT_VERSION, FORMAT_VERSION_KEY
from robot_data_platform.reader import RobotLanceDataset
from robot_data_platform.reader.items import Item
from robot_data_platform.storage.lake import Lake
from robot_data_platform.testing.rawlog import RawlogShape
from robot_data_platform_tests.cli.conftest import DATASET, Lab
from robot_data_platform_tests.cli.rdp import Done
from robot_data_platform_tests.cli.recordings import record
from robot_data_platform_tests.compute.uploads import assert_same_items, versions
from robot_data_platform_tests.servers import S3Server, free_ports
from robot_data_platform_tests.video.videos import SHORT_GOPS

TO_THE_LAKE = [
    ("datasets",),
    ("episodes", DATASET),
    ("ingest", "recording", "--dataset", DATASET),
    ("release", "create", DATASET, "v1"),
    ("maintain", DATASET),
]
TO_A_STORE = [*TO_THE_LAKE[:3], ("upload", "recording", "--dataset", DATASET)]


def name_of(arguments: tuple[str, ...]) -> str:
    return arguments[0]


@pytest.fixture(scope="module")
def newer(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the lake as a later release of this package would have written it."""
    lake = tmp_path_factory.mktemp("newer") / "lake"
    shutil.copytree(lab.lake, lake)
    for table in lake.glob(f"{DATASET}/*.lance"):
        stated = {FORMAT_VERSION_KEY: str(FORMAT_VERSION + 1)}
        lance.dataset(str(table)).update_schema_metadata({**stated})
    return lake


@pytest.mark.parametrize("arguments", TO_THE_LAKE, ids=name_of)
def test_a_lake_of_a_newer_format_is_left_alone(
    lab: Lab, newer: Path, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    before = sorted(newer.rglob("*"))
    done = lab.rdp(*arguments, RDP_LAKE=str(newer), RDP_LANDING=str(tmp_path / "in"))
    assert (done.exit_code, done.out) == (1, "")
    assert re.search(r"robot/\w+\.lance'.*lake format 2: expected at most 1\. Install", done.err)
    assert (sorted(newer.rglob("*")), list(tmp_path.iterdir())) == (before, [])


@pytest.mark.timeout(60)
@pytest.mark.parametrize("arguments", TO_A_STORE, ids=name_of)
def test_a_store_that_does_not_answer_is_told_within_a_minute(
    lab: Lab, s3_server: S3Server, arguments: tuple[str, ...]
) -> None:
    (port,) = free_ports(1)
    closed = s3_server.environment | {"AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}"}
    done = on_s3(lab, arguments, "some-bucket", closed)
    assert done.exit_code == 1
    assert re.search(
        r"'s3://some-bucket/.*\(store-unreachable\): .* Check AWS_ENDPOINT_URL", done.err
    )


@pytest.mark.parametrize("variable", ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"])
@pytest.mark.parametrize("arguments", TO_A_STORE, ids=name_of)
def test_wrong_keys_are_told_and_not_shown(
    lab: Lab, s3_server: S3Server, arguments: tuple[str, ...], variable: str
) -> None:
    wrong = s3_server.environment | {variable: "the-wrong-key-of-somebody"}
    done = on_s3(lab, arguments, "lab-of-others", wrong)
    assert done.exit_code == 1
    assert re.search(
        r"'s3://lab-of-others/.*\(store-denied\): .* Check AWS_ACCESS_KEY_ID", done.err
    )
    secrets = (s3_server.access_key, s3_server.secret_key, "the-wrong-key-of-somebody")
    assert [secret for secret in secrets if secret in done.out + done.err] == []


def on_s3(lab: Lab, arguments: tuple[str, ...], bucket: str, environment: dict[str, str]) -> Done:
    places = {"RDP_LAKE": f"s3://{bucket}/lake", "RDP_LANDING": f"s3://{bucket}/landing"}
    return lab.rdp(*arguments, **environment, **places)


# A full disk

BIG = RawlogShape(num_episodes=1, num_rows=96, cameras=("env",), width_px=192, height_px=128)
BIG_OPTIONS = {**SHORT_GOPS["libx264"], "preset": "ultrafast", "crf": "1"}
"""GOPs that are copied as they are: three blobs that are larger than the room, each."""
ROOM_BYTES = 110_000
"""Enough for the tables' first, empty versions."""


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 4 MB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=4m", "none", str(folder)]
    if subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("this user can't mount a small file system")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def fill(disk: Path, room_bytes: int) -> Path:
    """Leave so much room on a disk; return the file that takes the rest."""
    state = os.statvfs(disk)
    filler = disk / "filler"
    filler.write_bytes(bytes(state.f_bavail * state.f_bsize - room_bytes))
    return filler


def items_of(lake: Path) -> list[Item]:
    """Return every row of the dataset, pictures included."""
    view = RobotLanceDataset(lake, DATASET)
    return view.__getitems__(list(range(len(view))))


def table_versions(lake: Path) -> dict[str, int]:
    """Return the version of each table of the dataset."""
    found = versions(Lake(lake), DATASET)
    return {name: version for name, version in found.items() if name.startswith(DATASET)}


def test_a_full_disk_is_told_and_shows_nothing_half_written(lab: Lab, small_disk: Path) -> None:
    shutil.copytree(lab.lake, small_disk / "lake")
    before, items = table_versions(lab.lake), items_of(lab.lake)
    record(small_disk.parent / "big", BIG, BIG_OPTIONS)
    ingest = ("ingest", small_disk.parent / "big", "--dataset", "second")
    filler = fill(small_disk, ROOM_BYTES)
    done = lab.rdp(*ingest, RDP_LAKE=str(small_disk / "lake"))
    assert done.exit_code == 1
    assert re.search(rf"'{small_disk}/lake/.*\(disk-full\): .*No space left.*Free space", done.err)
    filler.unlink()
    lake = small_disk / "lake"
    assert (Lake(lake).find("second", "episodes"), table_versions(lake)) == (None, before)
    assert_same_items(items_of(lake), items)
    again = lab.rdp(*ingest, "--json", RDP_LAKE=str(small_disk / "lake"))
    assert (again.exit_code, again.json()["rows"]) == (0, 96)
