"""Video streams that come frame by frame."""

from __future__ import annotations

import gc
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest

from robot_data_platform.core.recording import Recording, VideoSegment
from robot_data_platform.errors import ErrorKind
from robot_data_platform.video.cut import cut_stream
from robot_data_platform.video.settings import GopSettings
from robot_data_platform_tests.formats.coded_video import WIDTH_PX, code_of, coded_picture
from robot_data_platform_tests.formats.reading import by_rule, camera, read_episode, refusal
from robot_data_platform_tests.formats.ros_files import (
    Sent,
    joint_states,
    stamp,
    time_of,
    write_mcap,
)

KIND = "foxglove_msgs/msg/CompressedVideo"
DEFINITION = (
    "builtin_interfaces/Time timestamp\nstring frame_id\nuint8[] data\nstring format\n"
    + "=" * 80
    + "\nMSG: builtin_interfaces/Time\nint32 sec\nuint32 nanosec\n"
)
COUNT = 24
OPTIONS = {
    "libx264": {"preset": "ultrafast", "tune": "zerolatency", "crf": "18", "g": "8"},
    "libx265": {
        "preset": "ultrafast",
        "tune": "zerolatency",
        "x265-params": "keyint=8:log-level=none",
    },
    "libvpx-vp9": {"lag-in-frames": "0", "deadline": "realtime", "g": "8"},
    "libsvtav1": {"preset": "12", "svtav1-params": "pred-struct=1:keyint=8"},
}
ENCODER = {"h264": "libx264", "h265": "libx265", "vp9": "libvpx-vp9", "av1": "libsvtav1"}


def frames(stated: str, count: int = COUNT, **options: str) -> list[bytes]:
    """Return one packet per frame, each a picture that spells its number; 64x64 pixels."""
    codec = ENCODER[stated]
    context = av.CodecContext.create(codec, "w")
    assert isinstance(context, av.VideoCodecContext)
    context.width = context.height = WIDTH_PX
    context.pix_fmt, context.time_base = "yuv420p", Fraction(1, 50)
    context.framerate = Fraction(50)
    context.options = OPTIONS[codec] | options
    packets: list[bytes] = []
    for code in range(count):
        square = np.zeros((WIDTH_PX, WIDTH_PX, 3), np.uint8)
        square[:48] = coded_picture(code)
        frame = av.VideoFrame.from_ndarray(square, format="rgb24")
        frame.pts = code
        packets += [bytes(packet) for packet in context.encode(frame)]
    return packets + [bytes(packet) for packet in context.encode(None)]


def video(packets: list[bytes], stated: str, order: list[int] | None = None) -> list[Sent]:
    """Return a video's messages; ``order`` gives the frame that each packet shows."""
    shown = order or list(range(len(packets)))
    return [
        Sent(
            topic="/cam/video",
            kind=KIND,
            content={
                "timestamp": stamp(time_of(number)),
                "frame_id": "cam",
                "data": data,
                "format": stated,
            },
            log_ns=time_of(at) + 2_000_000,
        )
        for at, (number, data) in enumerate(zip(shown, packets, strict=True))
    ]


def read(root: Path, messages: list[Sent]) -> Recording:
    write_mcap(root / "a.mcap", [*joint_states(COUNT), *messages], definitions={KIND: DEFINITION})
    return read_episode(root, "a.mcap")


def segment(recording: Recording) -> VideoSegment:
    pictures = camera(recording, "cam").pictures
    assert isinstance(pictures, VideoSegment)
    return pictures


def codes(path: str) -> list[int]:
    with av.open(path) as container:
        decoded = container.decode(video=0)
        return [
            code_of(frame.to_ndarray(format="rgb24")[:48].astype(np.uint8)) for frame in decoded
        ]


@pytest.mark.parametrize("stated", ENCODER)
def test_frames_of_a_stream_become_a_video_with_a_time_each(stated: str, tmp_path: Path) -> None:
    recording = read(tmp_path, video(frames(stated), stated))
    found = segment(recording)
    assert (found.first_frame, found.num_frames) == (0, COUNT)
    assert codes(found.path) == list(range(COUNT))
    assert camera(recording, "cam").timestamp_ns.tolist() == [time_of(k) for k in range(COUNT)]


def test_av1_is_copied_bit_by_bit(tmp_path: Path) -> None:
    packets = frames("av1")
    recording = read(tmp_path, video(packets, "av1"))
    cut = cut_stream(camera(recording, "cam"), GopSettings())
    blobs = b"".join(gop.data for gop in cut.gops())
    assert (cut.report.reencode_reason, cut.report.num_frames) == (None, COUNT)
    assert all(packet[2:] in blobs for packet in packets)  # but for temporal delimiters


