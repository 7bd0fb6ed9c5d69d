"""Depth maps come back from their GOPs as they were, from every kind of source."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import av
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from robot_data_platform.core.gop import Gop
from robot_data_platform.core.recording import CameraStream, DepthPicture, PictureSequence
from robot_data_platform.errors import DataFaultError, ErrorKind, InvalidInputError
from robot_data_platform.video import lossless
from robot_data_platform.video.cut import CutStream, cut_stream
from robot_data_platform.video.decode import GopDecoder
from robot_data_platform.video.depth import decode_depth, depth_frame
from robot_data_platform.video.settings import GopProfile, GopSettings
from robot_data_platform.video.source_depth import check_grey
from robot_data_platform_tests.depth_maps import (
    depth_map,
    depth_maps,
    depth_stream,
    write_depth_video,
)
from robot_data_platform_tests.video.videos import segment_stream


def stored(cut: CutStream) -> list[DepthPicture]:
    """Return every depth map of a stream; each GOP is decoded by an empty decoder."""
    return [depth for gop in cut.gops() for depth in maps_of(gop, cut)]


def maps_of(gop: Gop, cut: CutStream) -> DepthPicture:
    frames = np.arange(gop.num_frames, dtype=np.int64)
    return decode_depth(GopDecoder(), gop.packets, gop.data, frames, cut.format)


def by_another_decoder(gop: Gop, cut: CutStream, at: int) -> DepthPicture:
    """Return one picture from its packet alone, by PyAV's own conversion."""
    fmt, ends = cut.format, np.cumsum(gop.packets.size_bytes)
    decoder = av.CodecContext.create(fmt.codec, "r")
    assert isinstance(decoder, av.VideoCodecContext)
    decoder.extradata, decoder.width, decoder.height = fmt.extradata, fmt.width_px, fmt.height_px
    packet = av.Packet(gop.data[ends[at] - gop.packets.size_bytes[at] : ends[at]])
    (frame,) = decoder.decode(packet)
    return np.asarray(frame.to_ndarray(format="gray16le"), np.uint16)


@pytest.mark.parametrize("gop_size", [1, 2, 8, 128])
def test_pictures_come_back_bit_for_bit(gop_size: int) -> None:
    source = depth_maps(19)
    cut = cut_stream(depth_stream(source), GopSettings(gop_size=gop_size))
    np.testing.assert_array_equal(stored(cut), source)


def test_a_picture_is_decoded_from_its_own_packet_by_any_decoder() -> None:
    source = depth_maps(8)
    cut = cut_stream(depth_stream(source), GopSettings())
    (gop,) = cut.gops()
    assert gop.packets.is_key.all()
    assert not gop.packets.is_reference.any()
    for at in (7, 0, 3):
        np.testing.assert_array_equal(by_another_decoder(gop, cut, at), source[at])


def test_gops_have_the_size_that_is_set_and_say_what_they_are() -> None:
    cut = cut_stream(depth_stream(depth_maps(19)), GopSettings(gop_size=8))
    gops = list(cut.gops())
    assert [gop.num_frames for gop in gops] == [8, 8, 3]
    assert [gop.first_frame for gop in gops] == [0, 8, 16]
    fmt = cut.format
    assert (fmt.codec, fmt.profile, fmt.pix_fmt) == ("ffv1", "lossless", "gray16le")
    assert fmt.is_depth
    assert fmt.extradata


def test_nothing_is_measured_where_nothing_is_lost() -> None:
    cut = cut_stream(depth_stream(depth_maps(3)), GopSettings())
    stored(cut)
    assert cut.report.psnr_db is None
    assert cut.report.num_frames == 3
    assert (cut.report.source_codec, cut.report.source_pix_fmt) == ("depth", "gray16le")
    assert cut.report.reencode_reason == "the source is no video"


@given(
    npst.arrays(
        np.uint16,
        st.tuples(st.integers(1, 4), st.integers(1, 21), st.integers(1, 21)),
        elements=st.integers(0, 65535),
    )
)
def test_any_samples_of_any_size_come_back(pictures: DepthPicture) -> None:
    cut = cut_stream(depth_stream(list(pictures)), GopSettings(gop_size=3))
    np.testing.assert_array_equal(stored(cut), pictures)


