"""``inspect`` measures what is there and holds it against what is declared."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from robot_data_platform.core.finding import Severity
from robot_data_platform.formats.inspect import inspect_source
from robot_data_platform.formats.profile import Profile, load_profile
from robot_data_platform.storage.source import LocalSource
from robot_data_platform_tests.depth_maps import depth_maps
from robot_data_platform_tests.formats import hdf5_files, rawlog_files
from robot_data_platform_tests.formats.coded_video import write_video
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
from robot_data_platform_tests.formats.reading import by_rule

TAKE = Take(index=0, num_rows=100)
VIDEO = V2_VIDEO.format(episode_chunk=0, episode_index=0, video_key=TOP)


def test_streams_are_measured(tmp_path: Path) -> None:
    report = inspect_source(LocalSource(rawlog_files.write_episode(tmp_path)))
    (episode,) = report.episodes
    assert (report.format, episode.num_rows, episode.seconds) == ("rawlog", 30, 0.29)
    state = {s.name: s for s in episode.signals}["observation_state"]
    assert (state.width, state.names) == (2, ("left", "right"))
    assert (state.clock.rate_hz, state.clock.jitter_ms) == (100.0, 0.0)
    (camera,) = episode.cameras
    assert (camera.codec, camera.width_px, camera.height_px) == ("h264", 64, 48)
    assert (camera.num_frames_in_file, camera.header_fps) == (9, 30.0)
    assert camera.clock.rate_hz == pytest.approx(30.0, abs=1e-5)


def test_jitter_is_the_largest_deviation_from_the_median_step(tmp_path: Path) -> None:
    root = rawlog_files.write_episode(tmp_path)
    clock = rawlog_files.times()
    clock[20:] += 3_000_000
    rawlog_files.write_signal(rawlog_files.folder_of(root), "action", clock)
    (episode,) = inspect_source(LocalSource(root)).episodes
    assert {s.name: s for s in episode.signals}["action"].clock.jitter_ms == 3.0


def test_a_report_is_json(tmp_path: Path) -> None:
    root = write_v2(tmp_path, (TAKE, Take(index=1, num_rows=0)))
    report = dataclasses.asdict(inspect_source(LocalSource(root)))
    assert json.loads(json.dumps(report))["episodes"][1]["refused_kind"] == "no-rows"


def test_a_consistent_source_has_nothing_to_tell(tmp_path: Path) -> None:
    report = inspect_source(LocalSource(write_v2(tmp_path, (TAKE,))))
    assert (report.findings, report.refused) == ((), ())


def test_a_codec_size_and_rate_that_are_not_the_declared_ones_are_told(tmp_path: Path) -> None:
    root = write_v2(tmp_path, (Take(index=0, num_rows=9), Take(index=1, num_rows=9)))
    for index in (0, 1):
        path = V2_VIDEO.format(episode_chunk=0, episode_index=index, video_key=TOP)
        write_video(root / path, range(9), 25, codec="mpeg4")
    picture = {
        "dtype": "video",
        "shape": [3, 96, 64],
        "names": None,
        "info": {"video.codec": "h264", "video.fps": 30},
    }
    edit_info(root, features={**features(()), TOP: picture})
    findings = by_rule(inspect_source(LocalSource(root)).findings)
    assert set(findings) == {"codec_as_declared", "size_as_declared", "fps_as_declared"}
    assert "got mpeg4 in 2 episodes" in findings["codec_as_declared"].message
    assert "got 64x48" in findings["size_as_declared"].message
    assert "expected 64x96 pixels" in findings["size_as_declared"].message


def test_an_encoders_name_is_no_contradiction(tmp_path: Path) -> None:
    root = write_v2(tmp_path, (TAKE,))
    picture = {"dtype": "video", "shape": [48, 64, 3], "info": {"video.codec": "libx264"}}
    edit_info(root, features={**features(()), TOP: picture})
    assert inspect_source(LocalSource(root)).findings == ()


def test_a_video_shorter_than_its_rows_refuses_the_episode_with_both_numbers(
    tmp_path: Path,
) -> None:
    root = write_v2(tmp_path, (TAKE, Take(index=1, num_rows=9)))
    write_video(root / VIDEO, range(98), FPS)
    report = inspect_source(LocalSource(root))
    (refused,) = report.refused
    assert (refused.source_key, refused.refused_kind) == ("episode_000000", "video-too-short")
    assert "got 98 frames" in str(refused.refused_reason)
    assert "expected frames 0..99" in str(refused.refused_reason)


def test_a_video_longer_than_its_rows_is_a_warning_with_the_count(tmp_path: Path) -> None:
    root = write_v2(tmp_path, (TAKE,))
    write_video(root / VIDEO, range(130), FPS)
    report = inspect_source(LocalSource(root))
    finding = by_rule(report.findings)["video_frames_are_referenced"]
    assert (finding.value, finding.severity, finding.where) == (30, Severity.WARN, VIDEO)
    assert report.refused == ()


def test_frames_after_the_last_episode_of_a_shared_file_are_counted_once(tmp_path: Path) -> None:
    takes = [Take(index=i, num_rows=10) for i in range(3)]
    plan = V3Plan(
        takes=takes, data_files=[[0, 1, 2]], video_files={TOP: [[0, 1, 2]]}, extra_frames={2: 5}
    )
    report = inspect_source(LocalSource(write_v3(tmp_path, plan)))
    finding = by_rule(report.findings)["video_frames_are_referenced"]
    assert (finding.value, finding.where) == (5, video_file(TOP, 0))
    assert [e.cameras[0].first_frame for e in report.episodes] == [0, 10, 20]


def test_a_broken_video_refuses_its_episode_and_no_other(tmp_path: Path) -> None:
    root = write_v2(tmp_path, (TAKE, Take(index=1, num_rows=9)))
    (root / VIDEO).write_bytes(b"no video at all")
    report = inspect_source(LocalSource(root))
    assert [(e.source_key, e.refused_kind) for e in report.refused] == [
        ("episode_000000", "video-unreadable")
    ]


def test_a_camera_that_some_episodes_lack_is_told(tmp_path: Path) -> None:
    for index, cameras in enumerate((("high", "low"), ("high",), ("high", "low"))):
        path = hdf5_files.write_episode(tmp_path / f"episode_{index}.hdf5")
        for name in cameras:
            hdf5_files.add_raw(path, name, range(hdf5_files.ROWS))
    report = inspect_source(LocalSource(tmp_path), profile=Profile(control_hz=50.0))
    finding = by_rule(report.findings)["cameras_in_every_episode"]
    assert finding.message.startswith("Camera 'low' is missing in 1 of 3 episodes (episode_1.hdf5)")


def test_the_profiles_rate_of_a_camera_is_a_claim_under_its_new_name(tmp_path: Path) -> None:
    root = write_v2(tmp_path, (TAKE,))
    profile = load_profile("cameras: {top: {fps: 60, rename: ceiling}}")
    finding = by_rule(inspect_source(LocalSource(root), profile=profile).findings)[
        "fps_as_declared"
    ]
    assert finding.where == "camera=ceiling"
    assert "expected 60 pictures per second" in finding.message


def test_a_missing_rate_refuses_every_episode_with_what_to_do(tmp_path: Path) -> None:
    hdf5_files.write_episode(tmp_path / "episode_0.hdf5")
    (refused,) = inspect_source(LocalSource(tmp_path)).refused
    assert (refused.refused_kind, "control_hz" in str(refused.refused_reason)) == (
        "invalid-profile",
        True,
    )


def test_depth_is_told_from_colour(tmp_path: Path) -> None:
    folder = rawlog_files.folder_of(rawlog_files.write_episode(tmp_path)) / "cameras"
    clock = rawlog_files.times(3).tolist()
    rawlog_files.write_depth(folder / "tof", dict(zip(clock, depth_maps(3), strict=True)))
    rawlog_files.write_pictures(folder / "wrist", dict.fromkeys(clock, 7))
    (episode,) = inspect_source(LocalSource(tmp_path)).episodes
    assert {c.name: c.is_depth for c in episode.cameras} == {
        "env": False,
        "tof": True,
        "wrist": False,
    }
