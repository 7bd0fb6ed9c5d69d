from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import av
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robot_data_platform.core.gop import Gop, PacketIndex, StreamFormat, needed_packets
from robot_data_platform.errors import DataFaultError, ErrorKind, InvalidInputError
from robot_data_platform.testing.pictures import read_number
from robot_data_platform.video.cut import cut_stream
from robot_data_platform.video.decode import GopDecoder
from robot_data_platform.video.settings import GopProfile, GopSettings
from robot_data_platform_tests.video.videos import (
    SHORT_GOPS,
    decoded_rgb,
    packet_bytes,
    picture_stream,
    segment_stream,
    write_video,
)


def cut(
    num_frames: int, profile: GopProfile = "anchored", gop_size: int = 16
) -> tuple[StreamFormat, list[Gop]]:
    settings = GopSettings(profile=profile, gop_size=gop_size)
    stream = cut_stream(picture_stream(num_frames), settings)
    return stream.format, list(stream.gops())


def frames(*numbers: int) -> np.ndarray:
    return np.array(numbers, np.int64)


@given(
    profile=st.sampled_from(["anchored", "chain"]),
    gop_size=st.integers(1, 40),
    num_frames=st.integers(1, 60),
    data=st.data(),
)
def test_the_fewest_packets_give_the_same_pixels_as_the_whole_gop(
    profile: GopProfile, gop_size: int, num_frames: int, data: st.DataObject
) -> None:
    fmt, gops = cut(num_frames, profile, gop_size)
    gop = data.draw(st.sampled_from(gops))
    everything = np.arange(gop.num_frames, dtype=np.int64)
    whole = GopDecoder().decode_rgb(gop.packets, gop.data, everything, fmt)
    decoder = GopDecoder()
    for frame in range(gop.num_frames):
        alone = decoder.decode_rgb(gop.packets, gop.data, frames(frame), fmt)
        assert np.array_equal(alone[0], whole[frame])


@pytest.mark.parametrize("encoder", SHORT_GOPS)
def test_copied_packets_too_give_the_same_pixels_one_by_one(tmp_path: Path, encoder: str) -> None:
    path = write_video(tmp_path / "a.mp4", 24, codec=encoder, options=SHORT_GOPS[encoder])
    stream = cut_stream(segment_stream(path, 0, 24), GopSettings(profile="copy"))
    expected, decoder = decoded_rgb(path), GopDecoder()
    for gop in stream.gops():
        for frame in range(gop.num_frames):
            alone = decoder.decode_rgb(gop.packets, gop.data, frames(frame), stream.format)
            assert np.array_equal(alone[0], expected[gop.first_frame + frame])


def test_anchored_frames_need_few_packets_and_chained_ones_all_before() -> None:
    (_, [anchored]), (_, [chained]) = cut(16, "anchored"), cut(16, "chain")
    depths = [
        [int(needed_packets(gop.packets, frames(frame)).sum()) for frame in range(16)]
        for gop in (anchored, chained)
    ]
    # Shown I BBB P BBB P BBB P BB P.
    assert depths[0] == [1, *[3] * 3, 2, *[4] * 3, 3, *[5] * 3, 4, *[6] * 2, 5]
    assert depths[1] == list(range(1, 17))


@pytest.mark.parametrize("profile", ["anchored", "chain"])
def test_every_gop_decodes_in_an_empty_decoder_without_the_others(profile: GopProfile) -> None:
    fmt, gops = cut(50, profile, 8)
    for gop in reversed(gops):
        assert GopDecoder().verify_gop(gop.packets, gop.data, fmt) == gop.num_frames


def test_frames_come_in_the_order_asked_for_with_repeats() -> None:
    fmt, [gop] = cut(16)
    shown = GopDecoder().decode_rgb(gop.packets, gop.data, frames(9, 3, 9, 15, 0), fmt)
    assert [read_number(picture) for picture in shown] == [9, 3, 9, 15, 0]