@pytest.mark.parametrize("shape", [(1, 1), (1, 401), (401, 1), (49, 65), (301, 3)])
def test_odd_and_thin_pictures_are_padded_and_cropped(shape: tuple[int, int]) -> None:
    source = [np.random.default_rng(n).integers(0, 65536, shape).astype(np.uint16) for n in (0, 1)]
    cut = cut_stream(depth_stream(source), GopSettings())
    np.testing.assert_array_equal(stored(cut), source)
    fmt = cut.format
    assert (fmt.height_px, fmt.width_px) == shape
    assert (fmt.coded_height_px % 2, fmt.coded_width_px % 2) == (0, 0)


@pytest.mark.parametrize("profile", ["auto", "anchored", "chain"])
def test_depth_is_lossless_whatever_the_profile(profile: GopProfile) -> None:
    source = depth_maps(5)
    cut = cut_stream(depth_stream(source), GopSettings(profile=profile))
    assert cut.format.profile == "lossless"
    np.testing.assert_array_equal(stored(cut), source)


def test_pictures_are_never_copied() -> None:
    with pytest.raises(InvalidInputError, match="'depth' can't be copied"):
        cut_stream(depth_stream(depth_maps(2)), GopSettings(profile="copy"))


PROGRAM = """
import hashlib
from robot_data_platform.video.cut import cut_stream
from robot_data_platform.video.settings import GopSettings
from robot_data_platform_tests.depth_maps import depth_maps, depth_stream
cut = cut_stream(depth_stream(depth_maps(20)), GopSettings())
data = b"".join(gop.data for gop in cut.gops())
print(hashlib.sha256(cut.format.extradata + data).hexdigest())
"""


def test_two_processes_give_the_same_bytes() -> None:
    cut = cut_stream(depth_stream(depth_maps(20)), GopSettings())
    mine = hashlib.sha256(cut.format.extradata + b"".join(gop.data for gop in cut.gops()))
    theirs = [
        subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
        for _ in range(2)
    ]
    assert {done.stdout.strip() for done in theirs} == {mine.hexdigest()}


def test_a_codec_that_loses_a_bit_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        lossless, "depth_frame", lambda depth: depth_frame(depth & np.uint16(0xFFFE))
    )
    cut = cut_stream(depth_stream([depth_map(1)]), GopSettings())
    with pytest.raises(DataFaultError, match="Depth maps 0 to 0 are not stored exactly") as caught:
        list(cut.gops())
    assert caught.value.kind is ErrorKind.GOP_DAMAGED


@dataclass(frozen=True, kw_only=True)
class Coding:
    """A way in which a video file may hold depth, and the values that it can hold."""

    name: str
    codec: str
    pix_fmt: str
    highest: int
    options: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.codec} {self.pix_fmt}"


X265 = {"x265-params": "lossless=1:keyint=2:min-keyint=2:scenecut=0:open-gop=0:log-level=none"}
CODINGS = [
    Coding(name="a.mkv", codec="ffv1", pix_fmt="gray16le", highest=65535),
    Coding(name="a.mkv", codec="ffv1", pix_fmt="gray12le", highest=4095),
    Coding(name="a.mov", codec="png", pix_fmt="gray16be", highest=65535),
    Coding(name="a.mp4", codec="libx265", pix_fmt="gray12le", highest=4095, options=X265),
    Coding(name="a.mp4", codec="libx265", pix_fmt="gray10le", highest=1023, options=X265),
]


@pytest.mark.parametrize("coding", CODINGS, ids=str)
@pytest.mark.parametrize("profile", ["auto", "anchored"])
def test_a_video_of_depth_gives_its_sample_values(
    tmp_path: Path, coding: Coding, profile: GopProfile
) -> None:
    source = [np.minimum(depth, coding.highest) for depth in depth_maps(10)]
    path = write_depth_video(
        tmp_path / coding.name, source, coding.codec, coding.pix_fmt, dict(coding.options)
    )
    cut = cut_stream(segment_stream(path, 0, 10), GopSettings(profile=profile))
    np.testing.assert_array_equal(stored(cut), source)
    is_copied = coding.codec == "libx265" and profile == "auto"
    assert cut.format.profile == ("copy" if is_copied else "lossless")
    assert cut.format.is_depth


def test_frames_in_the_middle_of_a_video_of_depth_are_the_right_ones(tmp_path: Path) -> None:
    path = write_depth_video(tmp_path / "a.mkv", depth_maps(20))
    cut = cut_stream(segment_stream(path, 7, 6), GopSettings())
    np.testing.assert_array_equal(stored(cut), depth_maps(6, first=7))
    assert cut.report.num_source_frames == 20


