"""Cameras of a rawlog as picture files that are named by their time."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from robot_data_platform.core.finding import Severity
from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform.formats.profile import Profile, load_profile
from robot_data_platform_tests.depth_maps import depth_map, depth_maps
from robot_data_platform_tests.formats.coded_video import coded_picture
from robot_data_platform_tests.formats.hdf5_files import jpeg
from robot_data_platform_tests.formats.png import deep_rgb_png
from robot_data_platform_tests.formats.rawlog_files import (
    START_NS,
    folder_of,
    times,
    write_depth,
    write_episode,
    write_pictures,
)
from robot_data_platform_tests.formats.reading import (
    by_rule,
    camera,
    list_folder,
    read_episode,
    refusal,
    shown_codes,
    shown_depth,
)

KEY = "ep_0"
CODES = {START_NS + k * 33_333_333: k + 1 for k in range(9)}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """An episode with a video, and with pictures of a second camera."""
    write_episode(tmp_path)
    write_pictures(folder_of(tmp_path) / "cameras" / "wrist", CODES)
    return tmp_path


def test_pictures_have_the_times_of_their_names(root: Path) -> None:
    recording = read_episode(root, KEY)
    assert list_folder(root).findings == ()
    assert recording.findings == ()
    stream = camera(recording, "wrist")
    assert stream.timestamp_ns.tolist() == list(CODES)
    assert shown_codes(stream) == list(CODES.values())
    assert shown_codes(stream) == list(CODES.values())
    assert f"{root}" not in " ".join(recording.ref.files)
    assert sum(path.endswith(".jpg") for path in recording.ref.files) == len(CODES)


def test_names_sort_by_time_and_not_by_letters(tmp_path: Path) -> None:
    write_episode(tmp_path)
    write_pictures(folder_of(tmp_path) / "cameras" / "wrist", {9: 1, 10: 2, -1: 3})
    stream = camera(read_episode(tmp_path, KEY), "wrist")
    assert stream.timestamp_ns.tolist() == [-1, 9, 10]
    assert shown_codes(stream) == [3, 1, 2]


def test_png_and_jpeg_are_read_alike(tmp_path: Path) -> None:
    folder = folder_of(write_episode(tmp_path)) / "cameras" / "wrist"
    write_pictures(folder, {10: 1})
    Image.fromarray(coded_picture(2)).save(folder / "20.png")
    (folder / "30.jpeg").write_bytes(jpeg(3))
    assert shown_codes(camera(read_episode(tmp_path, KEY), "wrist")) == [1, 2, 3]


def test_an_empty_picture_is_left_out_and_counted(root: Path) -> None:
    gone = list(CODES)[4]
    (folder_of(root) / f"cameras/wrist/{gone}.jpg").write_bytes(b"")
    recording = read_episode(root, KEY)
    stream = camera(recording, "wrist")
    assert gone not in stream.timestamp_ns.tolist()
    assert shown_codes(stream) == [1, 2, 3, 4, 6, 7, 8, 9]
    finding = by_rule(recording.findings)["pictures_are_whole"]
    assert (finding.value, finding.where) == (1, "camera=wrist")
    assert finding.severity is Severity.WARN


def test_a_camera_of_empty_pictures_alone_is_absent(root: Path) -> None:
    for path in (folder_of(root) / "cameras/wrist").iterdir():
        path.write_bytes(b"")
    recording = read_episode(root, KEY)
    assert [c.name for c in recording.cameras] == ["env"]
    assert by_rule(recording.findings)["camera_is_recorded"].where == "camera=wrist"
    assert by_rule(recording.findings)["pictures_are_whole"].value == len(CODES)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (jpeg(1)[:300], "is no readable picture"),
        (b"version https://git-lfs.github.com/spec/v1\nsize 7\n", "LFS pointer in place of 7"),
    ],
)
def test_a_broken_picture_is_refused_by_name_when_it_is_read(
    root: Path, content: bytes, reason: str
) -> None:
    (folder_of(root) / f"cameras/wrist/{list(CODES)[4]}.jpg").write_bytes(content)
    stream = camera(read_episode(root, KEY), "wrist")
    with pytest.raises(DataFaultError, match=reason) as caught:
        shown_codes(stream)
    assert str(list(CODES)[4]) in str(caught.value)


def test_depth_of_16_bits_is_read_bit_for_bit(tmp_path: Path) -> None:
    folder = folder_of(write_episode(tmp_path)) / "cameras" / "depth"
    write_depth(folder, dict(zip(times(3).tolist(), depth_maps(3), strict=True)))
    stream = camera(read_episode(tmp_path, KEY), "depth")
    np.testing.assert_array_equal(shown_depth(stream), depth_maps(3))
    assert stream.depth_unit_m is None


def test_the_profile_says_how_long_a_unit_of_depth_is(tmp_path: Path) -> None:
    folder = folder_of(write_episode(tmp_path)) / "cameras" / "depth"
    write_depth(folder, {times(1)[0]: depth_map(0)})
    profile = load_profile("cameras: {depth: {depth_unit_m: 0.001}, env: {}}")
    recording = read_episode(tmp_path, KEY, profile)
    assert camera(recording, "depth").depth_unit_m == 0.001
    assert camera(recording, "env").depth_unit_m is None


def test_a_camera_that_turns_from_depth_to_colour_is_refused_when_it_is_read(root: Path) -> None:
    folder = folder_of(root) / "cameras" / "depth"
    write_depth(folder, {START_NS: depth_map(0)})
    (folder / f"{START_NS + 1}.png").write_bytes(jpeg(1))
    stream = camera(read_episode(root, KEY), "depth")
    with pytest.raises(DataFaultError, match=f"{START_NS + 1}.png.* is no readable depth map"):
        shown_depth(stream)


def test_colour_of_16_bits_is_left_out_and_told(tmp_path: Path) -> None:
    folder = folder_of(write_episode(tmp_path)) / "cameras" / "deep"
    folder.mkdir()
    (folder / f"{START_NS}.png").write_bytes(deep_rgb_png())
    recording = read_episode(tmp_path, KEY)
    assert [c.name for c in recording.cameras] == ["env"]
    assert by_rule(recording.findings)["cameras_are_read"].where == "camera=deep"


def test_a_blank_camera_is_kept_and_told(tmp_path: Path) -> None:
    folder = folder_of(write_episode(tmp_path)) / "cameras" / "wrist"
    write_pictures(folder, dict.fromkeys(times(3).tolist(), 0))
    recording = read_episode(tmp_path, KEY)
    assert shown_codes(camera(recording, "wrist")) == [0, 0, 0]
    assert by_rule(recording.findings)["camera_shows_something"].value == 3


def test_a_camera_that_other_episodes_have_is_null_here(tmp_path: Path) -> None:
    for number, cameras in enumerate(({"high", "low"}, {"high"}, {"low"})):
        write_episode(tmp_path, f"ep_{number}", number)
        for name in cameras:
            folder = folder_of(tmp_path, f"ep_{number}") / "cameras" / name
            write_pictures(folder, dict(zip(times(3).tolist(), (5, 6, 7), strict=True)))
    names = [{c.name for c in read_episode(tmp_path, f"ep_{k}").cameras} for k in range(3)]
    assert names == [{"env", "high", "low"}, {"env", "high"}, {"env", "low"}]


def test_two_pictures_of_one_time_are_refused(root: Path) -> None:
    time = next(iter(CODES))
    (folder_of(root) / f"cameras/wrist/{time}.png").write_bytes(jpeg(1))
    assert refusal(root, KEY).kind is ErrorKind.TIME_NOT_INCREASING


def test_a_time_beyond_int64_is_refused(root: Path) -> None:
    (folder_of(root) / f"cameras/wrist/{1 << 63}.jpg").write_bytes(jpeg(1))
    error = refusal(root, KEY)
    assert (error.kind, str(1 << 63) in str(error)) == (ErrorKind.UNREADABLE_FILE, True)


def test_a_video_and_pictures_of_one_camera_are_refused(root: Path) -> None:
    write_pictures(folder_of(root) / "cameras" / "env", {1: 1})
    error = refusal(root, KEY)
    assert (error.kind, "'env'" in str(error)) == (ErrorKind.METADATA_CONTRADICTION, True)


def test_pictures_without_a_time_in_their_name_are_told(root: Path) -> None:
    (folder_of(root) / "cameras/wrist/thumb.jpg").write_bytes(jpeg(1))
    assert "thumb.jpg" in by_rule(list_folder(root).findings)["files_are_read"].message
    assert read_episode(root, KEY).findings == ()


def test_pictures_of_a_bgr_camera_are_turned(tmp_path: Path) -> None:
    folder = folder_of(write_episode(tmp_path)) / "cameras" / "wrist"
    folder.mkdir()
    for time in (1, 2):
        Image.new("RGB", (64, 48), (255, 0, time)).save(folder / f"{time}.png")
    profile = Profile(picture_channel_order="bgr")
    pictures = camera(read_episode(tmp_path, KEY, profile), "wrist").pictures
    first = next(iter(pictures.read()))  # type: ignore[union-attr]
    assert first[0, 0].tolist() == [1, 0, 255]


def test_a_picture_larger_than_any_is_refused_unread(root: Path) -> None:
    folder = folder_of(root) / "cameras" / "wrist"
    os.truncate(folder / f"{list(CODES)[4]}.jpg", 3 << 30)
    with pytest.raises(DataFaultError, match="got 3221225472 bytes, expected at most"):
        shown_codes(camera(read_episode(root, KEY), "wrist"))
