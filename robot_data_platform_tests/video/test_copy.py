from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from robot_data_platform.core.gop import Gop
from robot_data_platform.core.recording import VideoSegment
from robot_data_platform.video.copy import can_copy
from robot_data_platform.video.cut import cut_stream
from robot_data_platform.video.decode import GopDecoder
from robot_data_platform.video.settings import GopSettings
from robot_data_platform_tests.video.videos import (
    SHORT_GOPS,
    decode_all,
    decoded_rgb,
    numbers_of,
    packet_bytes,
    rewrite_packets,
    segment_stream,
    shift_by,
    write_video,
)

if TYPE_CHECKING:
    import av
    from av.video.stream import VideoStream

PARAMETER_SETS = {"h264": {7, 8}, "hevc": {32, 33, 34}}
SEI = {"h264": {6}, "hevc": {39, 40}}


def units_of(gop: Gop) -> list[bytes]:
    ends = np.cumsum(gop.packets.size_bytes).tolist()
    return [gop.data[start:end] for start, end in zip([0, *ends], ends, strict=False)]


def kind(codec: str, nal: bytes) -> int:
    return nal[0] & 31 if codec == "h264" else nal[0] >> 1 & 63


def prefixed_nals(packet: bytes) -> list[bytes]:
    """Return the NAL units of an MP4 packet, whose lengths are written in four bytes."""
    nals, at = [], 0
    while at < len(packet):
        length = int.from_bytes(packet[at : at + 4], "big")
        nals.append(packet[at + 4 : at + 4 + length])
        at += 4 + length
    return nals


def annex_b_nals(unit: bytes) -> list[bytes]:
    parts = unit.split(b"\x00\x00\x01")[1:]
    # The zero of the next unit's four-byte start code is not part of this one.
    return [part.removesuffix(b"\x00") for part in parts[:-1]] + parts[-1:]


def reason(path: Path, first_frame: int, num_frames: int, **settings: int) -> str | None:
    segment = VideoSegment(path=str(path), first_frame=first_frame, num_frames=num_frames)
    return can_copy(segment, GopSettings(**settings))  # type: ignore[arg-type]


def test_av1_packets_are_the_sources_own(tmp_path: Path) -> None:
    path = write_video(tmp_path / "a.mp4", 40, "libsvtav1", SHORT_GOPS["libsvtav1"])
    stream = cut_stream(segment_stream(path, 0, 40), GopSettings())
    gops = list(stream.gops())
    assert [unit for gop in gops for unit in units_of(gop)] == packet_bytes(path)
    assert [gop.num_frames for gop in gops] == [16, 16, 8]
    assert [gop.first_frame for gop in gops] == [0, 16, 32]
    assert gops[0].packets.is_key.tolist() == [True, False] * 8
    assert (stream.format.codec, stream.format.profile) == ("av1", "copy")
    assert stream.format.extradata
    assert stream.report.reencode_reason is None
    assert stream.report.psnr_db is None
    assert stream.report.num_frames == 40


@pytest.mark.parametrize(("encoder", "codec"), [("libx264", "h264"), ("libx265", "hevc")])
def test_nal_units_are_the_sources_own_behind_parameter_sets(
    tmp_path: Path, encoder: str, codec: str
) -> None:
    path = write_video(tmp_path / "a.mp4", 24, encoder, SHORT_GOPS[encoder])
    stream = cut_stream(segment_stream(path, 0, 24), GopSettings())
    gops = list(stream.gops())
    units = [unit for gop in gops for unit in units_of(gop)]
    is_key = np.concatenate([gop.packets.is_key for gop in gops]).tolist()
    assert sum(is_key) == 6
    for unit, packet, starts_gop in zip(units, packet_bytes(path), is_key, strict=True):
        nals = annex_b_nals(unit)
        added = [nal for nal in nals if kind(codec, nal) in PARAMETER_SETS[codec]]
        expected = PARAMETER_SETS[codec] if starts_gop else set()
        assert {kind(codec, nal) for nal in added} == expected
        rest = [nal for nal in nals if nal not in added and kind(codec, nal) not in SEI[codec]]
        assert rest == [n for n in prefixed_nals(packet) if kind(codec, n) not in SEI[codec]]
    assert stream.format.codec == codec
    assert stream.format.extradata == b""