def test_a_video_of_depth_is_turned_as_it_is_to_be_shown(tmp_path: Path) -> None:
    path = tmp_path / "a.mov"
    with av.open(str(path), "w") as container:
        stream = container.add_stream("png", rate=30)
        assert isinstance(stream, av.VideoStream)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "gray16be"
        stream.set_display_rotation(90)
        frame = av.VideoFrame.from_ndarray(depth_map(3), format="gray16le")
        container.mux(stream.encode(frame.reformat(format="gray16be")))
        container.mux(stream.encode(None))
    cut = cut_stream(segment_stream(path, 0, 1), GopSettings())
    np.testing.assert_array_equal(stored(cut), [np.rot90(depth_map(3))])


def test_grey_with_alpha_is_refused_and_not_cut_down_to_eight_bits(tmp_path: Path) -> None:
    path = tmp_path / "a.mov"
    with av.open(str(path), "w") as container:
        stream = container.add_stream("png", rate=30)
        assert isinstance(stream, av.VideoStream)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "ya16be"
        container.mux([*stream.encode(av.VideoFrame(64, 48, "ya16be")), *stream.encode(None)])
    with pytest.raises(DataFaultError, match=r"grey pictures \(ya16be\)") as caught:
        cut_stream(segment_stream(path, 0, 1), GopSettings())
    assert caught.value.kind is ErrorKind.VIDEO_UNREADABLE


@pytest.mark.parametrize("pix_fmt", ["grayf16le", "grayf32le", "gray32le", "ya16le"])
def test_grey_that_no_depth_map_can_hold_is_refused(pix_fmt: str) -> None:
    with pytest.raises(DataFaultError, match=rf"grey pictures \({pix_fmt}\)"):
        check_grey("a.mkv", pix_fmt)


@pytest.mark.parametrize("pix_fmt", ["gray", "ya8", "gray12le", "yuv420p10le", "rgb24", "pal8"])
def test_other_pictures_are_left_to_whom_it_concerns(pix_fmt: str) -> None:
    check_grey("a.mkv", pix_fmt)


def sequence(pictures: list[np.ndarray], num_frames: int | None = None) -> CameraStream:
    promised = len(pictures) if num_frames is None else num_frames
    return CameraStream(
        name="depth",
        timestamp_ns=np.arange(promised),
        pictures=PictureSequence(num_frames=promised, read=lambda: iter(pictures), is_depth=True),
    )


@pytest.mark.parametrize(
    ("stream", "kind", "told"),
    [
        (sequence([depth_map(0), depth_map(1, 24, 32)]), ErrorKind.SHAPE_MISMATCH, r"\(24, 32\)"),
        (sequence([np.zeros((4, 4), np.uint8)]), ErrorKind.SHAPE_MISMATCH, "uint8"),
        (sequence([np.zeros((4, 4, 3), np.uint8)]), ErrorKind.SHAPE_MISMATCH, "uint8"),
        (sequence([np.zeros((4, 4), np.int32)]), ErrorKind.SHAPE_MISMATCH, "int32"),
        (sequence([np.zeros((0, 4), np.uint16)]), ErrorKind.SHAPE_MISMATCH, r"\(0, 4\)"),
        (sequence([depth_map(0)], 2), ErrorKind.VIDEO_TOO_SHORT, "got 1, expected 2"),
        (sequence([], 2), ErrorKind.VIDEO_TOO_SHORT, "got 0, expected 2"),
        (sequence(depth_maps(3), 2), ErrorKind.METADATA_CONTRADICTION, "got 3, expected 2"),
    ],
    ids=["size", "uint8", "rgb", "int32", "nothing", "short", "empty", "long"],
)
def test_pictures_that_are_no_depth_maps_as_promised_are_refused(
    stream: CameraStream, kind: ErrorKind, told: str
) -> None:
    with pytest.raises(DataFaultError, match=told) as caught:
        stored(cut_stream(stream, GopSettings()))
    assert caught.value.kind is kind


def test_a_gop_of_another_pixel_format_is_damaged() -> None:
    cut = cut_stream(depth_stream(depth_maps(2)), GopSettings())
    (gop,) = cut.gops()
    assert GopDecoder().verify_gop(gop.packets, gop.data, cut.format) == 2
    claimed = replace(cut.format, pix_fmt="gray12le")
    with pytest.raises(DataFaultError, match="frame 0 of gray16le, expected gray12le") as caught:
        GopDecoder().verify_gop(gop.packets, gop.data, claimed)
    assert caught.value.kind is ErrorKind.GOP_DAMAGED
