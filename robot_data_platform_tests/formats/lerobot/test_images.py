"""Pictures inside the data files of a LeRobot dataset."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from robot_data_platform.core.finding import Severity
from robot_data_platform.errors import DataFaultError
from robot_data_platform_tests.depth_maps import depth_map, depth_maps, write_depth_video
from robot_data_platform_tests.formats.lerobot_files import (
    TOP,
    V2_DATA,
    V2_VIDEO,
    Take,
    edit_info,
    edit_parquet,
    features,
    write_v2,
)
from robot_data_platform_tests.formats.png import depth_picture, png
from robot_data_platform_tests.formats.reading import (
    by_rule,
    camera,
    read_episode,
    shown_codes,
    shown_depth,
)

TAKES = (Take(index=29, num_rows=5), Take(index=30, num_rows=7, task=1))


def data_path(root: Path, index: int) -> Path:
    return root / V2_DATA.format(episode_chunk=0, episode_index=index)


def image_set(root: Path, pictures: list[bytes], *, is_struct: bool = True) -> Path:
    take = Take(index=0, num_rows=len(pictures))
    write_v2(root, (take,), cameras=())
    edit_info(root, features=features((TOP,), dtype="image"))
    column = [{"bytes": data, "path": None} for data in pictures] if is_struct else pictures
    edit_parquet(data_path(root, 0), **{TOP: column})
    return root


@pytest.mark.parametrize("is_struct", [True, False], ids=["struct", "plain bytes"])
def test_pictures_inside_the_table_are_read_one_by_one(tmp_path: Path, is_struct: bool) -> None:
    root = image_set(tmp_path, [png(code) for code in (5, 6, 7)], is_struct=is_struct)
    stream = camera(read_episode(root, "episode_000000"), "top")
    assert (stream.pictures.num_frames, shown_codes(stream)) == (3, [5, 6, 7])


def test_an_empty_picture_among_others_is_refused_with_its_row(tmp_path: Path) -> None:
    root = image_set(tmp_path, [png(0), b"", png(2)])
    stream = camera(read_episode(root, "episode_000000"), "top")
    with pytest.raises(DataFaultError, match=r"row 1 of episode 0 is no readable picture: got 0"):
        shown_codes(stream)


def depth_set(root: Path, pictures: list[bytes], **info: object) -> Path:
    image_set(root, pictures)
    depth = {"dtype": "image", "shape": [48, 64, 1], "info": info}
    edit_info(root, features={**features(()), TOP: depth})
    return root


@pytest.mark.parametrize(
    ("info", "unit_m"),
    [
        ({}, None),
        ({"is_depth_map": True, "depth_unit": "mm"}, 0.001),
        ({"video.is_depth_map": True, "depth_unit": "feet"}, None),
    ],
    ids=["not declared", "in mm", "in feet"],
)
@pytest.mark.parametrize("kind", ["PNG", "TIFF"])
def test_depth_maps_inside_the_table_are_read_bit_for_bit(
    tmp_path: Path, kind: str, info: dict[str, object], unit_m: float | None
) -> None:
    root = depth_set(tmp_path, [depth_picture(depth, kind) for depth in depth_maps(4)], **info)
    recording = read_episode(root, "episode_000000")
    stream = camera(recording, "top")
    np.testing.assert_array_equal(shown_depth(stream), depth_maps(4))
    assert stream.depth_unit_m == unit_m
    assert recording.findings == ()


@pytest.mark.parametrize(
    "data", [png(3), depth_picture(depth_map(1).astype("f4"), "TIFF")], ids=["8 bits", "metres"]
)
def test_what_is_declared_depth_and_is_none_is_left_out_and_told(
    tmp_path: Path, data: bytes
) -> None:
    root = depth_set(tmp_path, [data, data], is_depth_map=True)
    recording = read_episode(root, "episode_000000")
    assert recording.cameras == ()
    finding = by_rule(recording.findings)["cameras_are_read"]
    assert finding.where == f"camera={TOP}"
    assert "got other pictures" in finding.message


def test_pictures_of_one_channel_that_are_no_depth_stay_pictures(tmp_path: Path) -> None:
    root = depth_set(tmp_path, [png(3), png(4)])
    assert shown_codes(camera(read_episode(root, "episode_000000"), "top")) == [3, 4]


X265 = {"x265-params": "lossless=1:keyint=2:min-keyint=2:scenecut=0:open-gop=0:log-level=none"}
CODED = {
    "is_depth_map": True,
    "depth_unit": "m",
    "video.depth_min": 0.01,
    "video.depth_max": 10.0,
    "video.shift": 3.5,
    "video.use_log": True,
}


def depth_video_set(root: Path, info: dict[str, object], *, is_depth: bool = True) -> Path:
    take = Take(index=0, num_rows=6)
    write_v2(root, (take,))
    video = root / V2_VIDEO.format(episode_chunk=0, video_key=TOP, episode_index=0)
    if is_depth:
        codes = [np.minimum(depth, 4095) for depth in depth_maps(6)]
        write_depth_video(video, codes, "libx265", "gray12le", X265)
    depth = {"dtype": "video", "shape": [48, 64, 1], "info": info}
    edit_info(root, features={**features(()), TOP: depth})
    return root


def test_a_depth_video_keeps_its_codes_and_says_how_they_are_meant(tmp_path: Path) -> None:
    recording = read_episode(depth_video_set(tmp_path, CODED), "episode_000000")
    stream = camera(recording, "top")
    codes = [np.minimum(depth, 4095) for depth in depth_maps(6)]
    np.testing.assert_array_equal(shown_depth(stream), codes)
    assert stream.depth_unit_m is None
    finding = by_rule(recording.findings)["depth_is_coded"]
    assert (finding.severity, finding.where) == (Severity.INFO, f"camera={TOP}")
    for number in ("0 to 4095", "0.01 m to 10.0 m", "logarithmic", "3.5 m"):
        assert number in finding.message


def test_a_linear_scale_of_codes_is_told_apart(tmp_path: Path) -> None:
    root = depth_video_set(tmp_path, {**CODED, "video.use_log": False})
    finding = by_rule(read_episode(root, "episode_000000").findings)["depth_is_coded"]
    assert "on a linear scale" in finding.message


@pytest.mark.parametrize("info", [{}, {"video.is_depth_map": True}], ids=["silent", "declared"])
def test_a_depth_video_of_which_nothing_else_is_declared_is_read(
    tmp_path: Path, info: dict[str, object]
) -> None:
    recording = read_episode(depth_video_set(tmp_path, info), "episode_000000")
    assert len(shown_depth(camera(recording, "top"))) == 6
    assert recording.findings == ()


def test_a_video_that_is_declared_depth_and_is_none_is_left_out_and_told(tmp_path: Path) -> None:
    root = depth_video_set(tmp_path, {"is_depth_map": True}, is_depth=False)
    recording = read_episode(root, "episode_000000")
    assert recording.cameras == ()
    finding = by_rule(recording.findings)["cameras_are_read"]
    assert "got a video of yuv420p, expected grey of 9 to 16 bits" in finding.message
