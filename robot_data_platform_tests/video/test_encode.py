from __future__ import annotations

import hashlib
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from robot_data_platform.core.gop import Gop
from robot_data_platform.core.recording import CameraStream, Picture, PictureSequence
from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform.testing.pictures import numbered_picture
from robot_data_platform.video import encode
from robot_data_platform.video.cut import cut_stream
from robot_data_platform.video.settings import GopProfile, GopSettings
from robot_data_platform_tests.video.videos import decode_all, numbers_of, picture_stream, psnr_db

if TYPE_CHECKING:
    import av
    from av.video.stream import VideoStream

SPS, PPS, SEI, IDR, SLICE = 7, 8, 6, 5, 1


def units_of(gop: Gop) -> list[bytes]:
    ends = np.cumsum(gop.packets.size_bytes).tolist()
    return [gop.data[start:end] for start, end in zip([0, *ends], ends, strict=False)]


def nal_headers(unit: bytes) -> list[int]:
    """Return the header byte of each NAL unit of an Annex B access unit."""
    return [part[0] for part in unit.split(b"\x00\x00\x01")[1:]]


def nal_types(unit: bytes) -> list[int]:
    return [header & 31 for header in nal_headers(unit)]


def gops_of(num_frames: int, settings: GopSettings) -> list[Gop]:
    return list(cut_stream(picture_stream(num_frames), settings).gops())


@pytest.mark.parametrize("gop_size", [1, 2, 3, 5, 8, 16, 128])
@pytest.mark.parametrize("profile", ["anchored", "chain"])
def test_every_gop_size_gives_every_frame_at_its_place(profile: GopProfile, gop_size: int) -> None:
    stream = cut_stream(picture_stream(131), GopSettings(profile=profile, gop_size=gop_size))
    gops = list(stream.gops())
    assert numbers_of(gops, stream.format) == list(range(131))
    assert [gop.first_frame for gop in gops] == list(range(0, 131, gop_size))
    assert [gop.gop_index for gop in gops] == list(range(len(gops)))
    assert sum(gop.num_frames for gop in gops) == 131


@pytest.mark.parametrize("profile", ["anchored", "chain"])
def test_every_gop_starts_with_its_parameter_sets_and_an_idr_picture(profile: GopProfile) -> None:
    for gop in gops_of(40, GopSettings(profile=profile, gop_size=8)):
        first, *others = units_of(gop)
        assert first.startswith(b"\x00\x00\x00\x01")
        assert [kind for kind in nal_types(first) if kind != SEI] == [SPS, PPS, IDR]
        assert all(nal_types(unit) == [SLICE] for unit in others)


@pytest.mark.parametrize("gop_size", [1, 2, 3, 8, 16, 40])
def test_only_frames_between_anchors_are_no_references(gop_size: int) -> None:
    for gop in gops_of(80, GopSettings(profile="anchored", gop_size=gop_size)):
        anchors = {*range(0, gop.num_frames, 4), gop.num_frames - 1}
        assert set(gop.packets.display_index[gop.packets.is_reference].tolist()) == anchors
        parsed = [max(header >> 5 & 3 for header in nal_headers(unit)) for unit in units_of(gop)]
        assert [idc > 0 for idc in parsed] == gop.packets.is_reference.tolist()


def test_the_anchor_distance_bounds_what_a_frame_needs() -> None:
    [gop] = gops_of(16, GopSettings(profile="anchored", gop_size=16, anchor_distance=6))
    references = gop.packets.display_index[gop.packets.is_reference]
    assert sorted(references.tolist()) == [0, 6, 12, 15]


def test_chained_frames_come_in_order_and_all_are_references() -> None:
    [gop] = gops_of(16, GopSettings(profile="chain", gop_size=16))
    assert gop.packets.display_index.tolist() == list(range(16))
    assert gop.packets.is_reference.all()
    assert gop.packets.is_key.tolist() == [True] + [False] * 15


