"""`rdp inspect`, `rdp upload` and `rdp ingest` on a small recording."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import h5py
import numpy as np
import pytest

from robot_data_platform.testing.rawlog import RawlogShape
from robot_data_platform_tests.cli.conftest import Lab
from robot_data_platform_tests.cli.rdp import Done, rdp
from robot_data_platform_tests.cli.recordings import record

BROKEN = RawlogShape(
    num_episodes=1, num_rows=8, cameras=("env",), faults={0: "truncated_video"}, seed=1
)


def test_an_ingestion_counts_episodes_by_how_they_ended(lab: Lab) -> None:
    facts = lab.ingested.json()
    assert facts["episodes"] == {"converted": 3, "flagged": 1, "quarantined": 1}
    assert facts["rows"] == sum(len(e.timestamp_ns) for e in lab.episodes[1:])


def test_an_ingestion_names_each_quarantined_episode_with_the_reason(lab: Lab) -> None:
    (lost,) = lab.ingested.json()["quarantined"]
    assert lost["source"] == "episode_000"
    assert re.search(r"cameras/env\.mp4' can't be read: got .*, expected .*\. Copy", lost["reason"])


def test_json_is_all_that_is_printed(lab: Lab) -> None:
    assert (lab.ingested.out[0], lab.ingested.err) == ("{", "")


@pytest.fixture(scope="module")
def refused(tmp_path_factory: pytest.TempPathFactory) -> Done:
    """An upload of one episode that can't be read, ingested for a person to read."""
    folder = tmp_path_factory.mktemp("refused")
    record(folder / "recording", BROKEN)
    return rdp(folder, "ingest", "recording", "--dataset", "broken")


def test_an_upload_of_which_nothing_was_converted_is_refused(refused: Done) -> None:
    assert refused.exit_code == 1


def test_a_person_reads_how_many_first_and_no_blank_line(refused: Done) -> None:
    assert refused.out.startswith("broken: 0 episodes converted (0 flagged), 1 quarantined; 0 rows")


def test_a_person_reads_the_reason_of_each_quarantined_episode(refused: Done) -> None:
    assert re.search(
        r"^  quarantined episode_000: Video .*env\.mp4' can't be read: ", refused.out, re.MULTILINE
    )


def test_an_upload_is_its_files_and_then_a_marker_that_names_them(lab: Lab, tmp_path: Path) -> None:
    done = rdp(lab.folder, "upload", "recording", "--dataset", "pick", "--landing", tmp_path)
    assert done.exit_code == 0, done.err
    (marker,) = (tmp_path / "_uploads").iterdir()
    stated = json.loads(marker.read_text())
    assert marker.stem in done.out
    assert re.fullmatch(r"\d{8}t\d{6}z-pick-\d{4}\.json", marker.name)
    assert (stated["upload"], stated["dataset"]) == (marker.stem, "pick")
    copied = tmp_path / "pick" / marker.stem
    assert {entry["path"]: (entry["size_bytes"], entry["sha256"]) for entry in stated["files"]} == {
        path.relative_to(copied).as_posix(): facts_of(path)
        for path in copied.rglob("*")
        if path.is_file()
    }
    assert files_of(copied) == files_of(lab.source)


def facts_of(file: Path) -> tuple[int, str]:
    return file.stat().st_size, hashlib.sha256(file.read_bytes()).hexdigest()


def files_of(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_two_uploads_at_once_get_an_id_each(lab: Lab, tmp_path: Path) -> None:
    arguments = ("upload", "recording", "--dataset", "pick", "--landing", tmp_path, "--json")
    first, second = (lab.rdp(*arguments).json()["upload"] for _ in range(2))
    assert first < second


def test_hints_of_an_upload_stand_in_its_marker(lab: Lab, tmp_path: Path) -> None:
    (tmp_path / "profile.yaml").write_text("robot: so101\n")
    arguments = ["--format", "rawlog", "--profile", tmp_path / "profile.yaml"]
    rdp(lab.folder, "upload", "recording", "--dataset", "a", "--landing", tmp_path, *arguments)
    (marker,) = (tmp_path / "_uploads").iterdir()
    stated = json.loads(marker.read_text())
    assert (stated["format"], stated["profile"]) == ("rawlog", "robot: so101\n")


@pytest.mark.parametrize("command", ["upload", "ingest", "inspect"])
def test_a_wrong_profile_is_told_with_file_line_and_key_before_anything_is_copied(
    lab: Lab, tmp_path: Path, command: str
) -> None:
    profile = tmp_path / "mine.yaml"
    profile.write_text("version: 1\nrobto: so101\n")
    places = [] if command == "inspect" else ["--dataset", "a", "--landing", tmp_path / "landing"]
    done = lab.rdp(command, "recording", "--profile", profile, *places)
    assert done.exit_code == 1
    assert re.search(r"mine\.yaml' line 2 .*'robto'", done.err)
    assert list((tmp_path / "landing").rglob("*.json")) == []


def test_inspecting_tells_each_episode_and_fails_for_one_that_can_t_be_ingested(lab: Lab) -> None:
    done = lab.rdp("inspect", "recording", "--json")
    assert done.exit_code == 1
    assert {e["source_key"]: e["refused_kind"] for e in done.json()["episodes"]} == {
        "episode_000": "video-unreadable",
        "episode_001": None,
        "episode_002": None,
        "episode_003": None,
    }


def test_inspecting_shows_a_person_what_is_wrong(lab: Lab) -> None:
    done = lab.rdp("inspect", "recording")
    assert re.search(r"^episode_000 .* no: Video", done.out, re.MULTILINE)


def test_inspecting_a_whole_recording_succeeds(tmp_path: Path) -> None:
    record(tmp_path / "whole", RawlogShape(num_episodes=1, num_rows=8, cameras=("env",)))
    assert rdp(tmp_path, "inspect", "whole").exit_code == 0


def test_inspecting_a_file_looks_at_no_other(tmp_path: Path) -> None:
    for name in ("one", "two"):
        with h5py.File(tmp_path / f"{name}.hdf5", "w") as file:
            file.attrs["fps"] = 50
            file["observations/qpos"] = file["action"] = np.zeros((4, 2), np.float32)
    report = rdp(tmp_path, "inspect", "one.hdf5", "--json").json()
    assert [episode["source_key"] for episode in report["episodes"]] == ["one.hdf5"]