@pytest.mark.parametrize("encoder", SHORT_GOPS)
def test_copied_pixels_are_the_sources_own(tmp_path: Path, encoder: str) -> None:
    path = write_video(tmp_path / "a.mp4", 24, encoder, SHORT_GOPS[encoder])
    stream = cut_stream(segment_stream(path, 0, 24), GopSettings())
    decoded = list(decode_all(stream.gops(), stream.format))
    assert np.array_equal(decoded, decoded_rgb(path))


@pytest.mark.parametrize("encoder", SHORT_GOPS)
def test_every_copied_blob_passes_verification(tmp_path: Path, encoder: str) -> None:
    path = write_video(tmp_path / "a.mp4", 24, encoder, SHORT_GOPS[encoder])
    stream = cut_stream(segment_stream(path, 0, 24), GopSettings(copy_budget_frames=8))
    for gop in stream.gops():
        decoder = GopDecoder()
        assert decoder.verify_gop(gop.packets, gop.data, stream.format) == gop.num_frames == 8


def test_reordered_closed_gops_are_copied_in_decode_order(tmp_path: Path) -> None:
    options = {"x264-params": "keyint=8:min-keyint=8:scenecut=0:open-gop=0:bframes=3:b-adapt=0"}
    path = write_video(tmp_path / "a.mp4", 24, options=options)
    stream = cut_stream(segment_stream(path, 8, 16), GopSettings(copy_budget_frames=8))
    gops = list(stream.gops())
    assert numbers_of(gops, stream.format) == list(range(8, 24))
    for gop in gops:
        assert gop.packets.display_index.tolist() != list(range(8))
        # A B-frame that others refer to is a reference all the same.
        parsed = [
            max(nal[0] >> 5 & 3 for nal in annex_b_nals(unit) if nal[0] & 31 in (1, 5)) > 0
            for unit in units_of(gop)
        ]
        assert gop.packets.is_reference.tolist() == parsed
        assert not gop.packets.is_reference.all()


def test_every_frame_may_be_a_gop(tmp_path: Path) -> None:
    path = write_video(tmp_path / "a.mp4", 6, options={"g": "1"})
    settings = GopSettings(profile="copy", copy_budget_frames=1)
    stream = cut_stream(segment_stream(path, 0, 6), settings)
    gops = list(stream.gops())
    assert [gop.num_frames for gop in gops] == [1] * 6
    assert numbers_of(gops, stream.format) == list(range(6))


def test_an_episode_in_a_shared_file_is_cut_out_exactly(tmp_path: Path) -> None:
    path = write_video(tmp_path / "a.mp4", 40, "libsvtav1", SHORT_GOPS["libsvtav1"])
    stream = cut_stream(segment_stream(path, 14, 10), GopSettings())
    gops = list(stream.gops())
    assert [unit for gop in gops for unit in units_of(gop)] == packet_bytes(path)[14:24]
    assert numbers_of(gops, stream.format) == list(range(14, 24))
    assert gops[0].first_frame == 0
    assert stream.report.num_source_frames == 40


def test_the_last_gop_may_be_left_early_where_nothing_is_reordered(tmp_path: Path) -> None:
    path = write_video(tmp_path / "a.mp4", 24, options=SHORT_GOPS["libx264"])
    stream = cut_stream(segment_stream(path, 4, 10), GopSettings(profile="copy"))
    assert numbers_of(stream.gops(), stream.format) == list(range(4, 14))


def test_a_segment_that_starts_within_a_gop_is_not_copied(tmp_path: Path) -> None:
    path = write_video(tmp_path / "a.mp4", 24, options=SHORT_GOPS["libx264"])
    assert reason(path, 5, 8) == "frame 5 is no proven entry point"


