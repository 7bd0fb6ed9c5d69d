from __future__ import annotations

from pathlib import Path

import av
import numpy as np
import pytest
from av.video.reformatter import Colorspace, VideoReformatter

from robot_data_platform.core.recording import Picture
from robot_data_platform.errors import DataFaultError
from robot_data_platform.video.colour import UNTAGGED, to_yuv420p
from robot_data_platform.video.cut import CutStream, cut_stream
from robot_data_platform.video.planes import plane_view
from robot_data_platform.video.settings import GopProfile, GopSettings
from robot_data_platform_tests.video.videos import (
    decode_all,
    picture_stream,
    rgb_of,
    segment_stream,
    write_video,
)

COLOURS = [(255, 255, 255), (0, 0, 0), (200, 30, 30), (30, 180, 40), (40, 50, 210), (220, 200, 20)]


def ramp(number: int) -> Picture:
    """Sixteen steps of grey, each eight pixels wide."""
    return np.tile(np.arange(0, 256, 17).repeat(8)[None, :, None], (48, 1, 3)).astype(np.uint8)


def bars(number: int) -> Picture:
    return np.tile(np.array(COLOURS, np.uint8).repeat(24, 0)[None], (48, 1, 1))


def shown(stream: CutStream) -> Picture:
    """Return the first picture; reading every GOP makes the report."""
    return next(iter(list(decode_all(stream.gops(), stream.format))))


def settings(profile: GopProfile = "anchored") -> GopSettings:
    return GopSettings(profile=profile, crf=8)


