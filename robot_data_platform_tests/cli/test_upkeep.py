"""`rdp maintain`, `rdp doctor` and `rdp backup` as from a shell."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from robot_data_platform.storage.lake import Lake
from robot_data_platform.testing.lake import build_lake
from robot_data_platform_tests.cli.rdp import Done, rdp
from robot_data_platform_tests.compute.test_maintenance import flip_bit


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("template")
    build_lake(folder / "lake", num_episodes=1)
    return folder


@pytest.fixture
def folder(template: Path, tmp_path: Path) -> Path:
    """A folder with a lake of one dataset."""
    shutil.copytree(template, tmp_path, dirs_exist_ok=True)
    return tmp_path


def run(folder: Path, *arguments: object) -> Done:
    return rdp(folder, *arguments, "--lake", folder / "lake")


def files(folder: Path) -> dict[Path, int]:
    return {p: p.stat().st_mtime_ns for p in (folder / "lake").rglob("*") if p.is_file()}


def damage(folder: Path) -> None:
    gops = Lake(folder / "lake").open("robot", "gops")
    rows = gops.read(["gop_key"], with_row_id=True)
    flip_bit(Path(gops.uri), gops.read_blobs(rows["_rowid"].to_numpy()[:1])[0])


def test_a_dry_run_says_so_and_changes_nothing(folder: Path) -> None:
    before = files(folder)
    done = run(folder, "maintain", "robot", "--dry-run", "--keep-days", 0)
    assert done.exit_code == 0
    assert "nothing was changed" in done.out
    assert files(folder) == before


def test_old_versions_are_removed_without_it(folder: Path) -> None:
    told = run(folder, "maintain", "robot", "--dry-run", "--keep-days", 0, "--json").json()
    done = run(folder, "maintain", "robot", "--keep-days", 0, "--json").json()
    assert done["num_versions_removed"] >= told["num_versions_removed"] > 0
    assert (told["dry_run"], done["dry_run"]) == (True, False)


@pytest.mark.parametrize(("scrub", "exit_code"), [("all", 1), ("none", 0)])
def test_a_damaged_gop_ends_it_with_1(folder: Path, scrub: str, exit_code: int) -> None:
    damage(folder)
    done = run(folder, "maintain", "robot", "--scrub", scrub)
    assert done.exit_code == exit_code
    assert ("damaged: episode" in done.out) == bool(exit_code)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), "give DATASET or --all"),
        (("robot", "--all"), "give DATASET or --all"),
        (("robot", "--scrub", "2/7"), "expected all, none, or 1/N"),
        (("robot", "--grace-days", "9"), "0 to 6 days"),
    ],
)
def test_wrong_usage_ends_with_2(folder: Path, arguments: tuple[str, ...], told: str) -> None:
    done = run(folder, "maintain", *arguments)
    assert done.exit_code == 2
    assert told in done.err


def test_a_dataset_that_is_not_there_ends_with_1(folder: Path) -> None:
    done = run(folder, "maintain", "absent")
    assert done.exit_code == 1
    assert "absent" in done.err


def test_a_doctor_ends_with_1_and_says_how_to_mend_it(folder: Path) -> None:
    assert run(folder, "doctor").exit_code == 0
    source = folder / "landing" / "_uploads"
    source.mkdir(parents=True)
    (source / "u1.json").write_text("{}")
    done = run(folder, "doctor", "--landing", folder / "landing")
    assert done.exit_code == 1
    assert "uploads_are_ingested" in done.out
    assert "new_uploads" in done.out


def test_a_backup_over_another_lake_ends_with_1(folder: Path) -> None:
    Lake(folder / "lake").ensure_catalog("uploads")
    Lake(folder / "other").ensure_catalog("uploads")
    Lake(folder / "other").ensure_catalog("releases")
    done = run(folder, "backup", folder / "other")
    assert done.exit_code == 1
    assert "expected an empty place" in done.err
