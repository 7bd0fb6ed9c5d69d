from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import av
import numpy as np
import pytest

from robot_data_platform.core.recording import CameraStream, Picture, PictureSequence
from robot_data_platform.errors import DataFaultError, ErrorKind, InvalidInputError
from robot_data_platform.testing.pictures import numbered_picture
from robot_data_platform.video.cut import cut_stream
from robot_data_platform.video.settings import GopSettings
from robot_data_platform_tests.video.videos import (
    SHORT_GOPS,
    decode_all,
    decoded_rgb,
    numbers_of,
    packet_bytes,
    picture_stream,
    psnr_db,
    segment_stream,
    write_video,
)


def sequence(num_frames: int, pictures: list[Picture]) -> CameraStream:
    source = PictureSequence(num_frames=num_frames, read=lambda: iter(pictures))
    return CameraStream(name="wrist", timestamp_ns=np.arange(num_frames), pictures=source)


def test_a_source_that_can_be_copied_is(tmp_path: Path) -> None:
    path = write_video(tmp_path / "a.mp4", 12, options=SHORT_GOPS["libx264"])
    stream = cut_stream(segment_stream(path, 0, 12), GopSettings())
    assert len(list(stream.gops())) == 1
    assert stream.format.profile == "copy"
    report = stream.report
    assert (report.num_frames, report.num_source_frames) == (12, 12)
    assert (report.reencode_reason, report.psnr_db) == (None, None)
    assert (report.source_codec, report.source_pix_fmt) == ("h264", "yuv420p")


def test_a_source_that_can_not_is_encoded_and_the_reason_told(tmp_path: Path) -> None:
    path = write_video(tmp_path / "a.mp4", 40, options={"g": "40", "bf": "3", "sc_threshold": "0"})
    stream = cut_stream(segment_stream(path, 10, 20), GopSettings())
    assert numbers_of(stream.gops(), stream.format) == list(range(10, 30))
    report = stream.report
    assert stream.format.profile == "anchored"
    assert report.reencode_reason == "frame 10 is no proven entry point"
    assert (report.num_frames, report.num_source_frames) == (20, 40)
    assert report.num_damaged_frames == 0
    assert report.psnr_db is not None


@pytest.mark.parametrize("profile", ["anchored", "chain"])
def test_a_profile_that_was_asked_for_is_used(tmp_path: Path, profile: str) -> None:
    path = write_video(tmp_path / "a.mp4", 12, options=SHORT_GOPS["libx264"])
    settings = GopSettings(profile=profile)  # type: ignore[arg-type]
    stream = cut_stream(segment_stream(path, 0, 12), settings)
    assert numbers_of(stream.gops(), stream.format) == list(range(12))
    assert stream.format.profile == profile
    assert stream.report.reencode_reason == f"profile {profile} was asked for"


def test_copying_what_can_not_be_copied_is_an_error_and_not_another_profile(tmp_path: Path) -> None:
    path = write_video(tmp_path / "a.mp4", 12, codec="mpeg4")
    for stream in (segment_stream(path, 0, 12), picture_stream(3)):
        with pytest.raises(InvalidInputError, match="'top' can't be copied") as caught:
            cut_stream(stream, GopSettings(profile="copy"))
        assert caught.value.kind is ErrorKind.INVALID_ARGUMENT


def test_pictures_are_encoded_and_counted() -> None:
    stream = cut_stream(picture_stream(20), GopSettings())
    assert numbers_of(stream.gops(), stream.format) == list(range(20))
    assert stream.report.source_codec == "rgb"
    assert stream.report.num_frames == 20


def test_pictures_are_read_once() -> None:
    num_reads = 0

    def read() -> Iterator[Picture]:
        nonlocal num_reads
        num_reads += 1
        yield from (numbered_picture(number, 48, 64) for number in range(5))

    stream = sequence(5, [])
    stream = replace(stream, pictures=PictureSequence(num_frames=5, read=read))
    assert len(list(cut_stream(stream, GopSettings()).gops())) == 1
    assert num_reads == 1


def test_the_report_waits_for_the_last_gop() -> None:
    stream = cut_stream(picture_stream(20), GopSettings(gop_size=16))
    gops = stream.gops()
    next(gops)
    with pytest.raises(InvalidInputError, match="no report yet"):
        _ = stream.report
    next(gops)
    assert list(gops) == []
    assert stream.report.num_frames == 20


def test_a_stream_without_frames_is_refused(tmp_path: Path) -> None:
    path = write_video(tmp_path / "a.mp4", 3)
    for stream in (segment_stream(path, 0, 0), sequence(0, [])):
        with pytest.raises(DataFaultError, match="no pictures in this episode") as caught:
            cut_stream(stream, GopSettings())
        assert caught.value.kind is ErrorKind.VIDEO_TOO_SHORT


@pytest.mark.parametrize("first_frame", [-1, 8])
def test_a_segment_outside_the_file_is_refused_before_anything_is_cut(
    tmp_path: Path, first_frame: int
) -> None:
    path = write_video(tmp_path / "a.mp4", 12, options=SHORT_GOPS["libx264"])
    with pytest.raises(DataFaultError, match=r"a\.mp4.*got 12 ") as caught:
        cut_stream(segment_stream(path, first_frame, 5), GopSettings())
    assert caught.value.kind is ErrorKind.VIDEO_TOO_SHORT


