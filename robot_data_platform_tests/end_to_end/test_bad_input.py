"""What can't be used is told with the place and the way out, and nothing half written shows."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

import dagster as dg
import pytest

from robot_data_platform.compute.listed_findings import list_findings
from robot_data_platform.compute.listing import EpisodeFacts, list_episodes
from robot_data_platform.defs import runs
from robot_data_platform.defs.resources import Platform
from robot_data_platform.defs.watch import requested_uploads
from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform.reader import RobotLanceDataset
from robot_data_platform.reader.items import Item
from robot_data_platform.storage.lake import Lake
from robot_data_platform.storage.landing import Landing
from robot_data_platform.testing.rawlog import RawlogShape
from robot_data_platform_tests.cli.rdp import Done, rdp
from robot_data_platform_tests.cli.recordings import copy_episode, cut_off, record
from robot_data_platform_tests.compute.uploads import assert_same_items, versions

GOOD = "good"
ONE = RawlogShape(num_episodes=1, num_rows=12, cameras=("env",))
ADVICE = r"(Upload|Correct|Copy|Check|Name|Free|Install)"


@dataclass(frozen=True, slots=True)
class Lab:
    """A folder whose lake holds one good dataset, and what that shows."""

    folder: Path
    items: list[Item]

    @property
    def lake(self) -> Lake:
        """The lake, opened afresh."""
        return Lake(self.folder / ".rdp" / "lake")


def items_of(lake: Lake) -> list[Item]:
    """Return every row of the first upload of the good dataset, pictures included."""
    view = RobotLanceDataset(lake.root, GOOD, episodes=[0, 1])
    return view.__getitems__(list(range(len(view))))


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    """A lab with a dataset of one episode with a NaN and one without."""
    folder = tmp_path_factory.mktemp("lab")
    shape = RawlogShape(num_episodes=2, num_rows=12, cameras=("env",), faults={0: "nan_state"})
    record(folder / "first", shape)
    done = rdp(folder, "ingest", "first", "--dataset", GOOD)
    assert done.exit_code == 0, done.err
    return Lab(folder, items_of(Lake(folder / ".rdp" / "lake")))


def test_a_nan_is_a_finding_that_says_where(lab: Lab) -> None:
    (finding,) = list_findings(lab.lake, GOOD, severity="fail", episode_index=0)
    assert (finding["rule"], finding["where"]) == (
        "state_is_finite",
        "observation_state[0] rows 5..5",
    )
    assert re.search(
        r"1 values of 'observation_state' are NaN.*'joint_0' rows 5", finding["message"]
    )


def test_an_episode_with_a_nan_is_flagged_and_the_other_is_not(lab: Lab) -> None:
    assert [e["status"] for e in list_episodes(lab.lake, GOOD)[:2]] == ["flagged", "ok"]


# Found before anything is copied


@pytest.mark.parametrize(
    ("files", "told"),
    [
        (
            {"notes.txt": "hello"},
            r"is in no known format: got 1 files \(1 \.txt.*expected one of: lero",
        ),
        ({}, r"is empty: got 0 files, expected recorded episodes\. Check"),
    ],
    ids=["unknown format", "empty folder"],
)
def test_a_folder_of_no_known_format_is_refused_before_it_is_copied(
    lab: Lab, tmp_path: Path, files: dict[str, str], told: str
) -> None:
    source = tmp_path / "source"
    source.mkdir()
    for name, text in files.items():
        (source / name).write_text(text)
    before = versions(lab.lake, GOOD)
    done = rdp(lab.folder, "ingest", source, "--dataset", "new", "--landing", tmp_path / "landing")
    assert done.exit_code == 1
    assert re.search(rf"'{re.escape(str(source))}' {told}", done.err)
    assert (list((tmp_path / "landing").rglob("*")), versions(lab.lake, GOOD)) == ([], before)


# Episodes that can't be ingested


@dataclass(frozen=True, slots=True)
class Refused:
    """An upload of nothing but broken episodes, after its ingestion into the good dataset."""

    done: Done
    episodes: dict[str, EpisodeFacts]


@pytest.fixture(scope="module")
def refused(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Refused:
    folder = tmp_path_factory.mktemp("broken")
    record(folder / "one", ONE)
    record(
        folder / "wide", RawlogShape(num_episodes=1, num_rows=12, cameras=("env",), state_width=6)
    )
    record(
        folder / "clock",
        RawlogShape(num_episodes=1, num_rows=12, cameras=("env",), faults={0: "time_backwards"}),
    )
    upload = folder / "upload"
    copy_episode(folder / "wide", upload, "wide")
    copy_episode(folder / "clock", upload, "clock")
    cut_off(copy_episode(folder / "one", upload, "cut") / "signals" / "state.parquet")
    (copy_episode(folder / "one", upload, "text") / "signals" / "action.parquet").write_text("no")
    (copy_episode(folder / "one", upload, "blind") / "cameras" / "env.mp4").unlink()
    done = rdp(lab.folder, "ingest", upload, "--dataset", GOOD, "--json")
    found = list_episodes(lab.lake, GOOD)
    return Refused(done, {e["source"]: e for e in found if e["upload"] != found[0]["upload"]})


REASONS = {
    "blind": r"'blind'.* camera 'env' lacks a file: got no 'cameras/env\.mp4', expected a video",
    "clock": r"'episodes/clock/signals/state\.parquet'.* at row 3: got \d+ ns after \d+ ns.*expec",
    "cut": r"'episodes/cut/signals/state\.parquet'.* can't be read: got .*expected a whole parquet",
    "text": r"'episodes/text/signals/action\.parquet'.* can't be read: got .*expected a whole parq",
    "wide": r"'wide' signal 'observation_state' has width 6: expected 4, the width that the datase",
}


def test_an_upload_of_nothing_but_broken_episodes_is_refused(refused: Refused) -> None:
    assert refused.done.exit_code == 1
    assert refused.done.json()["episodes"] == {"converted": 0, "flagged": 0, "quarantined": 5}


@pytest.mark.parametrize("episode", REASONS)
def test_a_broken_episode_is_told_with_place_and_expectation_and_advice(
    refused: Refused, episode: str
) -> None:
    reason = refused.episodes[episode]["reason"] or ""
    assert re.search(REASONS[episode], reason)
    assert re.search(rf"\. {ADVICE} [^.]*\.$", reason)


def test_a_broken_episode_has_neither_rows_nor_pictures_to_show(refused: Refused) -> None:
    assert {
        name: (e["status"], e["rows"], e["cameras"]) for name, e in refused.episodes.items()
    } == {name: ("quarantined", 0, {}) for name in REASONS}


def test_a_broken_episode_adds_no_row_to_frames(lab: Lab, refused: Refused) -> None:
    rows = lab.lake.open(GOOD, "frames").read(["episode_index"])
    assert set(rows["episode_index"].to_pylist()) == {0, 1}


def test_the_dataset_shows_what_it_showed_before(lab: Lab, refused: Refused) -> None:
    assert_same_items(items_of(lab.lake), lab.items)


# Uploads that others landed wrongly


@dataclass(frozen=True, slots=True)
class Landed:
    """A landing folder, and how each upload that the sensor requested ended."""

    errors: dict[str, DataFaultError]
    landing: Landing
    lake: Lake


UPLOADS = ("20260101t000000z-odd-0000", "20260101t000001z-swapped-0000", "20260101t000002z-climb-0")


@pytest.fixture(scope="module")
def landed(tmp_path_factory: pytest.TempPathFactory) -> Landed:
    folder = tmp_path_factory.mktemp("landed")
    platform = Platform(lake=str(folder / "lake"), landing=str(folder / "landing"), num_workers=1)
    landing = platform.workplace.landing
    odd, swapped, climb = UPLOADS
    (folder / "odd").mkdir()
    (folder / "odd" / "notes.txt").write_text("hello")
    landing.put(folder / "odd", "odd", odd)
    record(folder / "one", ONE)
    landing.put(folder / "one", "swapped", swapped)
    changed = folder / "landing" / "swapped" / swapped / "episodes/episode_000/episode.json"
    changed.write_text(changed.read_text().replace("task 0", "task 9"))
    entry = {"path": "../../_uploads/x.json", "size_bytes": 1, "sha256": "0" * 64}
    marker = {"upload": climb, "dataset": "climb", "files": [entry]}
    (folder / "landing" / "_uploads" / f"{climb}.json").write_text(json.dumps(marker))
    errors = {}
    with dg.DagsterInstance.local_temp(str(folder)) as instance:
        # The sensor asks again for what did not run: each is run before the next is asked for.
        for manifest in requested_uploads(instance, platform):
            with pytest.raises(DataFaultError) as caught:
                runs.ingest(instance, platform, manifest)
            errors[manifest.upload] = caught.value
    return Landed(errors, landing, platform.workplace.lake)


def test_an_upload_of_no_known_format_names_its_files(landed: Landed) -> None:
    said = str(landed.errors[UPLOADS[0]])
    assert re.search(rf"{UPLOADS[0]}' is in no known format: got 1 files .*notes\.txt", said)


def test_a_file_that_changed_after_its_marker_is_named(landed: Landed) -> None:
    said = str(landed.errors[UPLOADS[1]])
    assert re.search(r"'episodes/episode_000/episode\.json' has sha256 \w+.*: expected \w+", said)
    assert UPLOADS[1] in said


def test_a_marker_whose_paths_climb_is_passed_over_and_holds_up_no_other(landed: Landed) -> None:
    assert landed.errors.keys() == set(UPLOADS[:2])


def test_a_marker_whose_paths_climb_is_told(landed: Landed) -> None:
    with pytest.raises(DataFaultError, match=r"climb-0'.*'\.\./\.\./_uploads/x\.json'") as caught:
        landed.landing.manifest(UPLOADS[2])
    assert caught.value.kind is ErrorKind.UNSAFE_PATH


def test_nothing_that_was_refused_is_in_the_lake(landed: Landed) -> None:
    assert landed.lake.datasets() == []
