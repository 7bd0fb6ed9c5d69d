"""Depth maps keep their values: scaled by choosing pixels, shown in the form that is asked for."""

from __future__ import annotations

import io
from typing import Literal

import av
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from robot_data_platform.core.gop import is_depth_pix_fmt
from robot_data_platform.core.recording import DepthPicture
from robot_data_platform.core.rendition import parse_rendition
from robot_data_platform.video.cut import cut_stream
from robot_data_platform.video.decode import GopDecoder
from robot_data_platform.video.depth import decode_depth, depth_view, nearest
from robot_data_platform.video.output import DepthWriter, PictureForm, frame_writer
from robot_data_platform.video.picture import encode_png, shade_depth
from robot_data_platform.video.rendition import fitted, render_gop
from robot_data_platform.video.settings import GopSettings
from robot_data_platform_tests.depth_maps import depth_map, depth_maps, depth_stream


@pytest.mark.parametrize("pix_fmt", ["gray9le", "gray10be", "gray12le", "gray14le", "gray16le"])
def test_grey_of_nine_to_sixteen_bits_is_depth(pix_fmt: str) -> None:
    assert is_depth_pix_fmt(pix_fmt)


@pytest.mark.parametrize(
    "pix_fmt", ["gray", "grayf16le", "grayf32le", "gray32le", "ya16le", "yuv420p10le"]
)
def test_other_pixel_formats_are_not(pix_fmt: str) -> None:
    assert not is_depth_pix_fmt(pix_fmt)


def test_half_the_size_takes_the_pixel_right_of_and_below_each_centre() -> None:
    depth = np.arange(24, dtype=np.uint16).reshape(4, 6)
    np.testing.assert_array_equal(nearest(depth, (2, 3)), [[7, 9, 11], [19, 21, 23]])


def test_a_third_of_the_size_takes_the_pixel_in_the_middle() -> None:
    depth = np.arange(54, dtype=np.uint16).reshape(6, 9)
    np.testing.assert_array_equal(nearest(depth, (2, 3)), depth[1::3, 1::3])


def test_a_larger_size_repeats_pixels() -> None:
    depth = np.array([[1, 2], [3, 4]], np.uint16)
    np.testing.assert_array_equal(nearest(depth, (4, 4)), depth.repeat(2, 0).repeat(2, 1))


@given(st.integers(1, 40), st.integers(1, 40), st.integers(1, 40), st.integers(1, 40))
def test_each_pixel_is_the_one_whose_area_has_its_centre(
    height: int, width: int, new_height: int, new_width: int
) -> None:
    depth = np.arange(height * width, dtype=np.uint16).reshape(height, width)
    rows = [int((n + 0.5) * height / new_height) for n in range(new_height)]
    columns = [int((n + 0.5) * width / new_width) for n in range(new_width)]
    np.testing.assert_array_equal(nearest(depth, (new_height, new_width)), depth[rows][:, columns])


FORMS = [
    (size, dtype, channels_first)
    for size in (None, (24, 32), (30, 50))
    for dtype in ("uint8", "float32")
    for channels_first in (False, True)
]


@pytest.mark.parametrize(("size", "dtype", "channels_first"), FORMS)
def test_every_form_holds_the_recorded_values(
    size: tuple[int, int] | None, dtype: Literal["uint8", "float32"], channels_first: bool
) -> None:
    cut = cut_stream(depth_stream([depth_map(5, 47, 63)]), GopSettings())
    (gop,) = cut.gops()
    form = PictureForm(size=size, dtype=dtype, channels_first=channels_first)
    writer = frame_writer(cut.format, form)
    assert isinstance(writer, DepthWriter)
    out = np.empty(form.shape((47, 63), is_depth=True), form.array_dtype(is_depth=True))
    frames = GopDecoder().decode(gop.packets, gop.data, np.zeros(1, np.int64), cut.format)
    writer.put(writer.convert(frames[0]), out)
    expected = depth_map(5, 47, 63) if size is None else nearest(depth_map(5, 47, 63), size)
    assert out.dtype == ("float32" if dtype == "float32" else "uint16")
    assert out.shape == ((1, *expected.shape) if channels_first else (*expected.shape, 1))
    np.testing.assert_array_equal(out.reshape(expected.shape), expected)


def test_memory_that_is_kept_of_depth_is_counted_in_two_bytes_a_pixel() -> None:
    fmt = cut_stream(depth_stream([depth_map(0, 47, 63)]), GopSettings()).format
    for form in (PictureForm(), PictureForm(size=(8, 8))):
        assert form.num_bytes_kept(fmt) == 48 * 64 * 2
        assert not form.shrinks(fmt)


def test_big_endian_samples_are_swapped() -> None:
    little = av.VideoFrame.from_ndarray(depth_map(1), format="gray16le")
    np.testing.assert_array_equal(depth_view(little), depth_map(1))
    np.testing.assert_array_equal(depth_view(little.reformat(format="gray16be")), depth_map(1))


@pytest.mark.parametrize("name", ["24x32-crop", "40x40-crop", "40x40-letterbox", "96x128-crop"])
def test_a_rendition_of_depth_has_recorded_values_only(name: str) -> None:
    source, wanted = depth_maps(6), parse_rendition(name)
    cut = cut_stream(depth_stream(source), GopSettings(gop_size=4))
    shown = []
    for gop in cut.gops():
        rendered, form = render_gop(gop, cut.format, wanted, GopDecoder())
        assert (rendered.gop_index, rendered.first_frame) == (gop.gop_index, gop.first_frame)
        assert (form.codec, form.profile, form.is_depth) == ("ffv1", "lossless", True)
        frames = np.arange(rendered.num_frames, dtype=np.int64)
        shown += list(decode_depth(GopDecoder(), rendered.packets, rendered.data, frames, form))
    assert len(shown) == 6
    for depth, recorded in zip(shown, source, strict=True):
        assert depth.shape == (wanted.height_px, wanted.width_px)
        assert set(np.unique(depth)) <= {0, *np.unique(recorded)}


def test_a_letterbox_of_depth_has_bars_of_no_measurement() -> None:
    depth = np.full((32, 64), 1234, np.uint16)
    shown = fitted(depth, parse_rendition("32x32-letterbox"))
    assert not shown[:8].any()
    assert not shown[24:].any()
    assert (shown[8:24] == 1234).all()


@pytest.mark.parametrize("has_channel", [False, True])
def test_a_png_of_depth_has_sixteen_bits_and_every_value(has_channel: bool) -> None:
    depth = depth_map(7)
    data = encode_png(depth[:, :, None] if has_channel else depth)
    assert data[24] == 16
    np.testing.assert_array_equal(np.asarray(Image.open(io.BytesIO(data))), depth)


def shades(depth: DepthPicture) -> list[int]:
    shown = shade_depth(depth)
    assert shown.shape == (*depth.shape, 3)
    assert (shown == shown[:, :, :1]).all()
    return [int(grey) for grey in shown[0, :, 0]]


def test_depth_is_shown_from_dark_to_bright_and_black_where_nothing_was_measured() -> None:
    assert shades(np.array([[0, 500, 1000, 1500]], np.uint16)) == [0, 48, 151, 255]


@pytest.mark.parametrize(("value", "grey"), [(0, 0), (1, 48), (65535, 48)])
def test_depth_of_one_value_can_be_shown(value: int, grey: int) -> None:
    assert shades(np.full((1, 2), value, np.uint16)) == [grey, grey]