@pytest.mark.parametrize("stated", ["h264", "h265"])
def test_frames_before_the_first_key_frame_are_left_out_and_told(
    stated: str, tmp_path: Path
) -> None:
    recording = read(tmp_path, video(frames(stated), stated)[3:])
    stream = camera(recording, "cam")
    assert codes(segment(recording).path) == list(range(8, COUNT))
    assert stream.timestamp_ns.tolist() == [time_of(k) for k in range(8, COUNT)]
    finding = by_rule(recording.findings)["video_starts_at_key_frame"]
    assert (finding.value, finding.unit) == (5, "frames")


def test_a_stream_without_a_key_frame_is_refused(tmp_path: Path) -> None:
    messages = video(frames("h264"), "h264")[3:8]
    write_mcap(tmp_path / "a.mcap", [*joint_states(), *messages], definitions={KIND: DEFINITION})
    error = refusal(tmp_path, "a.mcap")
    assert (error.kind, "no key frame" in str(error)) == (ErrorKind.VIDEO_UNREADABLE, True)


def test_frames_that_are_coded_out_of_order_keep_their_times(tmp_path: Path) -> None:
    packets = frames("h264", tune="film", bf="2", b_adapt="0", g="24", refs="2")
    with av.open(str(write_annex_b(tmp_path / "raw.h264", packets))) as container:
        assert container.streams.video[0].codec_context.has_b_frames
    order = display_order(packets)
    assert order != sorted(order)
    recording = read(tmp_path, video(packets, "h264", order))
    assert codes(segment(recording).path) == list(range(COUNT))
    assert camera(recording, "cam").timestamp_ns.tolist() == [time_of(k) for k in range(COUNT)]
    cut = cut_stream(camera(recording, "cam"), GopSettings())
    assert sum(gop.num_frames for gop in cut.gops()) == COUNT


def write_annex_b(path: Path, packets: list[bytes]) -> Path:
    path.write_bytes(b"".join(packets))
    return path


def display_order(packets: list[bytes]) -> list[int]:
    """Return which frame each packet holds, as an encoder that is asked again says."""
    context = av.CodecContext.create("libx264", "w")
    assert isinstance(context, av.VideoCodecContext)
    context.width = context.height = WIDTH_PX
    context.pix_fmt, context.time_base = "yuv420p", Fraction(1, 50)
    context.framerate = Fraction(50)
    context.options = OPTIONS["libx264"] | {
        "tune": "film", "bf": "2", "b_adapt": "0", "g": "24", "refs": "2"
    }  # fmt: skip
    order: list[int] = []
    for code in range(len(packets)):
        square = np.zeros((WIDTH_PX, WIDTH_PX, 3), np.uint8)
        square[:48] = coded_picture(code)
        frame = av.VideoFrame.from_ndarray(square, format="rgb24")
        frame.pts = code
        order += [packet.pts or 0 for packet in context.encode(frame)]
    return order + [packet.pts or 0 for packet in context.encode(None)]


def test_two_frames_in_a_message_are_refused(tmp_path: Path) -> None:
    packets = frames("h265")
    messages = video([packets[0] + packets[1], *packets[2:]], "h265")
    write_mcap(tmp_path / "a.mcap", [*joint_states(), *messages], definitions={KIND: DEFINITION})
    error = refusal(tmp_path, "a.mcap")
    assert error.kind is ErrorKind.METADATA_CONTRADICTION
    assert f"got {COUNT} frames in {COUNT - 1} messages" in str(error)


def test_a_stream_that_changes_its_codec_is_refused(tmp_path: Path) -> None:
    messages = video(frames("h264"), "h264")[:8] + video(frames("av1"), "av1")[8:16]
    write_mcap(tmp_path / "a.mcap", [*joint_states(), *messages], definitions={KIND: DEFINITION})
    assert "changes its codec: got ['av1', 'h264']" in str(refusal(tmp_path, "a.mcap"))


def test_another_codec_is_left_out_and_told(tmp_path: Path) -> None:
    recording = read(tmp_path, video([b"?"], "mjpeg2000"))
    assert "format 'mjpeg2000'" in by_rule(recording.findings)["cameras_are_read"].message


def test_the_video_goes_with_the_recording(tmp_path: Path) -> None:
    recording = read(tmp_path, video(frames("h264"), "h264"))
    path = Path(segment(recording).path)
    assert path.is_file()
    del recording
    gc.collect()
    assert not path.exists()