def test_a_segment_that_ends_within_a_reordered_gop_is_not_copied(tmp_path: Path) -> None:
    options = {"x264-params": "keyint=8:min-keyint=8:scenecut=0:open-gop=0:bframes=3:b-adapt=0"}
    path = write_video(tmp_path / "a.mp4", 24, options=options)
    assert "lie between the segment's" in (reason(path, 0, 11) or "")


def test_a_long_gop_is_not_copied(tmp_path: Path) -> None:
    path = write_video(tmp_path / "a.mp4", 40, options={"g": "20", "sc_threshold": "0", "bf": "0"})
    assert reason(path, 0, 40) == "a GOP has 20 frames, more than 16"
    assert reason(path, 0, 40, copy_budget_frames=20) is None


@pytest.mark.parametrize(
    ("encoder", "options"),
    [
        ("libx264", {"x264-params": "keyint=6:min-keyint=6:scenecut=0:open-gop=1:b-adapt=0"}),
        ("libx265", {"x265-params": "keyint=6:min-keyint=6:scenecut=0:open-gop=1:log-level=none"}),
    ],
)
def test_open_gops_are_not_copied(tmp_path: Path, encoder: str, options: dict[str, str]) -> None:
    path = write_video(tmp_path / "a.mp4", 36, encoder, options)
    assert reason(path, 0, 36) in ("GOPs are not closed", "a GOP has 36 frames, more than 16")
    assert reason(path, 0, 36, copy_budget_frames=64) is None or encoder == "libx265"


def test_hidden_frames_within_the_segment_keep_it_from_being_copied(tmp_path: Path) -> None:
    whole = write_video(tmp_path / "whole.mp4", 40, options={**SHORT_GOPS["libx264"], "bf": "2"})
    cut = rewrite_packets(whole, tmp_path / "cut.mp4", shift_by(Fraction(11, 30)))
    assert reason(cut, 0, 20) == (
        "packets of other episodes or discarded ones lie between the segment's"
    )


def test_other_codecs_are_not_copied(tmp_path: Path) -> None:
    path = write_video(tmp_path / "a.mp4", 6, "mpeg4", {"g": "2"})
    assert reason(path, 0, 6) == "codec mpeg4 is none of h264, hevc, av1"


def test_turned_pictures_are_not_copied(tmp_path: Path) -> None:
    path = write_video(tmp_path / "a.mp4", 8, options=SHORT_GOPS["libx264"], rotation=90)
    assert reason(path, 0, 8) == "pictures must be turned for display"


def test_streams_without_times_or_parameter_sets_of_the_container_are_not_copied(
    tmp_path: Path,
) -> None:
    raw = write_video(tmp_path / "a.h264", 8, options=SHORT_GOPS["libx264"])
    assert reason(raw, 0, 8) == "the container has no parameter sets of its own"

    def decode_time_only(packet: av.Packet[VideoStream], index: int) -> None:
        packet.pts = packet.dts = index * 512

    source = write_video(tmp_path / "b.mp4", 16, options={**SHORT_GOPS["libx264"], "bf": "2"})
    wrong = rewrite_packets(source, tmp_path / "c.mp4", decode_time_only)
    assert reason(wrong, 0, 16) == "packets have no trustworthy presentation times"


def test_a_packet_that_the_file_cuts_off_is_not_copied(tmp_path: Path) -> None:
    options = SHORT_GOPS["libx264"]
    path = write_video(tmp_path / "a.mp4", 120, options=options, is_faststart=True)
    path.write_bytes(path.read_bytes()[:-20])
    assert reason(path, 100, 20) == "the file ends within a packet"
    assert reason(path, 0, 20) is None


def test_old_encoders_of_full_chroma_are_not_copied(tmp_path: Path) -> None:
    path = write_video(tmp_path / "a.mp4", 8, options=SHORT_GOPS["libx264"], pix_fmt="yuv444p")
    assert reason(path, 0, 8) is None
    data = path.read_bytes()
    at = data.index(b"x264 - core ") + len(b"x264 - core ")
    path.write_bytes(data[:at] + b"142" + data[at + 3 :])
    assert reason(path, 0, 8) == "x264 build 142 codes 4:4:4 in its own way"
