from __future__ import annotations

import random
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import av
import numpy as np
import pytest

from robot_data_platform.core.recording import Picture, VideoSegment
from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform.testing.pictures import read_number
from robot_data_platform.video.frames import read_frames
from robot_data_platform_tests.video.videos import (
    decoded_rgb,
    rewrite_packets,
    rgb_of,
    shift_by,
    write_video,
)

if TYPE_CHECKING:
    from av.video.stream import VideoStream

GOP_15 = {"g": "15", "keyint_min": "15", "sc_threshold": "0", "bf": "3"}


def pictures(path: Path, first_frame: int, num_frames: int) -> list[Picture]:
    segment = VideoSegment(path=str(path), first_frame=first_frame, num_frames=num_frames)
    return [rgb_of(frame) for frame in read_frames(segment)]


def numbers(path: Path, first_frame: int, num_frames: int) -> list[int]:
    return [read_number(picture) for picture in pictures(path, first_frame, num_frames)]


@pytest.mark.parametrize("codec", ["libx264", "libx265", "libsvtav1", "mpeg4", "mpeg2video"])
def test_a_stretch_is_exact_in_any_codec(tmp_path: Path, codec: str) -> None:
    options = {"libx265": {"x265-params": "log-level=none:keyint=12"}, "libsvtav1": {"g": "12"}}
    path = write_video(tmp_path / "a.mp4", 40, codec=codec, options=options.get(codec, {"g": "12"}))
    assert numbers(path, 0, 40) == list(range(40))
    assert numbers(path, 17, 9) == list(range(17, 26))


@pytest.mark.parametrize("suffix", ["mkv", "avi", "ts"])
def test_a_stretch_is_exact_in_any_container(tmp_path: Path, suffix: str) -> None:
    codec = "mpeg4" if suffix == "avi" else "libx264"
    options = {"g": "10", "bf": "2"}
    path = write_video(tmp_path / f"a.{suffix}", 40, codec=codec, options=options)
    assert numbers(path, 23, 9) == list(range(23, 32))


def test_any_frame_of_a_long_gop_is_found_in_any_order(tmp_path: Path) -> None:
    path = write_video(tmp_path / "a.mp4", 400, options={"g": "250", "bf": "3"})
    for frame in random.Random(0).sample([0, 1, 249, 250, 251, 399], 6):
        assert numbers(path, frame, 1) == [frame]


OPEN_GOPS = {
    "libx264": {"x264-params": "keyint=12:min-keyint=12:scenecut=0:open-gop=1:b-adapt=0"},
    "libx265": {"x265-params": "keyint=12:min-keyint=12:scenecut=0:open-gop=1:log-level=none"},
    "mpeg2video": {"g": "12", "bf": "2"},
}
"""Options by encoder that give frames which precede their key frame and need the GOP before."""


@pytest.mark.parametrize("codec", OPEN_GOPS)
def test_a_stretch_may_start_at_any_frame_of_open_gops(tmp_path: Path, codec: str) -> None:
    path = write_video(tmp_path / "a.mp4", 40, codec, OPEN_GOPS[codec])
    everything = decoded_rgb(path)
    for first in range(5, 28):
        shown = pictures(path, first, 2)
        assert np.array_equal(shown, everything[first : first + 2])


def test_frames_count_from_the_first_one_shown_wherever_time_starts(tmp_path: Path) -> None:
    path = write_video(tmp_path / "a.mp4", 30, first_pts=30)
    assert numbers(path, 0, 3) == [0, 1, 2]


def test_frames_that_an_edit_list_hides_are_decoded_but_not_counted(tmp_path: Path) -> None:
    whole = write_video(tmp_path / "whole.mp4", 60, options=GOP_15)
    cut = rewrite_packets(whole, tmp_path / "cut.mp4", shift_by(Fraction(7, 10)))
    assert numbers(cut, 0, 39) == list(range(21, 60))
    assert numbers(cut, 30, 5) == list(range(51, 56))


@pytest.mark.parametrize("codec", OPEN_GOPS)
@pytest.mark.parametrize("skip", [5, 9, 10, 11])
def test_frames_with_nothing_to_build_on_are_not_counted(
    tmp_path: Path, codec: str, skip: int
) -> None:
    whole = write_video(tmp_path / "whole.mp4", 40, codec, OPEN_GOPS[codec])
    cut = rewrite_packets(whole, tmp_path / "cut.mkv", skip=skip)
    with av.open(str(cut)) as container:
        first = read_number(rgb_of(next(container.decode(video=0))))
    assert numbers(cut, 0, 4) == [first, first + 1, first + 2, first + 3]


def test_frames_are_counted_where_each_is_said_to_be_shown_when_it_is_decoded(
    tmp_path: Path,
) -> None:
    def decode_time_only(packet: av.Packet[VideoStream], index: int) -> None:
        packet.pts = packet.dts = index * 512

    whole = write_video(tmp_path / "whole.mp4", 40, options=GOP_15)
    wrong = rewrite_packets(whole, tmp_path / "wrong.mp4", decode_time_only)
    assert numbers(wrong, 17, 9) == list(range(17, 26))


def test_frames_of_a_stream_without_times_are_counted(tmp_path: Path) -> None:
    path = write_video(tmp_path / "a.h264", 40, options=GOP_15)
    assert numbers(path, 17, 9) == list(range(17, 26))


def test_times_that_contradict_the_order_of_the_frames_are_refused(tmp_path: Path) -> None:
    def swap(packet: av.Packet[VideoStream], index: int) -> None:
        assert packet.dts is not None
        assert packet.pts is not None
        packet.dts -= 5120
        packet.pts += {20: 512, 21: -512}.get(index, 0)

    whole = write_video(tmp_path / "whole.mp4", 40, options={"bf": "0", "g": "40"})
    wrong = rewrite_packets(whole, tmp_path / "wrong.mkv", swap)
    with pytest.raises(DataFaultError, match="no frame 20") as caught:
        numbers(wrong, 10, 20)
    assert caught.value.kind is ErrorKind.VIDEO_UNREADABLE


def test_a_segment_past_the_end_is_too_short_with_both_counts(tmp_path: Path) -> None:
    path = write_video(tmp_path / "a.mp4", 30)
    with pytest.raises(DataFaultError, match=r"a\.mp4.*got 30 .*expected 31") as caught:
        numbers(path, 20, 11)
    assert caught.value.kind is ErrorKind.VIDEO_TOO_SHORT
    assert caught.value.facts["num_frames"] == 30
    assert caught.value.facts["num_frames_expected"] == 31


def test_a_truncated_file_gives_what_is_whole_and_refuses_the_rest(tmp_path: Path) -> None:
    path = write_video(tmp_path / "a.mp4", 120, options={"bf": "0"}, is_faststart=True)
    data = path.read_bytes()
    path.write_bytes(data[: len(data) * 7 // 10])
    with pytest.raises(DataFaultError, match="expected 120") as caught:
        numbers(path, 0, 120)
    num_whole = caught.value.facts["num_frames"]
    assert isinstance(num_whole, int)
    assert numbers(path, 0, num_whole) == list(range(num_whole))
    with pytest.raises(DataFaultError, match=f"got {num_whole} .*expected {num_whole + 1}"):
        numbers(path, 0, num_whole + 1)
