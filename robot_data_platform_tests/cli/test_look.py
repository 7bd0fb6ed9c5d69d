"""`rdp datasets`, `rdp episodes`, `rdp findings` and `rdp frame`."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from robot_data_platform.compute.ingestion import Workplace
from robot_data_platform.compute.registration import register_upload
from robot_data_platform.core.run import RunInfo
from robot_data_platform.testing.pictures import read_number
from robot_data_platform.video.settings import GopSettings
from robot_data_platform_tests.cli.conftest import DATASET, Lab, Released
from robot_data_platform_tests.cli.rdp import rdp

RUN = RunInfo(run_id="run-1", asset="raw_episodes", code_version="0", created_ns=1)


def test_datasets_tells_totals_and_releases(lab: Lab, released: Released) -> None:
    (facts,) = lab.rdp_json("datasets")
    assert (facts["episodes"], facts["flagged"], facts["quarantined"]) == (4, 1, 1)
    assert (facts["cameras"], facts["uploads"]) == (["env"], 1)
    assert facts["releases"] == ["v1", "v2"]


def test_episodes_tells_what_became_of_each(lab: Lab) -> None:
    found = lab.rdp_json("episodes", DATASET)
    assert [(e["source"], e["status"], e["rows"]) for e in found] == [
        ("episode_000", "quarantined", 0),
        ("episode_001", "flagged", 14),
        ("episode_002", "ok", 16),
        ("episode_003", "ok", 18),
    ]


@pytest.mark.parametrize(
    ("options", "indices"),
    [
        (["--status", "ok"], [2, 3]),
        (["--status", "quarantined"], [0]),
        (["--status", "ok", "--limit", 1], [2]),
        (["--limit", 3], [0, 1, 2]),
        (["--limit", 9], [0, 1, 2, 3]),
        (["--robot", "no such robot"], []),
        (["--task", "it's; no task"], []),
    ],
)
def test_episodes_lists_those_that_are_asked_for(
    lab: Lab, options: list[object], indices: list[int]
) -> None:
    found = lab.rdp_json("episodes", DATASET, *options)
    assert [facts["episode_index"] for facts in found] == indices


def test_episodes_of_an_upload_are_all_of_it_and_of_another_none(lab: Lab) -> None:
    assert len(lab.rdp_json("episodes", DATASET, "--upload", lab.upload)) == len(lab.episodes)
    assert lab.rdp_json("episodes", DATASET, "--upload", "20200101t000000z-robot-0000") == []


def test_episodes_tells_the_pictures_of_each_camera(lab: Lab) -> None:
    found = lab.rdp_json("episodes", DATASET)[-1]["cameras"]["env"]
    assert (found["frames"], found["codec"], found["fps"]) == (9, "h264", pytest.approx(25))


def test_a_person_sees_every_episode_with_its_status(lab: Lab) -> None:
    done = lab.rdp("episodes", DATASET)
    words = {tuple(line.split("┃" if "┃" in line else "│")[:2]) for line in done.out.splitlines()}
    listed = {name.strip() for _, name in (row for row in words if len(row) == 2)}
    assert {e.source_key for e in lab.episodes} <= listed


@pytest.mark.parametrize(
    ("options", "rules"),
    [
        (["--severity", "fail"], ["episode_can_be_ingested", "state_is_finite"]),
        (["--episode", 1, "--severity", "fail"], ["state_is_finite"]),
        (["--rule", "episode_can_be_ingested"], ["episode_can_be_ingested"]),
        (["--severity", "warn"], []),
        (["--episode", 3, "--severity", "fail"], []),
    ],
)
def test_findings_are_chosen(lab: Lab, options: list[object], rules: list[str]) -> None:
    assert [f["rule"] for f in lab.rdp_json("findings", DATASET, *options)] == rules


def test_a_person_reads_a_finding_with_its_place(lab: Lab) -> None:
    done = lab.rdp("findings", DATASET, "--rule", "state_is_finite")
    assert "observation_state[0]rows5..5" in done.squeezed()


@pytest.mark.parametrize("row", [0, 7, 17])
@pytest.mark.parametrize("by", ["episode_id", "episode_index"])
def test_a_frame_is_the_picture_of_its_row(lab: Lab, tmp_path: Path, row: int, by: str) -> None:
    episode = lab.rdp_json("episodes", DATASET)[3][by]
    png = tmp_path / "x.png"
    done = lab.rdp("frame", DATASET, episode, "--row", row, "--camera", "env", "-o", png)
    assert done.exit_code == 0, done.err
    with Image.open(png) as picture:
        shown = np.asarray(picture.convert("RGB"))
    assert read_number(shown) == lab.episodes[3].picture_number["env"][row]


def test_a_frame_that_can_t_be_written_is_told(lab: Lab, tmp_path: Path) -> None:
    place = tmp_path / "absent" / "x.png"
    done = lab.rdp("frame", DATASET, 3, "--row", 0, "--camera", "env", "-o", place)
    assert (done.exit_code, str(place) in done.err) == (1, True)


def test_a_dataset_on_its_way_hides_no_other(lab: Lab, tmp_path: Path) -> None:
    shutil.copytree(lab.lake, tmp_path / "lake")
    place = Workplace(lake_root=str(tmp_path / "lake"), landing_root=str(tmp_path / "landing"))
    place.landing.put(lab.source, "new", "20260101t000000z-new-0000")
    register_upload(place, "20260101t000000z-new-0000", GopSettings(), RUN)
    found = rdp(tmp_path, "datasets", "--lake", "lake", "--json").json()
    assert [facts["dataset"] for facts in found] == [DATASET]


def test_the_lake_may_come_from_the_environment(lab: Lab, tmp_path: Path) -> None:
    done = rdp(tmp_path, "datasets", "--json", RDP_LAKE=str(lab.lake))
    assert [facts["dataset"] for facts in done.json()] == [DATASET]


def test_the_option_wins_over_the_environment(lab: Lab, tmp_path: Path) -> None:
    done = rdp(tmp_path, "datasets", "--json", "--lake", "none", RDP_LAKE=str(lab.lake))
    assert done.json() == []


def test_the_landing_folder_may_come_from_the_environment(lab: Lab, tmp_path: Path) -> None:
    lab.rdp("upload", "recording", "--dataset", "pick", RDP_LANDING=str(tmp_path / "in"))
    assert len(list((tmp_path / "in" / "_uploads").iterdir())) == 1


def test_findings_of_an_episode_by_its_id_are_those_by_its_index(lab: Lab) -> None:
    (facts,) = (e for e in lab.rdp_json("episodes", DATASET) if e["status"] == "flagged")
    by_index = lab.rdp_json("findings", DATASET, "--episode", facts["episode_index"])
    assert lab.rdp_json("findings", DATASET, "--episode", facts["episode_id"]) == by_index


def test_findings_of_an_episode_that_is_not_there_are_refused(lab: Lab) -> None:
    done = lab.rdp("findings", DATASET, "--episode", "99")
    assert done.exit_code == 1
    assert "has no episode '99'" in done.err
