"""LeRobot datasets with known faults, from the files to what a reader gives."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from robot_data_platform.core.finding import STATUS_FLAGGED, STATUS_OK, STATUS_QUARANTINED
from robot_data_platform_tests.formats.coded_video import write_video
from robot_data_platform_tests.formats.ingested import Ingested, ingest_folder
from robot_data_platform_tests.formats.lerobot_files import (
    FPS,
    TOP,
    V2_VIDEO,
    Take,
    V3Plan,
    edit_info,
    features,
    video_file,
    write_v2,
    write_v3,
)
from robot_data_platform_tests.formats.lerobot_lance_files import write_lance
from robot_data_platform_tests.formats.lerobot_v1_files import write_v1

SCENE_CUT = 0xFFFF
"""Number of the pictures of another take."""


def key(index: int) -> str:
    return f"episode_{index:06d}"


@pytest.fixture(scope="module")
def lengths(tmp_path_factory: pytest.TempPathFactory) -> Ingested:
    """Videos of 60 + 25, 60 and 58 frames for 60 rows each."""
    folder = tmp_path_factory.mktemp("lengths")
    takes = [Take(index=i, num_rows=60) for i in range(3)]
    root = write_v2(folder / "set", takes)
    codes = ([*takes[0].codes, *[SCENE_CUT] * 25], takes[1].codes, takes[2].codes[:58])
    for index, shown in enumerate(codes):
        path = V2_VIDEO.format(episode_chunk=0, episode_index=index, video_key=TOP)
        write_video(root / path, shown, FPS)
    return ingest_folder(root, folder)


def test_a_video_longer_than_its_rows_is_flagged_with_the_count(lengths: Ingested) -> None:
    (finding,) = lengths.findings("video_frames_are_referenced")
    assert (finding["value"], finding["severity"], finding["unit"]) == (25, "warn", "frames")
    assert finding["episode_index"] == lengths.shown[key(0)].episode_index
    assert lengths.shown[key(0)].status == STATUS_FLAGGED


def test_frames_that_no_row_refers_to_are_left_out(lengths: Ingested) -> None:
    assert lengths.codes(key(0), "top") == list(range(60))


def test_a_video_of_as_many_frames_as_rows_is_no_finding(lengths: Ingested) -> None:
    assert lengths.shown[key(1)].status == STATUS_OK
    assert lengths.codes(key(1), "top") == list(range(100, 160))


def test_a_video_shorter_than_its_rows_is_refused_with_both_numbers(lengths: Ingested) -> None:
    shown = lengths.shown[key(2)]
    assert shown.status == STATUS_QUARANTINED
    assert "58" in str(shown.status_reason)
    assert "59" in str(shown.status_reason)  # frames 0..59 are wanted


def test_extra_frames_in_a_shared_video_shift_no_episode(tmp_path: Path) -> None:
    takes = [Take(index=i, num_rows=10) for i in range(3)]
    plan = V3Plan(
        takes=takes, data_files=[[0, 1, 2]], video_files={TOP: [[0, 1, 2]]}, extra_frames={1: 25}
    )
    ingested = ingest_folder(write_v3(tmp_path / "set", plan), tmp_path)
    for take in takes:
        assert ingested.codes(key(take.index), "top") == take.codes
    (finding,) = ingested.findings("video_frames_are_referenced")
    assert (finding["value"], finding["episode_index"]) == (
        25,
        ingested.shown[key(1)].episode_index,
    )


def test_one_camera_in_three_codecs_shows_every_episode_its_own_frames(tmp_path: Path) -> None:
    takes = [Take(index=i, num_rows=9) for i in range(3)]
    plan = V3Plan(takes=takes, data_files=[[0, 1, 2]], video_files={TOP: [[0], [1], [2]]})
    root = write_v3(tmp_path / "set", plan)
    for take, codec in zip(takes, ("libx264", "libsvtav1", "mpeg4"), strict=True):
        write_video(root / video_file(TOP, take.index), take.codes, FPS, codec)
    ingested = ingest_folder(root, tmp_path)
    for take in takes:
        assert ingested.codes(key(take.index), "top") == take.codes
    gops = ingested.place.lake.open("robot", "gops").read(["codec", "profile"])
    assert set(gops["codec"].to_pylist()) == {"h264"}


def test_a_video_that_is_text_is_refused_by_name_and_the_others_are_read(tmp_path: Path) -> None:
    takes = [Take(index=i, num_rows=9) for i in range(3)]
    root = write_v2(tmp_path / "set", takes)
    path = V2_VIDEO.format(episode_chunk=0, episode_index=1, video_key=TOP)
    (root / path).write_text("no video at all\n" * 20)
    ingested = ingest_folder(root, tmp_path)
    assert [ingested.shown[key(i)].status for i in range(3)] == [
        STATUS_OK,
        STATUS_QUARANTINED,
        STATUS_OK,
    ]
    assert "episode_000001.mp4" in str(ingested.shown[key(1)].status_reason)
    assert ingested.codes(key(2), "top") == takes[2].codes


def test_a_declared_codec_that_is_not_the_real_one_changes_nothing(tmp_path: Path) -> None:
    take = Take(index=0, num_rows=9)
    root = write_v3(
        tmp_path / "set", V3Plan(takes=[take], data_files=[[0]], video_files={"image": [[0]]})
    )
    write_video(root / video_file("image", 0), take.codes, FPS, "mpeg4")
    edit_info(root, features=features(("image",)))
    assert ingest_folder(root, tmp_path).codes(key(0), "image") == take.codes


@pytest.mark.parametrize("layout", ["v1", "lance"])
def test_other_layouts_reach_a_reader_with_their_own_values_and_frames(
    tmp_path: Path, layout: str
) -> None:
    takes = [Take(index=i, num_rows=7 + i) for i in range(3)]
    plan = V3Plan(takes=takes, data_files=[[0, 1, 2]], video_files={TOP: [[0, 1], [2]]})
    root = tmp_path / "set"
    written = write_v1(root, takes) if layout == "v1" else write_lance(root, plan)
    ingested = ingest_folder(written, tmp_path)
    for take in takes:
        np.testing.assert_array_equal(ingested.values(key(take.index)), take.state)
        assert ingested.codes(key(take.index), "top") == take.codes
        assert ingested.shown[key(take.index)].status == STATUS_OK
    sources = ingested.place.lake.open("robot", "episodes").read(["source_paths", "source_sha256"])
    for paths, hashes in zip(*(c.to_pylist() for c in sources.columns), strict=True):
        assert len(paths) == len(hashes) > 3
        assert None not in hashes
