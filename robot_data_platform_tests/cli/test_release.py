"""`rdp release`, `rdp lineage`, `rdp impact` and `rdp maintain`."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import pytest

from robot_data_platform_tests.cli.conftest import DATASET, Lab, Released
from robot_data_platform_tests.cli.rdp import rdp


def ids_by_source(lab: Lab) -> dict[str, str]:
    return {e["source"]: e["episode_id"] for e in lab.rdp_json("episodes", DATASET)}


def test_a_release_holds_the_episodes_that_are_ok(released: Released) -> None:
    facts = released.created.json()
    assert (facts["release"], facts["num_episodes"], facts["num_rows"]) == ("v1", 2, 16 + 18)


def test_showing_a_release_prints_what_creating_it_did(lab: Lab, released: Released) -> None:
    assert lab.rdp_json("release", "show", DATASET, "v1") == released.created.json()


def test_the_same_release_again_changes_nothing(lab: Lab, released: Released) -> None:
    again = lab.rdp("release", "create", DATASET, "v1", "--json")
    assert (again.exit_code, again.json()) == (0, released.created.json())


def test_a_name_that_stands_for_other_content_is_refused(lab: Lab, released: Released) -> None:
    spec = lab.folder / "other_seed.yaml"
    spec.write_text("seed: 5\n")
    done = lab.rdp("release", "create", DATASET, "v1", "--spec", spec)
    assert (done.exit_code, "'robot/v1' exists with digest" in done.err) == (1, True)


def test_releases_are_listed_oldest_first(lab: Lab, released: Released) -> None:
    rows = lab.rdp_json("release", "list", DATASET)
    assert [(row["release"], row["num_episodes"]) for row in rows] == [("v1", 2), ("v2", 3)]


def test_a_difference_is_told_by_episode(lab: Lab, released: Released) -> None:
    ids = ids_by_source(lab)
    found = lab.rdp_json("release", "diff", DATASET, "v1", "v2")
    assert (found["added"], found["removed"], found["changed"]) == ([ids["episode_001"]], [], [])
    assert {move["episode_id"]: move["after"] for move in found["moved"]} == {
        ids["episode_002"]: "holdout",
        ids["episode_003"]: "holdout",
    }


def test_a_person_reads_the_difference(lab: Lab, released: Released) -> None:
    done = lab.rdp("release", "diff", DATASET, "v1", "v2")
    assert done.out.startswith(f"added: 1\n  {ids_by_source(lab)['episode_001']}\n")


def test_an_intact_release_verifies(lab: Lab, released: Released) -> None:
    done = lab.rdp("release", "verify", DATASET, "v1")
    assert (done.exit_code, "2 episodes, 34 rows, 2 GOPs read; 0 problems" in done.out) == (0, True)


@pytest.fixture(scope="module")
def damaged(lab: Lab, released: Released, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the lake in which the first byte of each file of blobs has changed."""
    folder = tmp_path_factory.mktemp("damaged")
    shutil.copytree(lab.lake, folder / "lake")
    blobs = list((folder / "lake").rglob("*.blob"))
    assert blobs
    for file in blobs:
        data = bytearray(file.read_bytes())
        data[0] ^= 0xFF
        file.write_bytes(data)
    return folder


def test_a_damaged_release_does_not_verify(damaged: Path) -> None:
    done = rdp(damaged, "release", "verify", DATASET, "v2", "--lake", "lake", "--json")
    assert done.exit_code == 1
    assert {problem["rule"] for problem in done.json()["problems"]} == {"gop_has_its_hash"}


def test_a_person_reads_what_is_damaged(damaged: Path) -> None:
    done = rdp(damaged, "release", "verify", DATASET, "v2", "--lake", "lake")
    assert "gop_has_its_hash: GOP episode_index=" in done.out


def test_maintenance_fails_for_a_damaged_gop(damaged: Path) -> None:
    done = rdp(damaged, "maintain", DATASET, "--lake", "lake", "--json")
    num_files = len(list((damaged / "lake" / DATASET).rglob("*.blob")))
    assert (done.exit_code, len(done.json()["damaged_gops"])) == (1, num_files)


def test_maintenance_without_a_scrub_looks_at_no_blob(damaged: Path) -> None:
    done = rdp(damaged, "maintain", DATASET, "--scrub", "none", "--lake", "lake", "--json")
    assert (done.exit_code, done.json()["num_gops_scrubbed"]) == (0, 0)


def test_maintenance_tells_what_it_did(lab: Lab) -> None:
    done = lab.rdp("maintain", DATASET)
    assert (done.exit_code, "3 GOPs scrubbed, 0 damaged" in done.out) == (0, True)


def test_a_model_leads_back_to_every_source_file_and_its_hash(lab: Lab, released: Released) -> None:
    found = lab.rdp_json("lineage", released.model)
    trained_on = lab.rdp_json("release", "show", DATASET, "v1")["episodes_by_split"]["train"]
    assert (found["model"], found["release"], len(found["episodes"])) == (
        "policy-1",
        "v1",
        trained_on,
    )
    assert found["uploads"] == [lab.upload]
    names = {name for name, episode in ids_by_source(lab).items() if episode in found["episodes"]}
    assert {source["path"]: source["sha256"] for source in found["sources"]} == {
        path.relative_to(lab.source).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in lab.source.rglob("*")
        if path.is_file() and path.parts[len(lab.source.parts) + 1] in names
    }


def test_a_release_has_a_lineage_without_a_model(lab: Lab, released: Released) -> None:
    found = lab.rdp_json("lineage", f"{DATASET}/v2")
    assert (found["model"], len(found["episodes"])) == (None, 3)


def test_a_person_reads_the_hash_beside_the_file(lab: Lab, released: Released) -> None:
    file = "episodes/episode_003/signals/state.parquet"
    digest = hashlib.sha256((lab.source / file).read_bytes()).hexdigest()
    assert f"  {digest}  {file}\n" in lab.rdp("lineage", f"{DATASET}/v1").out


def test_an_upload_leads_to_every_release_and_model(lab: Lab, released: Released) -> None:
    found = lab.rdp_json("impact", lab.upload)
    assert {
        row["release"]: sum(row["episodes_by_split"].values()) for row in found["releases"]
    } == {
        "v1": 2,
        "v2": 3,
    }
    assert [row["model"] for row in found["models"]] == [released.model]


def test_an_episode_leads_to_the_releases_that_hold_it(lab: Lab, released: Released) -> None:
    found = lab.rdp_json("impact", ids_by_source(lab)["episode_001"])
    assert ([row["release"] for row in found["releases"]], found["models"]) == (["v2"], [])


def test_a_person_reads_the_impact(lab: Lab, released: Released) -> None:
    done = lab.rdp("impact", lab.upload)
    assert (done.exit_code, "releases: 2\n" in done.out, "models: 1\n" in done.out) == (
        0,
        True,
        True,
    )
