from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import av
import pytest
from av.video.reformatter import Colorspace

from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform.video.probe import probe_video
from robot_data_platform_tests.video.videos import rewrite_packets, shift_by, write_video


def test_facts_come_from_the_stream(tmp_path: Path) -> None:
    facts = probe_video(str(write_video(tmp_path / "a.mp4", 30)))
    assert (facts.codec, facts.pix_fmt) == ("h264", "yuv420p")
    assert (facts.width_px, facts.height_px) == (64, 48)
    assert (facts.num_frames, facts.num_packets, facts.num_frames_from_header) == (30, 30, 30)
    assert facts.rate_hz_from_header == 30
    assert facts.first_pts_ticks == 0
    assert facts.orientation.is_upright


def test_a_start_that_is_not_zero_is_told(tmp_path: Path) -> None:
    facts = probe_video(str(write_video(tmp_path / "a.mp4", 20, first_pts=30)))
    assert facts.first_pts_ticks is not None
    assert facts.first_pts_ticks * facts.time_base == 1


def test_frames_that_an_edit_list_hides_are_not_counted(tmp_path: Path) -> None:
    options = {"g": "15", "keyint_min": "15", "sc_threshold": "0", "bf": "3"}
    whole = write_video(tmp_path / "whole.mp4", 60, options=options)
    cut = rewrite_packets(whole, tmp_path / "cut.mp4", shift_by(Fraction(7, 10)))
    facts = probe_video(str(cut))
    assert (facts.num_frames, facts.num_packets, facts.num_frames_from_header) == (39, 45, 60)


def test_full_range_and_matrix_are_told_whatever_the_pixel_format_is_called(tmp_path: Path) -> None:
    path = write_video(
        tmp_path / "a.mp4", 3, pix_fmt="yuvj420p", color_range=2, color_space=1,
        matrix=Colorspace.ITU709,
    )  # fmt: skip
    facts = probe_video(str(path))
    assert facts.pix_fmt == "yuv420p"
    assert (facts.tags.color_range, facts.tags.color_space) == (2, 1)


def test_the_codec_is_the_real_one(tmp_path: Path) -> None:
    path = write_video(tmp_path / "said_to_be_h264.mp4", 5, codec="mpeg4")
    assert probe_video(str(path)).codec == "mpeg4"


def test_a_truncated_file_without_its_index_is_unreadable(tmp_path: Path) -> None:
    path = write_video(tmp_path / "a.mp4", 60)
    path.write_bytes(path.read_bytes()[:-500])
    with pytest.raises(DataFaultError, match=r"a\.mp4.*got") as caught:
        probe_video(str(path))
    assert caught.value.kind is ErrorKind.VIDEO_UNREADABLE
    assert caught.value.facts["path"] == str(path)


def test_a_truncated_file_with_its_index_in_front_shows_both_counts(tmp_path: Path) -> None:
    path = write_video(tmp_path / "a.mp4", 120, is_faststart=True)
    data = path.read_bytes()
    path.write_bytes(data[: len(data) * 7 // 10])
    facts = probe_video(str(path))
    assert facts.num_frames_from_header == 120
    assert 60 < facts.num_frames < 110


def test_a_file_that_is_no_video_is_refused_with_what_ffmpeg_said(tmp_path: Path) -> None:
    path = tmp_path / "a.mp4"
    path.write_text("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 4\n")
    with pytest.raises(DataFaultError, match="FFmpeg said 'Invalid data"):
        probe_video(str(path))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("list.m3u8", "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nother.ts\n#EXT-X-ENDLIST\n"),
        ("list.ffconcat", "ffconcat version 1.0\nfile other.ts\n"),
    ],
)
def test_a_playlist_is_refused_and_its_file_not_opened(
    tmp_path: Path, name: str, text: str
) -> None:
    write_video(tmp_path / "other.ts", 5)
    path = tmp_path / name
    path.write_text(text)
    with av.open(str(path)) as container:
        assert len(container.streams.video) == 1
    with pytest.raises(DataFaultError, match="can't be read"):
        probe_video(str(path))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataFaultError, match=r"gone\.mp4.*No such file"):
        probe_video(str(tmp_path / "gone.mp4"))


def test_a_file_that_changed_is_read_again(tmp_path: Path) -> None:
    path = str(write_video(tmp_path / "a.mp4", 10))
    assert probe_video(path).num_frames == 10
    write_video(Path(path), 12)
    assert probe_video(path).num_frames == 12