def test_fastdecode_leaves_out_arithmetic_coding_unless_told() -> None:
    fast = gops_of(32, GopSettings(tune_fastdecode=True))
    small = gops_of(32, GopSettings(tune_fastdecode=False))
    assert sum(len(gop.data) for gop in fast) > sum(len(gop.data) for gop in small)


def test_a_lower_rate_factor_is_closer_to_the_source() -> None:
    ratios = []
    for crf in (10, 40):
        stream = cut_stream(picture_stream(20), GopSettings(crf=crf))
        assert len(list(stream.gops())) == 3
        ratios.append(stream.report.psnr_db)
    assert ratios[0] is not None
    assert ratios[1] is not None
    assert ratios[0] > ratios[1] + 6


@pytest.mark.parametrize("profile", ["anchored", "chain"])
def test_two_processes_give_the_same_bytes(profile: GopProfile) -> None:
    code = (
        "import hashlib, sys\n"
        "from robot_data_platform.video.cut import cut_stream\n"
        "from robot_data_platform.video.settings import GopSettings\n"
        "from robot_data_platform_tests.video.videos import picture_stream\n"
        "waste = [bytes(1000 * n) for n in range(int(sys.argv[1]))]\n"
        f"stream = cut_stream(picture_stream(70), GopSettings(profile={profile!r}))\n"
        "print(hashlib.sha256(b''.join(gop.data for gop in stream.gops())).hexdigest())\n"
    )
    runs = [
        subprocess.run(
            [sys.executable, "-c", code, seed], capture_output=True, text=True, check=True,
            env={"PYTHONHASHSEED": seed},
        ).stdout.strip()
        for seed in ("1", "57")
    ]  # fmt: skip
    here = hashlib.sha256(b"".join(gop.data for gop in gops_of(70, GopSettings(profile=profile))))
    assert runs == [here.hexdigest()] * 2


def test_pictures_are_read_as_gops_are_taken_and_not_before() -> None:
    num_read = 0

    def read() -> Iterator[Picture]:
        nonlocal num_read
        for number in range(400):
            num_read += 1
            yield numbered_picture(number, 48, 64)

    stream = CameraStream(
        name="top",
        timestamp_ns=np.arange(400),
        pictures=PictureSequence(num_frames=400, read=read),
    )
    gops = cut_stream(stream, GopSettings(gop_size=8)).gops()
    for gop in gops:
        assert num_read <= gop.first_frame + 8 + 60
    assert num_read == 400


def test_the_reported_ratio_is_that_of_the_pictures() -> None:
    # Grey, so that it does not matter how chroma is interpolated.
    noise = np.random.default_rng(0).integers(0, 40, (120, 160, 1))
    grey = (noise + 100).repeat(3, 2).astype(np.uint8)
    pictures = [np.roll(grey, number, 1) for number in range(45)]
    stream = cut_stream(picture_stream(pictures), GopSettings())
    decoded = list(decode_all(stream.gops(), stream.format))
    measured = np.mean([psnr_db(a, b) for a, b in zip(pictures, decoded, strict=True)])
    assert stream.report.psnr_db == pytest.approx(measured, abs=0.5)


def test_a_gop_that_does_not_decode_to_its_frames_is_never_given_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cut_gop = encode._gop

    def swap_two_frames(packets: list[av.Packet[VideoStream]], index: int, first: int) -> Gop:
        gop = cut_gop(packets, index, first)
        order = gop.packets.display_index.copy()
        order[-1], order[-2] = order[-2], order[-1]
        return replace(gop, packets=replace(gop.packets, display_index=order))

    monkeypatch.setattr(encode, "_gop", swap_two_frames)
    gops = cut_stream(picture_stream(16), GopSettings()).gops()
    with pytest.raises(DataFaultError, match="GOP is damaged") as caught:
        next(gops)
    assert caught.value.kind is ErrorKind.GOP_DAMAGED
