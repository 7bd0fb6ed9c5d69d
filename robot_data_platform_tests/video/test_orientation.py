from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from robot_data_platform.errors import DataFaultError
from robot_data_platform.testing.pictures import numbered_picture
from robot_data_platform.video.cut import cut_stream
from robot_data_platform.video.orientation import Orientation
from robot_data_platform.video.settings import GopSettings
from robot_data_platform_tests.video.videos import (
    decode_all,
    numbers_of,
    psnr_db,
    segment_stream,
    write_video,
)


@pytest.mark.parametrize(("degrees", "quarter_turns"), [(90, 1), (180, 2), (270, 3), (-90, 3)])
def test_pictures_are_turned_for_display(tmp_path: Path, degrees: int, quarter_turns: int) -> None:
    upright = [numbered_picture(number, 48, 64) for number in range(6)]
    # The recorder stored them lying down and says by how much to turn them back.
    stored = [np.rot90(picture, -quarter_turns).copy() for picture in upright]
    height, width, _ = stored[0].shape
    path = write_video(
        tmp_path / "a.mp4", 6, rotation=degrees, size=(height, width), picture=stored.__getitem__
    )
    stream = cut_stream(segment_stream(path, 0, 6), GopSettings(crf=10))
    gops = list(stream.gops())
    assert (stream.format.height_px, stream.format.width_px) == (48, 64)
    assert numbers_of(gops, stream.format) == list(range(6))
    for shown, picture in zip(decode_all(gops, stream.format), upright, strict=True):
        assert psnr_db(shown, picture) > 30
    assert stream.report.psnr_db is not None
    assert stream.report.psnr_db > 35


def test_mirrored_pictures_are_mirrored_back(tmp_path: Path) -> None:
    stored = [numbered_picture(number, 48, 64)[:, ::-1].copy() for number in range(6)]
    path = write_video(
        tmp_path / "a.mp4", 6, rotation=0, is_mirrored=True, picture=stored.__getitem__
    )
    stream = cut_stream(segment_stream(path, 0, 6), GopSettings())
    assert numbers_of(stream.gops(), stream.format) == list(range(6))


def test_another_angle_is_refused(tmp_path: Path) -> None:
    path = write_video(tmp_path / "a.mp4", 3, rotation=30)
    with pytest.raises(DataFaultError, match="no quarter turn"):
        cut_stream(segment_stream(path, 0, 3), GopSettings())


def test_odd_pictures_are_turned_too(tmp_path: Path) -> None:
    stored = [np.rot90(numbered_picture(n, 49, 65), -1).copy() for n in range(3)]
    path = write_video(
        tmp_path / "a.mkv", 3, "ffv1", pix_fmt="yuv444p", size=(65, 49), picture=stored.__getitem__
    )
    upright = cut_stream(segment_stream(path, 0, 3), GopSettings()).format
    assert (upright.height_px, upright.width_px) == (65, 49)


def test_an_orientation_transposes_before_it_mirrors() -> None:
    plane = np.arange(6, dtype=np.uint8).reshape(2, 3)
    turned = Orientation(is_transposed=True, is_flipped_vertically=True).apply(plane)
    assert np.array_equal(turned, np.rot90(plane))