def test_frames_are_written_into_the_array_that_is_given() -> None:
    fmt, [gop] = cut(4)
    out = np.zeros((2, 48, 64, 3), np.uint8)
    assert GopDecoder().decode_rgb(gop.packets, gop.data, frames(2, 1), fmt, out) is out
    assert [read_number(picture) for picture in out] == [2, 1]


def test_no_frames_are_an_empty_array() -> None:
    fmt, [gop] = cut(4)
    assert GopDecoder().decode_rgb(gop.packets, gop.data, frames(), fmt).shape == (0, 48, 64, 3)


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_any_buffer_will_do(kind: type) -> None:
    fmt, [gop] = cut(4)
    shown = GopDecoder().decode_rgb(gop.packets, kind(gop.data), frames(3), fmt)
    assert read_number(shown[0]) == 3


def test_one_decoder_serves_streams_of_all_kinds_in_turn(tmp_path: Path) -> None:
    path = write_video(tmp_path / "a.mp4", 8, codec="libsvtav1", options=SHORT_GOPS["libsvtav1"])
    copied = cut_stream(segment_stream(path, 0, 8), GopSettings())
    odd = cut_stream(picture_stream(8, (49, 65)), GopSettings())
    chained, gops = cut(8, "chain")
    decoder = GopDecoder()
    jobs = [
        (copied.format, next(copied.gops())),
        (odd.format, next(odd.gops())),
        (chained, gops[0]),
    ]
    for _ in range(3):
        for fmt, gop in jobs:
            assert read_number(decoder.decode_rgb(gop.packets, gop.data, frames(5), fmt)[0]) == 5


def test_a_decoder_of_many_cameras_closes_the_ones_it_did_not_use_lately() -> None:
    decoder = GopDecoder()
    for width in range(64, 64 + 2 * 12, 2):
        stream = cut_stream(picture_stream(2, (48, width)), GopSettings())
        gop = next(stream.gops())
        assert decoder.verify_gop(gop.packets, gop.data, stream.format) == 2
    assert len(decoder._codecs) == 8


def test_luma_is_the_coded_plane_without_padding() -> None:
    stream = cut_stream(picture_stream(6, (49, 65)), GopSettings())
    [gop] = stream.gops()
    decoder = GopDecoder()
    decoded = decoder.decode(gop.packets, gop.data, frames(4), stream.format)
    expected = decoded[4].to_ndarray()[:49, :65]
    got = decoder.decode_luma(gop.packets, gop.data, frames(4, 4), stream.format)
    assert got.shape == (2, 49, 65)
    assert np.array_equal(got[1], expected)


def test_luma_of_ten_bits_keeps_the_high_ones(tmp_path: Path) -> None:
    options = {"x265-params": SHORT_GOPS["libx265"]["x265-params"]}
    path = write_video(
        tmp_path / "a.mp4", 4, codec="libx265", options=options, pix_fmt="yuv420p10le"
    )
    stream = cut_stream(segment_stream(path, 0, 4), GopSettings(profile="copy"))
    gop = next(stream.gops())
    [luma] = GopDecoder().decode_luma(gop.packets, gop.data, frames(0), stream.format)
    with av.open(str(path)) as container:
        deep = next(container.decode(video=0)).to_ndarray()[:48].view(np.uint16)
    assert np.array_equal(luma, deep[:, :64] >> 2)


def test_mpeg4_packets_are_padded_as_its_decoder_demands(tmp_path: Path) -> None:
    # Coarse pictures, since it is at the end of short packets that the decoder reads on.
    options = {"g": "12", "bf": "0", "qscale": "20", "flags": "qscale"}
    path = write_video(tmp_path / "a.avi", 60, codec="mpeg4", options=options)
    with av.open(str(path)) as container:
        extradata = container.streams.video[0].codec_context.extradata or b""
    units = packet_bytes(path)
    fmt = replace(cut(1)[0], codec="mpeg4", extradata=extradata)
    packets = PacketIndex(
        size_bytes=np.array([len(unit) for unit in units], np.int32),
        display_index=np.arange(60, dtype=np.int32),
        is_reference=np.ones(60, np.bool_),
        is_key=np.arange(60) == 0,
    )
    shown = GopDecoder().decode_rgb(packets, b"".join(units), np.arange(60, dtype=np.int64), fmt)
    assert np.array_equal(shown, decoded_rgb(path))


