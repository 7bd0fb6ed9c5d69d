"""Videos that LeRobot v3 episodes share: whose frames are whose, whatever the metadata says."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from robot_data_platform.core.finding import Severity
from robot_data_platform.core.recording import VideoSegment
from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform.formats.inspect import inspect_source
from robot_data_platform.formats.profile import Profile
from robot_data_platform.formats.registry import detect_format
from robot_data_platform.storage.source import LocalSource
from robot_data_platform_tests.formats.coded_video import video_codes, write_video
from robot_data_platform_tests.formats.lerobot.sets_v3 import META, TAKES, assert_right, plan
from robot_data_platform_tests.formats.lerobot_files import (
    FPS,
    TOP,
    Take,
    V3Plan,
    edit_info,
    edit_parquet,
    video_file,
    write_v3,
)
from robot_data_platform_tests.formats.reading import (
    by_rule,
    camera,
    list_folder,
    read_episode,
    refusal,
)

A, B = "observation.images.a", "observation.images.b"


def segment(root: Path, key: str, name: str = "top") -> VideoSegment:
    pictures = camera(read_episode(root, key), name).pictures
    assert isinstance(pictures, VideoSegment)
    return pictures


def test_two_hundred_episodes_whose_starts_are_sums_of_float32_have_their_own_frames(
    tmp_path: Path,
) -> None:
    takes = [Take(index=i, num_rows=7 + i % 11) for i in range(200)]
    root = write_v3(tmp_path, plan([list(range(200))], takes=takes))
    lengths_s = np.array([take.num_rows / FPS for take in takes], dtype=np.float32)
    starts = np.concatenate([[0], np.cumsum(lengths_s, dtype=np.float32)[:-1]])
    edit_parquet(root / META, **{f"videos/{TOP}/from_timestamp": starts})
    shown = video_codes(root / video_file(TOP, 0), 0, sum(take.num_rows for take in takes))
    source, reader = LocalSource(root), detect_format(LocalSource(root))
    refs = reader.list_episodes(source, Profile()).episodes
    for take, ref in zip(takes, refs, strict=True):
        pictures = camera(reader.read(source, ref, Profile()), "top").pictures
        assert isinstance(pictures, VideoSegment)
        assert shown[pictures.first_frame :][: pictures.num_frames] == take.codes


def test_cameras_may_split_their_files_otherwise_than_the_rows_and_each_other(
    tmp_path: Path,
) -> None:
    videos = {A: [[0, 1, 2], [3, 4, 5]], B: [[0, 1], [2, 3], [4, 5]]}
    root = write_v3(tmp_path, plan(video_files=videos))
    for take in TAKES:
        assert_right(root, take, ("a", "b"))


def test_extra_frames_of_one_episode_do_not_shift_the_later_ones(tmp_path: Path) -> None:
    root = write_v3(tmp_path, replace(plan(), extra_frames={1: 25}))
    for take in TAKES:
        assert_right(root, take)
    finding = by_rule(read_episode(root, "episode_000001").findings)["video_frames_are_referenced"]
    assert (finding.value, finding.severity) == (25, Severity.WARN)
    assert read_episode(root, "episode_000002").findings == ()


def test_a_longer_last_episode_in_the_file_shifts_nothing(tmp_path: Path) -> None:
    root = write_v3(tmp_path, plan(takes=TAKES[:2], data_files=((0, 1),)))
    codes = TAKES[0].codes + TAKES[1].codes + [0xFFFF] * 9
    write_video(root / video_file(TOP, 0), codes, FPS)
    assert_right(root, TAKES[1])


def test_starts_that_drift_by_frames_are_taken_from_whole_frame_counts(tmp_path: Path) -> None:
    takes = [Take(index=i, num_rows=7 + i % 11) for i in range(60)]
    root = write_v3(tmp_path, plan([list(range(60))], takes=takes))
    lengths = np.array([take.num_rows for take in takes])
    drifting = np.concatenate([[0], np.cumsum(lengths / FPS + 0.001)[:-1]])  # 1 ms an episode
    edit_parquet(root / META, **{f"videos/{TOP}/from_timestamp": drifting})
    assert segment(root, "episode_000059").first_frame == lengths[:-1].sum()
    assert_right(root, takes[59])
    finding = by_rule(read_episode(root, "episode_000059").findings)
    assert finding["video_start_matches_frame_count"].value == 2  # 59 ms at 30 fps


def test_starts_off_by_a_frame_an_episode_yield_to_rows_that_fill_the_file(tmp_path: Path) -> None:
    root = write_v3(tmp_path, plan())
    lengths = np.array([take.num_rows for take in TAKES])
    late = np.concatenate([[0], np.cumsum(lengths + 1)[:-1]]) / FPS
    edit_parquet(root / META, **{f"videos/{TOP}/from_timestamp": late})
    for take in TAKES:
        assert_right(root, take)
    finding = by_rule(read_episode(root, "episode_000003").findings)
    assert finding["video_start_matches_frame_count"].value == 3


def test_episodes_that_overlap_in_a_video_are_refused(tmp_path: Path) -> None:
    root = write_v3(tmp_path, replace(plan(), extra_frames={5: 4}))
    starts = pq.read_table(root / META)[f"videos/{TOP}/from_timestamp"].to_pylist()
    starts[3] = starts[2]
    edit_parquet(root / META, **{f"videos/{TOP}/from_timestamp": starts})
    error = refusal(root, "episode_000003")
    assert error.kind is ErrorKind.METADATA_CONTRADICTION
    assert "expected no overlap" in str(error)
    assert_right(root, TAKES[5])


def test_ends_that_contradict_the_rows_are_told_and_not_used(tmp_path: Path) -> None:
    takes = [Take(index=i, num_rows=40) for i in range(3)]
    root = write_v3(tmp_path, plan([[0, 1, 2]], takes=takes))
    starts = pq.read_table(root / META)[f"videos/{TOP}/from_timestamp"].to_numpy()
    edit_parquet(root / META, **{f"videos/{TOP}/to_timestamp": starts + 39 / FPS})
    finding = by_rule(list_folder(root).findings)["video_ends_match_rows"]
    assert (finding.value, finding.where) == (3, f"camera={TOP}")
    assert "got -1 frames for episode 0" in finding.message
    for take in takes:
        assert_right(root, take)


def test_a_dataset_that_lies_in_three_ways_is_read_as_it_is_and_told(tmp_path: Path) -> None:
    takes = [Take(index=i, num_rows=40) for i in range(3)]
    root = write_v3(
        tmp_path, V3Plan(takes=takes, data_files=[[0, 1, 2]], video_files={"image": [[0, 1, 2]]})
    )
    codes = [code for take in takes for code in take.codes]
    write_video(root / video_file("image", 0), codes, FPS, codec="mpeg4")
    starts = pq.read_table(root / META)["videos/image/from_timestamp"].to_numpy()
    edit_parquet(root / META, **{"videos/image/to_timestamp": starts + 39 / FPS})
    report = inspect_source(LocalSource(root))
    findings = by_rule(report.findings)
    assert set(findings) == {"codec_as_declared", "video_ends_match_rows"}
    assert "got mpeg4 in 3 episodes" in findings["codec_as_declared"].message
    assert report.refused == ()
    for take in takes:
        assert_right(root, take, ("image",))


def test_a_video_that_is_missing_refuses_its_episodes(tmp_path: Path) -> None:
    root = write_v3(tmp_path, plan(video_files={A: [[0, 1, 2], [3, 4, 5]]}))
    (root / video_file(A, 1)).unlink()
    assert refusal(root, "episode_000004").kind is ErrorKind.MISSING_FILE
    assert_right(root, TAKES[0], ("a",))


def test_a_camera_that_one_episode_lacks_is_told_and_the_rest_is_read(tmp_path: Path) -> None:
    root = write_v3(tmp_path, plan())
    edit_parquet(root / META, **{f"videos/{TOP}/file_index": [0, 0, 0, 0, 0, None]})
    recording = read_episode(root, "episode_000005")
    assert recording.cameras == ()
    assert by_rule(recording.findings)["camera_is_recorded"].where == f"camera={TOP}"
    assert_right(root, TAKES[4])


def test_the_declared_template_finds_the_videos(tmp_path: Path) -> None:
    root = write_v3(tmp_path, plan())
    (root / "videos").rename(root / "clips")
    edit_info(
        root, video_path="clips/{video_key}/chunk-{chunk_index:03d}/file-{file_index:03d}.mp4"
    )
    assert_right(root, TAKES[2])


def test_a_template_that_finds_none_of_the_videos_refuses_the_dataset(tmp_path: Path) -> None:
    root = write_v3(tmp_path, plan())
    (root / "videos").rename(root / "video")
    with pytest.raises(DataFaultError, match=r"leads to no video: got 1 such as video/") as caught:
        list_folder(root)
    assert caught.value.kind is ErrorKind.METADATA_CONTRADICTION


def test_a_dataset_of_which_no_video_was_uploaded_is_read_without_the_camera(
    tmp_path: Path,
) -> None:
    root = write_v3(tmp_path, plan())
    shutil.rmtree(root / "videos")
    assert set(by_rule(list_folder(root).findings)) == {"declared_cameras_have_files"}
    assert read_episode(root, "episode_000000").cameras == ()


@pytest.mark.parametrize("start_s", [float("nan"), 1e300, -1e12, float("inf")])
def test_a_start_that_no_video_reaches_refuses_its_own_episode_only(
    tmp_path: Path, start_s: float
) -> None:
    root = write_v3(tmp_path, plan(takes=TAKES[:2], data_files=((0, 1),)))
    edit_parquet(root / META, **{f"videos/{TOP}/from_timestamp": [0.0, start_s]})
    assert "got no from_timestamp, or one of 1e+09 s or more" in str(
        refusal(root, "episode_000001")
    )
    assert_right(root, TAKES[0])