def centres(picture: Picture, width: int) -> np.ndarray:
    return picture[24, width // 2 :: width].astype(int)


def decoded_tags(stream: CutStream) -> tuple[int, int, int, int]:
    """Return range, matrix, primaries and transfer that the bytes themselves carry."""
    gop = next(stream.gops())
    context = av.CodecContext.create("h264", "r")
    frames = [*context.decode(av.Packet(gop.data)), *context.decode(None)]
    frame = frames[0]
    return (
        int(frame.color_range), int(frame.colorspace), int(frame.color_primaries),
        int(frame.color_trc),
    )  # fmt: skip


CASES: dict[str, dict[str, object]] = {
    "untagged": {},
    "limited_bt601": {"color_range": 1, "color_space": 6},
    "limited_bt709": {"color_range": 1, "color_space": 1, "matrix": Colorspace.ITU709},
    "full_bt709": {"color_range": 2, "color_space": 1, "matrix": Colorspace.ITU709},
    "full_by_name": {"pix_fmt": "yuvj420p", "color_range": 2},
    "full_444": {"pix_fmt": "yuvj444p", "color_range": 2},
    "444": {"pix_fmt": "yuv444p"},
    "422": {"pix_fmt": "yuv422p"},
    "ten_bits": {"pix_fmt": "yuv420p10le", "color_range": 1, "color_space": 1,
                 "matrix": Colorspace.ITU709},
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("profile", ["anchored", "copy"])
def test_a_grey_ramp_and_colours_survive(tmp_path: Path, case: str, profile: GopProfile) -> None:
    options = {"g": "1", "crf": "8"}
    for draw, width in ((ramp, 8), (bars, 24)):
        size = draw(0).shape[:2]
        path = write_video(
            tmp_path / f"{draw.__name__}.mp4", 3, options=options, size=size, picture=draw,
            **CASES[case],  # type: ignore[arg-type]
        )  # fmt: skip
        picture = shown(cut_stream(segment_stream(path, 0, 3), settings(profile)))
        difference = centres(picture, width) - centres(draw(0), width)
        assert np.abs(difference).max() <= (3 if draw is ramp else 6)


@pytest.mark.parametrize("case", [case for case in CASES if case != "untagged"])
def test_tags_are_written_again(tmp_path: Path, case: str) -> None:
    path = write_video(tmp_path / "a.mp4", 3, **CASES[case])  # type: ignore[arg-type]
    stream = cut_stream(segment_stream(path, 0, 3), settings())
    expected = (CASES[case].get("color_range", 0), CASES[case].get("color_space", 2))
    assert decoded_tags(stream)[:2] == expected
    assert (stream.format.color_range, stream.format.color_space) == expected


def test_a_stream_without_tags_stays_without(tmp_path: Path) -> None:
    path = write_video(tmp_path / "a.mp4", 3)
    stream = cut_stream(segment_stream(path, 0, 3), settings())
    assert decoded_tags(stream) == (0, 2, 2, 2)


def test_pictures_become_tagged_bt601_and_any_reader_gets_them_right() -> None:
    stream = cut_stream(picture_stream([ramp(0)] * 3), settings())
    assert (stream.format.color_range, stream.format.color_space) == (1, 6)
    gop = next(stream.gops())
    context = av.CodecContext.create("h264", "r")
    frame = [*context.decode(av.Packet(gop.data)), *context.decode(None)][0]
    assert (int(frame.color_range), int(frame.colorspace)) == (1, 6)
    assert np.abs(centres(rgb_of(frame), 8) - centres(ramp(0), 8)).max() <= 3


def test_colours_of_pictures_keep_their_channels() -> None:
    stream = cut_stream(picture_stream([bars(0)] * 3), settings())
    difference = centres(shown(stream), 24) - np.array(COLOURS)
    assert np.abs(difference).max() <= 6


def test_full_and_limited_range_are_not_mixed_up(tmp_path: Path) -> None:
    path = write_video(
        tmp_path / "a.mp4", 3, pix_fmt="yuvj420p", color_range=2, picture=ramp, size=(48, 128)
    )
    stream = cut_stream(segment_stream(path, 0, 3), settings())
    assert (stream.format.pix_fmt, stream.format.color_range) == ("yuv420p", 2)
    darkest, *_, brightest = centres(shown(stream), 8)
    assert darkest.max() <= 3
    assert brightest.min() >= 252


@pytest.mark.parametrize(
    ("codec", "pix_fmt"), [("ffv1", "gray"), ("ffv1", "bgr0"), ("png", "rgb24"), ("png", "gray")]
)
def test_rgb_and_grey_video_becomes_bt601(tmp_path: Path, codec: str, pix_fmt: str) -> None:
    suffix = {"ffv1": "mkv", "png": "mov"}[codec]
    path = write_video(
        tmp_path / f"a.{suffix}",
        3,
        codec,
        pix_fmt=pix_fmt,
        picture=ramp,
        size=(48, 128),
        color_range=2,
    )
    stream = cut_stream(segment_stream(path, 0, 3), settings())
    assert (stream.format.color_range, stream.format.color_space) == (1, 6)
    assert np.abs(centres(shown(stream), 8) - centres(ramp(0), 8)).max() <= 3


def chroma_ramp(number: int) -> Picture:
    """Red that grows by five levels from column to column, and blue that shrinks."""
    red = np.tile(np.arange(0, 240, 5), (48, 1))
    return np.stack([red, np.full_like(red, 100), red[:, ::-1]], axis=-1).astype(np.uint8)


def test_full_chroma_is_averaged_over_the_pixels_that_it_will_cover(tmp_path: Path) -> None:
    path = write_video(
        tmp_path / "a.mp4", 1, options={"qp": "0"}, pix_fmt="yuv444p", size=(48, 48),
        picture=chroma_ramp,
    )  # fmt: skip
    with av.open(str(path)) as container:
        frame = next(container.decode(video=0))
    full = frame.to_ndarray().reshape(3, 24, 2, 24, 2).astype(float)
    coded = to_yuv420p(frame, UNTAGGED, UNTAGGED, VideoReformatter())
    for index in (1, 2):
        expected = full[index].mean(axis=(1, 3))
        difference = plane_view(coded, index) - expected
        assert np.abs(difference[2:-2, 2:-2]).max() <= 1


def test_a_matrix_that_is_not_known_is_refused(tmp_path: Path) -> None:
    path = write_video(tmp_path / "a.mp4", 3, color_space=8)
    with pytest.raises(DataFaultError, match="matrix 8"):
        cut_stream(segment_stream(path, 0, 3), GopSettings())


@pytest.mark.parametrize(("height", "width"), [(49, 65), (48, 65), (49, 64)])
def test_odd_pictures_are_padded_and_cropped_again(height: int, width: int) -> None:
    stream = cut_stream(picture_stream(5, (height, width)), settings())
    fmt = stream.format
    assert (fmt.height_px, fmt.width_px) == (height, width)
    assert (fmt.coded_height_px, fmt.coded_width_px) == (height + height % 2, width + width % 2)
    assert shown(stream).shape == (height, width, 3)
    assert stream.report.psnr_db is not None
    assert stream.report.psnr_db > 35


def test_padding_repeats_the_last_column_and_row() -> None:
    picture = np.full((25, 33, 3), 60, np.uint8)
    picture[:, -1] = 200
    picture[-1] = 120
    stream = cut_stream(picture_stream([picture]), settings())
    gop = next(stream.gops())
    context = av.CodecContext.create("h264", "r")
    coded = [*context.decode(av.Packet(gop.data)), *context.decode(None)][0].to_ndarray()[:26]
    coded = coded.astype(int)
    assert np.abs(coded[:24, 33] - coded[:24, 32]).max() <= 4
    assert np.abs(coded[25] - coded[24]).max() <= 4


def test_odd_video_with_full_chroma_is_padded_too(tmp_path: Path) -> None:
    path = write_video(tmp_path / "a.mkv", 5, "ffv1", pix_fmt="yuv444p", size=(49, 65))
    stream = cut_stream(segment_stream(path, 0, 5), settings())
    assert (stream.format.height_px, stream.format.coded_width_px) == (49, 66)
    assert shown(stream).shape == (49, 65, 3)
