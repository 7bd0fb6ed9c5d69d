"""A disk that is full or read only: told, nothing half visible, and mended by a new run."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from robot_data_platform.compute.ingestion import Workplace
from robot_data_platform.errors import ErrorKind, StorageError
from robot_data_platform.storage.lake import Lake
from robot_data_platform.storage.landing import Landing
from robot_data_platform.testing.rawlog import RawlogShape
from robot_data_platform_tests.cli.rdp import rdp
from robot_data_platform_tests.cli.recordings import record
from robot_data_platform_tests.compute.uploads import ingest, workplace
from robot_data_platform_tests.faults.contents import rows_of_tables, shown
from robot_data_platform_tests.faults.scenarios import Scenario, make_scenarios
from robot_data_platform_tests.servers import S3Server
from robot_data_platform_tests.storage.small_table import add, latest_keys, make_table

DISK_BYTES = 4 << 20


@pytest.fixture(scope="module")
def scenario(tmp_path_factory: pytest.TempPathFactory) -> Scenario:
    """An upload that takes the place of its own former content."""
    return make_scenarios(tmp_path_factory.mktemp("scenarios"), ["corrected"])["corrected"]


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A small file system of its own."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount("-t", "tmpfs", "-o", f"size={DISK_BYTES}", "none", str(folder))
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def mount(*arguments: str) -> None:
    if subprocess.run(["mount", *arguments], capture_output=True).returncode:
        pytest.skip("this user can't mount a small file system")


def fill(disk: Path, room_bytes: int) -> Path:
    """Leave so much room on a disk; return the file that takes the rest."""
    state, filler = os.statvfs(disk), disk / "filler"
    filler.write_bytes(bytes(state.f_bavail * state.f_bsize - room_bytes))
    return filler


@pytest.mark.parametrize("room_bytes", [0, 12_000, 60_000])
def test_a_full_disk_shows_the_old_or_the_new_and_a_run_after_room_is_made_the_new(
    scenario: Scenario, disk: Path, room_bytes: int
) -> None:
    place = scenario.copied(disk / "place")
    filler = fill(disk, room_bytes)
    with pytest.raises(StorageError, match=rf"'{disk}/place/.*Free space") as caught:
        ingest(place, scenario.upload)
    assert caught.value.kind is ErrorKind.DISK_FULL
    assert shown(place, scenario.dataset) in (scenario.before, scenario.after)
    filler.unlink()
    assert_mended(place, scenario)


def assert_mended(place: Workplace, scenario: Scenario) -> None:
    """Run again, and compare with a run that met no fault."""
    ingest(place, scenario.upload)
    assert shown(place, scenario.dataset) == scenario.after
    assert rows_of_tables(place, scenario.dataset) == scenario.rows


def test_a_full_folder_for_temporary_files_is_told_by_its_name(
    scenario: Scenario, disk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = scenario.copied(tmp_path / "place")
    fill(disk, 0)
    monkeypatch.setattr(tempfile, "tempdir", str(disk))
    with pytest.raises(StorageError, match=rf"'{disk}' failed.*Free space") as caught:
        ingest(place, scenario.upload)
    assert caught.value.kind is ErrorKind.DISK_FULL
    assert shown(place, scenario.dataset) == scenario.before
    monkeypatch.undo()
    assert_mended(place, scenario)


def test_a_read_only_lake_is_read_and_not_written(scenario: Scenario, disk: Path) -> None:
    place = scenario.copied(disk / "place")
    mount("-o", "remount,ro", str(disk))
    with pytest.raises(StorageError, match=rf"'{disk}/place/lake/.*rights on the folder") as caught:
        ingest(place, scenario.upload)
    assert caught.value.kind is ErrorKind.STORE_DENIED
    assert shown(place, scenario.dataset) == scenario.before
    mount("-o", "remount,rw", str(disk))
    assert_mended(workplace(disk / "place"), scenario)


def test_a_bucket_that_may_only_be_read_is_read_and_not_written(
    s3_server: S3Server, root: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    uri = f"{root}/numbers.lance"
    for name, value in s3_server.environment.items():
        monkeypatch.setenv(name, value)
    make_table(uri)
    add(uri, [1], "a")
    for name, value in s3_server.for_readers.environment.items():
        monkeypatch.setenv(name, value)
    assert latest_keys(uri) == {"a": [1]}
    for write in (
        lambda: add(uri, [2], "a"),
        lambda: Lake(root).check_writable(),
        lambda: Landing(root).put(Path(__file__), "robot", "u1"),
    ):
        with pytest.raises(StorageError, match=rf"'{root}/.*Check AWS_ACCESS_KEY_ID") as caught:
            write()
        assert caught.value.kind is ErrorKind.STORE_DENIED
        assert s3_server.for_readers.secret_key not in str(caught.value)
    assert latest_keys(uri) == {"a": [1]}


@pytest.mark.parametrize("room_bytes", [0, 300_000])
def test_a_full_disk_under_the_run_history_is_told_by_its_folder(
    disk: Path, tmp_path: Path, room_bytes: int
) -> None:
    shape = RawlogShape(num_episodes=1, num_rows=8, cameras=("env",))
    record(tmp_path / "recording", shape)
    command = ("ingest", tmp_path / "recording", "--dataset", "robot")
    places = {"RDP_LAKE": str(tmp_path / "lake"), "RDP_LANDING": str(tmp_path / "landing")}
    fill(disk, room_bytes)
    done = rdp(disk, *command, **places)
    assert done.exit_code == 1
    assert re.search(rf"'{disk}/\.rdp/dagster' failed \(disk-full\).*Free space", done.err)
    assert "Traceback" not in done.err
