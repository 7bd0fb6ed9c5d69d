"""What was measured of an episode is kept: with other thresholds, only rules run again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from robot_data_platform.compute.ingestion import Workplace
from robot_data_platform.compute.listed_findings import list_findings
from robot_data_platform.compute.quality import QualityResult, write_quality
from robot_data_platform.compute.registration import find_ingestion
from robot_data_platform.core.measurement_schema import MEASUREMENTS
from robot_data_platform.core.recording import Picture
from robot_data_platform.quality.thresholds import THRESHOLDS, Threshold, Thresholds
from robot_data_platform.storage.commit import rewrite_columns
from robot_data_platform.testing.rawlog import RawlogShape, write_rawlog
from robot_data_platform.video.decode import GopDecoder
from robot_data_platform_tests.compute.uploads import (
    IN_PROCESS,
    RUN,
    SETTINGS,
    ingest,
    land,
    published,
    workplace,
)
from robot_data_platform_tests.video.videos import write_video

SHAPE = RawlogShape(num_episodes=2, num_rows=24)
STRICT = replace(THRESHOLDS, camera_spread=Threshold(0.0, "ms", "Stricter, for this test."))


@pytest.fixture
def place(tmp_path: Path) -> Workplace:
    place = workplace(tmp_path)
    land(place, "robot", "u1", SHAPE)
    ingest(place, "u1")
    return place


@pytest.fixture
def no_decoder(place: Workplace, monkeypatch: pytest.MonkeyPatch) -> None:
    """From here on, whoever decodes a picture fails."""

    def refuse(*_: object) -> None:
        raise AssertionError("a picture was decoded")

    for name in ("decode_luma", "decode_rgb", "decode", "each"):
        monkeypatch.setattr(GopDecoder, name, refuse)


def judge(place: Workplace, limits: Thresholds, upload: str = "u1") -> QualityResult:
    ingestion = find_ingestion(place, upload, SETTINGS)
    return write_quality(ingestion, IN_PROCESS, RUN, limits=limits)


def rules(place: Workplace) -> set[str]:
    return {f["rule"] for f in list_findings(place.lake, "robot", severity="warn")}


def test_an_episode_and_each_of_its_streams_has_a_row(place: Workplace) -> None:
    table = place.lake.open("robot", MEASUREMENTS)
    rows = table.read(["episode_index", "camera"]).to_pylist()
    expected = {(i, camera) for i in (0, 1) for camera in (None, "env", "wrist")}
    assert {(r["episode_index"], r["camera"]) for r in rows} == expected
    assert len(rows) == len(expected)


@pytest.mark.usefixtures("no_decoder")
def test_other_thresholds_judge_without_decoding_a_picture(place: Workplace) -> None:
    assert rules(place) == set()
    version = place.lake.open("robot", MEASUREMENTS).version
    assert judge(place, STRICT).is_new
    assert rules(place) == {"cameras_start_together", "cameras_end_together"}
    assert place.lake.open("robot", MEASUREMENTS).version == version


@pytest.mark.usefixtures("no_decoder")
def test_the_first_thresholds_again_give_the_first_findings_again(place: Workplace) -> None:
    before = list_findings(place.lake, "robot")
    judge(place, STRICT)
    judge(place, THRESHOLDS)
    assert list_findings(place.lake, "robot") == before


@pytest.mark.usefixtures("no_decoder")
def test_the_same_thresholds_write_nothing(place: Workplace) -> None:
    assert not judge(place, THRESHOLDS).is_new


def test_measurements_of_other_blobs_are_not_taken(place: Workplace) -> None:
    gops = place.lake.open("robot", "gops")
    rows = gops.read(["gop_key", "sha256"])
    damaged = rows.set_column(1, "sha256", pa.array(["0" * 64] * rows.num_rows))
    rewrite_columns(gops.uri, damaged, key="gop_key", properties={})
    judge(place, STRICT)
    found = {f["rule"] for f in list_findings(place.lake, "robot", severity="fail")}
    assert found == {"gop_hash_matches"}


def room(number: int, frame: int, channels: int = 1) -> Picture:
    """Return a picture of a room of its own, with a light that moves; -1 exchanges channels."""
    rng = np.random.default_rng(number)
    wood = np.array([150.0, 100, 50]) + rng.normal(0, 30, (6, 8, 1))
    picture = wood.repeat(8, axis=0).repeat(8, axis=1)
    picture[8:16, frame % 48 : frame % 48 + 16] = 230
    return np.clip(picture, 0, 255).astype(np.uint8)[:, :, ::channels]


def land_rooms(place: Workplace, fault: str) -> int:
    """Land four episodes of two cameras in two rooms; return the one that has the fault."""
    cameras = ("env", "wrist")

    def write(path: Path, num_frames: int, _: object) -> Path:
        is_faulty = path.parts[-3] == "episode_003"
        own = cameras.index(path.stem)
        shown = 1 - own if is_faulty and fault == "exchanged" else own
        channels = -1 if is_faulty and fault == "channels" and path.stem == "env" else 1
        return write_video(path, num_frames, picture=lambda frame: room(shown, frame, channels))

    draft = Path(place.landing_root) / ".drafts" / "u1"
    write_rawlog(draft, RawlogShape(num_episodes=4, num_rows=40), write)
    place.landing.put(draft, "robot", "u1")
    return 3


LONG = RawlogShape(num_episodes=1, num_rows=120)


def test_an_upload_that_came_before_is_told_in_the_second_one_only(
    tmp_path: Path,
) -> None:
    place = workplace(tmp_path)
    for upload in ("u1", "u2"):
        land(place, "robot", upload, LONG)
        ingest(place, upload)
    assert {e.status for e in published(place, "robot", "u1").values()} == {"ok"}
    found = list_findings(place.lake, "robot", rule="episode_is_no_copy")
    assert [(f["episode_index"], f["where"]) for f in found] == [(1, "episode=0")]
    assert rules(place) == {"episode_is_no_copy"}


@pytest.mark.parametrize(
    ("fault", "rule", "cameras"),
    [
        ("exchanged", "camera_is_the_named_one", ["env", "wrist"]),
        ("channels", "channels_are_in_order", ["env"]),
    ],
)
def test_a_camera_that_is_not_itself_is_told_in_its_episode(
    tmp_path: Path, fault: str, rule: str, cameras: list[str]
) -> None:
    place = workplace(tmp_path)
    faulty = land_rooms(place, fault)
    ingest(place, "u1")
    found = list_findings(place.lake, "robot", severity="warn")
    expected = [(faulty, rule, f"camera={camera}") for camera in cameras]
    assert [(f["episode_index"], f["rule"], f["where"]) for f in found] == expected
