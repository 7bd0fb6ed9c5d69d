from __future__ import annotations

import numpy as np
import pytest

from robot_data_platform.core.rendition import Rendition, parse_rendition
from robot_data_platform.testing.pictures import numbered_picture, read_number
from robot_data_platform.video.cut import cut_stream
from robot_data_platform.video.decode import GopDecoder
from robot_data_platform.video.rendition import fitted, render_gop
from robot_data_platform.video.settings import GopSettings
from robot_data_platform_tests.video.videos import picture_stream

STRIPES = np.repeat(np.arange(8, dtype=np.uint8) * 30, 8)
"""Grey of each column of a picture of eight vertical stripes, eight pixels wide."""


def stripes(height: int) -> np.ndarray:
    return np.broadcast_to(STRIPES[None, :, None], (height, 64, 3)).copy()


def rendition(name: str) -> Rendition:
    return parse_rendition(name)


def test_a_crop_keeps_the_middle_at_its_proportions() -> None:
    shown = fitted(stripes(32), rendition("16x16-crop"))
    # Of 64 columns the 32 in the middle stay: stripes 2 to 5, four pixels each after halving.
    np.testing.assert_allclose(shown[8, :, 0], np.repeat([60, 90, 120, 150], 4), atol=1)


def test_a_letterbox_keeps_everything_between_black_bars() -> None:
    shown = fitted(stripes(32), rendition("32x32-letterbox"))
    # 64x32 becomes 32x16, with eight black rows above and below.
    assert not shown[:8].any()
    assert not shown[24:].any()
    np.testing.assert_allclose(shown[8:24, 2::4, 0], np.tile(np.arange(8) * 30, (16, 1)), atol=1)


@pytest.mark.parametrize("name", ["48x64-crop", "48x64-letterbox"])
def test_a_picture_of_the_target_size_stays_as_it_is(name: str) -> None:
    picture = numbered_picture(7, 48, 64)
    np.testing.assert_array_equal(fitted(picture, rendition(name)), picture)


@pytest.mark.parametrize("name", ["33x47-crop", "61x40-letterbox", "1x300-crop", "300x1-letterbox"])
def test_a_rendition_has_the_size_that_it_says(name: str) -> None:
    wanted = rendition(name)
    assert fitted(stripes(17), wanted).shape == (wanted.height_px, wanted.width_px, 3)


@pytest.mark.parametrize("gop_size", [1, 2, 7, 16])
def test_a_rendered_gop_has_the_same_frames_at_the_same_places(gop_size: int) -> None:
    cut = cut_stream(picture_stream(20), GopSettings(profile="chain", gop_size=gop_size))
    for gop in cut.gops():
        rendered, form = render_gop(gop, cut.format, rendition("36x48-crop"), GopDecoder())
        places = np.arange(gop.num_frames)
        shown = GopDecoder().decode_rgb(rendered.packets, rendered.data, places, form)
        assert [read_number(picture) for picture in shown] == (gop.first_frame + places).tolist()
        assert (rendered.gop_index, rendered.first_frame) == (gop.gop_index, gop.first_frame)