def plain_decode(gop: Gop, data: bytes) -> list[int | None]:
    """Return which frames FFmpeg gives when it is fed packet by packet, in its order."""
    context, shown, end = av.CodecContext.create("h264", "r"), [], 0
    rows = zip(gop.packets.size_bytes.tolist(), gop.packets.display_index.tolist(), strict=True)
    for size, frame in rows:
        packet = av.Packet(data[end : end + size])
        packet.pts, end = frame, end + size
        shown += context.decode(packet)
    return [frame.pts for frame in shown + context.decode(None)]


def test_a_header_that_hides_its_reordering_costs_no_frames(tmp_path: Path) -> None:
    options = {"x264-params": "keyint=8:min-keyint=8:scenecut=0:open-gop=0:bframes=3:b-adapt=0"}
    path = write_video(tmp_path / "a.mp4", 8, options=options)
    stream = cut_stream(segment_stream(path, 0, 8), GopSettings(profile="copy"))
    [gop] = stream.gops()
    sps_end = gop.data.index(b"\x00\x00\x00\x01\x68")
    # num_reorder_frames is among the last bits of the sequence parameter set.
    for bit in range(40):
        data = bytearray(gop.data)
        data[sps_end - 1 - bit // 8] ^= 1 << bit % 8
        if plain_decode(gop, bytes(data)) == [0, 4, 7]:
            assert GopDecoder().verify_gop(gop.packets, data, stream.format) == 8
            return
    pytest.fail("no bit of the header makes a plain decoder drop frames")


def test_a_frame_outside_the_gop_is_refused() -> None:
    fmt, [gop] = cut(4)
    for wrong in (-1, 4):
        with pytest.raises(InvalidInputError, match=f"got {wrong}, expected 0 to 3") as caught:
            GopDecoder().decode(gop.packets, gop.data, frames(wrong), fmt)
        assert caught.value.kind is ErrorKind.INDEX_OUT_OF_RANGE


def test_a_blob_of_another_size_is_damaged() -> None:
    fmt, [gop] = cut(4)
    with pytest.raises(DataFaultError, match=f"got {len(gop.data) - 1} bytes") as caught:
        GopDecoder().decode(gop.packets, gop.data[:-1], frames(0), fmt)
    assert caught.value.kind is ErrorKind.GOP_DAMAGED


@pytest.mark.parametrize("profile", ["anchored", "chain"])
def test_a_blob_with_other_bytes_is_damaged_and_the_decoder_goes_on(profile: GopProfile) -> None:
    fmt, [gop] = cut(16, profile)
    zeros = bytes(len(gop.data))
    decoder = GopDecoder()
    for _ in range(2):
        with pytest.raises(DataFaultError, match="GOP is damaged") as caught:
            decoder.decode(gop.packets, zeros, frames(9), fmt)
        assert caught.value.kind is ErrorKind.GOP_DAMAGED
        assert read_number(decoder.decode_rgb(gop.packets, gop.data, frames(9), fmt)[0]) == 9


def test_a_stream_of_another_size_than_declared_is_damaged() -> None:
    fmt, [gop] = cut(4)
    decoder = GopDecoder()
    with pytest.raises(DataFaultError, match="64x48 pixels, expected 64x50"):
        decoder.decode(gop.packets, gop.data, frames(0), replace(fmt, coded_height_px=50))


def test_an_index_that_names_frames_wrongly_is_damaged() -> None:
    fmt, [gop] = cut(16)
    order = gop.packets.display_index.copy()
    order[[2, 3]] = order[[3, 2]]
    with pytest.raises(DataFaultError, match="in this order"):
        GopDecoder().verify_gop(replace(gop.packets, display_index=order), gop.data, fmt)


def test_the_decoder_is_light_to_import() -> None:
    code = (
        "import sys, robot_data_platform.video.decode\n"
        "heavy = {'PIL', 'lance', 'pyarrow', 'dagster', 'ray', 'pandas', 'boto3', 'torch'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