@pytest.mark.parametrize(
    ("num_promised", "kind"),
    [(6, ErrorKind.VIDEO_TOO_SHORT), (4, ErrorKind.METADATA_CONTRADICTION)],
)
def test_another_number_of_pictures_than_promised_is_refused(
    num_promised: int, kind: ErrorKind
) -> None:
    pictures = [numbered_picture(number, 48, 64) for number in range(5)]
    stream = cut_stream(sequence(num_promised, pictures), GopSettings())
    with pytest.raises(DataFaultError, match=f"'wrist'.*got 5, expected {num_promised}") as caught:
        list(stream.gops())
    assert caught.value.kind is kind


def test_no_pictures_at_all_are_too_few() -> None:
    with pytest.raises(DataFaultError, match="got 0, expected 3"):
        cut_stream(sequence(3, []), GopSettings())


@pytest.mark.parametrize(
    "odd_one",
    [
        np.zeros((48, 66, 3), np.uint8),
        np.zeros((48, 64), np.uint8),
        np.zeros((48, 64, 3), np.uint16),
    ],
)
def test_a_picture_of_another_shape_is_refused_by_number(odd_one: Picture) -> None:
    pictures = [numbered_picture(0, 48, 64), odd_one]
    stream = cut_stream(sequence(2, pictures), GopSettings())
    with pytest.raises(DataFaultError, match="Picture 1 of camera 'wrist'") as caught:
        list(stream.gops())
    assert caught.value.kind is ErrorKind.SHAPE_MISMATCH


def test_a_resolution_that_changes_is_refused_by_frame(tmp_path: Path) -> None:
    first = write_video(tmp_path / "a.h264", 5)
    second = write_video(tmp_path / "b.h264", 5, size=(64, 64))
    path = tmp_path / "c.h264"
    path.write_bytes(first.read_bytes() + second.read_bytes())
    stream = cut_stream(segment_stream(path, 0, 10), GopSettings())
    with pytest.raises(DataFaultError, match=r"Frame 5 .*got 64x64, expected 64x48"):
        list(stream.gops())


def test_frames_that_the_decoder_made_up_are_counted(tmp_path: Path) -> None:
    path = write_video(tmp_path / "a.mp4", 40, options={"g": "40", "bf": "0", "sc_threshold": "0"})
    packets = packet_bytes(path)
    data = bytearray(path.read_bytes())
    at = data.index(packets[20]) + len(packets[20]) // 2
    data[at : at + 12] = b"\xff" * 12
    path.write_bytes(data)
    stream = cut_stream(segment_stream(path, 0, 40), GopSettings())
    assert sum(gop.num_frames for gop in stream.gops()) == 40
    assert stream.report.num_damaged_frames >= 1


def test_cut_gr1_is_close_to_its_source(shared_data: Path) -> None:
    folder = shared_data / "lerobot_v20_gr1_sim" / "videos" / "chunk-000"
    path = folder / "observation.images.ego_view" / "episode_000004.mp4"
    source = decoded_rgb(path)
    stream = cut_stream(segment_stream(path, 0, len(source)), GopSettings())
    gops = list(stream.gops())
    assert stream.format.profile == "anchored"
    assert stream.report.num_frames == len(source) == 328
    ratios = [psnr_db(a, b) for a, b in zip(source, decode_all(gops, stream.format), strict=True)]
    assert np.mean(ratios) >= 38
    assert stream.report.psnr_db is not None
    assert stream.report.psnr_db >= 38


def test_cut_piper_is_its_source_bit_for_bit(shared_data: Path) -> None:
    folder = shared_data / "lerobot_v30_piper_2cam" / "videos" / "observation.images.wrist"
    path = folder / "chunk-000" / "file-000.mp4"
    stream = cut_stream(segment_stream(path, 0, 300), GopSettings())
    gops = list(stream.gops())
    assert stream.format.profile == "copy"
    assert b"".join(gop.data for gop in gops) == b"".join(packet_bytes(path))
    assert np.array_equal(list(decode_all(gops, stream.format)), decoded_rgb(path))


def test_cut_aloha_with_full_chroma_is_its_source_pixel_for_pixel(shared_data: Path) -> None:
    folder = shared_data / "lerobot_v1_arrow" / "pusht" / "videos"
    path = folder / "observation.image_episode_000000.mp4"
    stream = cut_stream(segment_stream(path, 0, 161), GopSettings())
    decoded = list(decode_all(stream.gops(), stream.format))
    assert stream.format.pix_fmt == "yuv444p"
    assert np.array_equal(decoded, decoded_rgb(path))


@pytest.mark.parametrize(
    "name",
    [
        "av1_video.mkv",
        "bt709_full_range.mp4",
        "h264_10bits.mp4",
        "h265_video.mp4",
        "nasa_13013.mp4",
    ],
)
def test_edge_cases_of_others_come_out_whole_and_close(shared_data: Path, name: str) -> None:
    path = shared_data / "video_edge_torchcodec" / name
    with av.open(str(path)) as container:
        num_frames = sum(1 for _ in container.decode(video=0))
    stream = cut_stream(segment_stream(path, 0, num_frames), GopSettings())
    assert sum(gop.num_frames for gop in stream.gops()) == num_frames
    assert stream.report.psnr_db is not None
    assert stream.report.psnr_db > 38
