"""Pictures of cameras: every encoding as RGB, read one at a time, in the order of their times."""

from __future__ import annotations

import io
import tracemalloc
from pathlib import Path

import av
import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image

from robot_data_platform.core.finding import Severity
from robot_data_platform.core.recording import AnyPicture, PictureSequence, Recording
from robot_data_platform.errors import DataFaultError, ErrorKind
from robot_data_platform.formats.profile import Profile, load_profile
from robot_data_platform_tests.formats.reading import (
    by_rule,
    camera,
    read_episode,
    refusal,
    shown_codes,
)
from robot_data_platform_tests.formats.ros_files import (
    STEP_NS,
    Content,
    Sent,
    compressed_image,
    file_bytes,
    header,
    image,
    images,
    joint_states,
    plain,
    raw_picture,
    time_of,
    write_mcap,
)


def read(root: Path, messages: list[Sent], profile: Profile | None = None) -> Recording:
    write_mcap(root / "a.mcap", [*joint_states(), *messages])
    return read_episode(root, "a.mcap", profile)


def pixels_of(recording: Recording, name: str = "cam") -> list[AnyPicture]:
    pictures = camera(recording, name).pictures
    assert isinstance(pictures, PictureSequence)
    return list(pictures.read())


def one_picture(content: Content) -> list[Sent]:
    return [plain("/cam/image_raw", "sensor_msgs/msg/Image", content)]


def raw(pixels: npt.NDArray[np.uint8], encoding: str, step: int | None = None) -> Content:
    """Return the fields of a raw picture; ``pixels`` has the shape (H, W, bytes)."""
    height, width, size = pixels.shape
    return {
        "header": header(time_of(0)),
        "height": height,
        "width": width,
        "encoding": encoding,
        "is_bigendian": 0,
        "step": width * size if step is None else step,
        "data": pixels.tobytes(),
    }


COLOURS = np.array(
    [[[250, 10, 20, 99], [30, 240, 40, 99]], [[50, 60, 230, 99], [7, 8, 9, 99]]], np.uint8
)
RGB = COLOURS[:, :, :3]


@pytest.mark.parametrize(
    ("encoding", "stored", "expected"),
    [
        ("rgb8", RGB, RGB),
        ("bgr8", RGB[:, :, ::-1], RGB),
        ("rgba8", COLOURS, RGB),
        ("bgra8", COLOURS[:, :, [2, 1, 0, 3]], RGB),
        ("mono8", RGB[:, :, :1], RGB[:, :, [0, 0, 0]]),
        ("8UC1", RGB[:, :, :1], RGB[:, :, [0, 0, 0]]),
        ("8UC3", RGB, RGB),
    ],
)
def test_encodings_become_rgb(
    encoding: str,
    stored: npt.NDArray[np.uint8],
    expected: npt.NDArray[np.uint8],
    tmp_path: Path,
) -> None:
    recording = read(tmp_path, one_picture(raw(np.ascontiguousarray(stored), encoding)))
    np.testing.assert_array_equal(pixels_of(recording), [expected])


@pytest.mark.parametrize(
    ("encodings", "pix_fmt"),
    [(("yuv422", "uyvy"), "uyvy422"), (("yuv422_yuy2", "yuyv"), "yuyv422")],
)
def test_packed_yuv_becomes_the_rgb_that_ffmpeg_makes_of_it(
    encodings: tuple[str, str], pix_fmt: str, tmp_path: Path
) -> None:
    dice = np.random.default_rng(5)
    stored = dice.integers(16, 236, (16, 32, 2), dtype=np.uint8)
    frame = av.VideoFrame(32, 16, pix_fmt)
    frame.planes[0].update(
        np.pad(stored.reshape(16, -1), ((0, 0), (0, frame.planes[0].line_size - 64))).tobytes()
    )
    expected = frame.reformat(format="rgb24", src_colorspace="ITU601", interpolation="POINT")
    for encoding in encodings:
        (rgb,) = pixels_of(read(tmp_path, one_picture(raw(stored, encoding))))
        difference = rgb.astype(int) - expected.to_ndarray().astype(int)
        assert np.abs(difference).max() <= 3  # FFmpeg rounds on the way


def test_padding_at_the_end_of_rows_is_left_out(tmp_path: Path) -> None:
    content = raw_picture(9, "bgr8", padding=13)
    recording = read(tmp_path, one_picture({**content, "header": header(time_of(0))}))
    assert shown_codes(camera(recording, "cam")) == [9]


@pytest.mark.parametrize(
    ("encoding", "size", "word"),
    [
        ("mono16", 2, "16 bits of grey"),
        ("32FC1", 4, "depth in floats"),
        ("bayer_rggb8", 1, "raw mosaic"),
        ("nv21", 2, "expected one of"),
    ],
)
def test_what_8_bit_video_would_spoil_is_left_out_and_told(
    encoding: str, size: int, word: str, tmp_path: Path
) -> None:
    recording = read(tmp_path, one_picture(raw(np.zeros((4, 4, size), np.uint8), encoding)))
    finding = by_rule(recording.findings)["cameras_are_read"]
    assert (recording.cameras, finding.severity) == ((), Severity.WARN)
    assert word in finding.message


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"step": 5}, "rows of 5 bytes"),
        ({"height": 3}, "12 bytes for 3 rows"),
        ({"width": 0}, "0x2 pixels"),
        ({"height": 4_000_000_000, "width": 4_000_000_000}, "4000000000x4000000000"),
        ({"data": b""}, "0 bytes for 2 rows"),
    ],
)
def test_a_raw_picture_that_contradicts_its_size_is_left_out_and_told(
    changes: Content, word: str, tmp_path: Path
) -> None:
    content = {**raw(np.ascontiguousarray(RGB), "rgb8"), **changes}
    recording = read(tmp_path, one_picture(content))
    assert word in by_rule(recording.findings)["cameras_are_read"].message


@pytest.mark.parametrize("file_format", ["JPEG", "PNG"])
def test_encoded_pictures_are_decoded(file_format: str, tmp_path: Path) -> None:
    messages = [compressed_image(k, file_bytes(k, file_format)) for k in range(12)]
    stream = camera(read(tmp_path, messages), "cam")
    assert shown_codes(stream) == list(range(12))
    assert stream.timestamp_ns.tolist() == [time_of(k, 2 * STEP_NS) for k in range(12)]


def test_empty_pictures_among_others_are_left_out_with_their_number(tmp_path: Path) -> None:
    messages = [compressed_image(k, b"" if k in (3, 4) else file_bytes(k)) for k in range(8)]
    recording = read(tmp_path, messages)
    assert shown_codes(camera(recording, "cam")) == [0, 1, 2, 5, 6, 7]
    finding = by_rule(recording.findings)["pictures_are_whole"]
    assert (finding.value, "message 3 has no JPEG or PNG" in finding.message) == (2, True)


def test_a_picture_damaged_inside_is_refused_with_topic_and_number(tmp_path: Path) -> None:
    messages = [compressed_image(k, file_bytes(k)[: 200 if k == 2 else None]) for k in range(4)]
    pictures = camera(read(tmp_path, messages), "cam").pictures
    assert isinstance(pictures, PictureSequence)
    with pytest.raises(DataFaultError, match="Picture 2 of topic '/cam/image_raw/compressed'"):
        list(pictures.read())


DEPTH_MM = np.arange(6 * 8, dtype=np.uint16).reshape(6, 8) * 211


def depth_png() -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(DEPTH_MM).save(buffer, "PNG")
    return buffer.getvalue()


@pytest.mark.parametrize("order", ["<u2", ">u2"])
def test_raw_depth_is_kept_to_the_millimetre(order: str, tmp_path: Path) -> None:
    stored = DEPTH_MM.astype(order).view(np.uint8).reshape(6, 8, 2)
    content = {**raw(stored, "16UC1"), "is_bigendian": int(order == ">u2")}
    recording = read(tmp_path, one_picture(content))
    stream = camera(recording, "cam")
    assert isinstance(stream.pictures, PictureSequence)
    assert (stream.pictures.is_depth, stream.depth_unit_m) == (True, 0.001)
    np.testing.assert_array_equal(pixels_of(recording), [DEPTH_MM])


@pytest.mark.parametrize(
    ("stated", "before", "unit_m"),
    [
        ("16UC1; png compressed ", b"", 0.001),
        ("16UC1; compressedDepth png", bytes(12), 0.001),
        ("png", b"", None),
    ],
)
def test_encoded_depth_is_kept_to_the_millimetre(
    stated: str, before: bytes, unit_m: float | None, tmp_path: Path
) -> None:
    recording = read(tmp_path, [compressed_image(0, before + depth_png(), stated)])
    stream = camera(recording, "cam")
    assert isinstance(stream.pictures, PictureSequence)
    assert (stream.pictures.is_depth, stream.depth_unit_m) == (True, unit_m)
    np.testing.assert_array_equal(pixels_of(recording), [DEPTH_MM])


def test_a_depth_map_among_pictures_is_left_out_and_told(tmp_path: Path) -> None:
    messages = [*(compressed_image(k, file_bytes(k)) for k in range(3))]
    messages.append(compressed_image(3, depth_png(), "16UC1; png"))
    recording = read(tmp_path, messages)
    assert shown_codes(camera(recording, "cam")) == [0, 1, 2]
    assert "a depth map among pictures" in by_rule(recording.findings)["pictures_are_whole"].message


def test_pictures_come_in_the_order_of_their_stamps(tmp_path: Path) -> None:
    sent = images(8)
    late = [sent[0], sent[2], sent[1], *sent[3:]]
    recording = read(tmp_path, late)
    assert shown_codes(camera(recording, "cam")) == list(range(8))


def test_the_channel_order_of_8uc3_is_the_profiles(tmp_path: Path) -> None:
    messages = one_picture(raw(np.ascontiguousarray(RGB[:, :, ::-1]), "8UC3"))
    assert "channel_order_is_stated" in by_rule(read(tmp_path, messages).findings)
    recording = read(tmp_path, messages, load_profile("picture_channel_order: bgr"))
    np.testing.assert_array_equal(pixels_of(recording), [RGB])
    assert "channel_order_is_stated" not in by_rule(recording.findings)


def test_a_stated_order_does_not_touch_encodings_that_say_theirs(tmp_path: Path) -> None:
    messages = one_picture(raw(np.ascontiguousarray(RGB), "rgb8"))
    recording = read(tmp_path, messages, load_profile("picture_channel_order: bgr"))
    np.testing.assert_array_equal(pixels_of(recording), [RGB])


def test_the_same_camera_raw_and_compressed_becomes_two(tmp_path: Path) -> None:
    messages = [*images(3), *(compressed_image(k, file_bytes(k)) for k in range(3))]
    recording = read(tmp_path, messages)
    names = [c.name for c in recording.cameras]
    assert names == ["cam_image_raw", "cam_image_raw_compressed"]


def test_a_camera_that_the_profile_names_leaves_its_folder_to_the_other(tmp_path: Path) -> None:
    messages = [*images(3), *(compressed_image(k, file_bytes(k)) for k in range(3))]
    profile = load_profile("streams: {/cam/image_raw/compressed: {camera: small}}")
    assert [c.name for c in read(tmp_path, messages, profile).cameras] == ["cam", "small"]


def test_the_profile_names_and_skips_cameras(tmp_path: Path) -> None:
    messages = [*images(3), *images(3, topic="/other/image_raw")]
    profile = load_profile(
        "streams: {/cam/image_raw: {camera: top}, /other/image_raw: {skip: true}}"
    )
    recording = read(tmp_path, messages, profile)
    assert [c.name for c in recording.cameras] == ["top"]
    assert (
        "/other/image_raw (the profile skips it)"
        in by_rule(recording.findings)["topics_are_read"].message
    )


@pytest.mark.parametrize(
    ("profile", "word"),
    [
        ("streams: {/joint_states: {camera: top}}", "a camera"),
        ("streams: {/cam/image_raw: {signal: action}}", "a signal"),
    ],
)
def test_a_profile_that_takes_numbers_for_pictures_is_refused(
    profile: str, word: str, tmp_path: Path
) -> None:
    write_mcap(tmp_path / "a.mcap", [*joint_states(), *images()])
    with pytest.raises(ValueError, match=word):
        read_episode(tmp_path, "a.mcap", load_profile(profile))


def test_pictures_alone_are_no_episode(tmp_path: Path) -> None:
    write_mcap(tmp_path / "a.mcap", images())
    assert refusal(tmp_path, "a.mcap").kind is ErrorKind.NO_ROWS


def test_memory_holds_a_few_pictures_and_never_all(tmp_path: Path) -> None:
    large = np.random.default_rng(0).integers(0, 256, (400, 500, 3), dtype=np.uint8)
    content = raw(large, "rgb8")
    messages = [
        Sent(
            topic="/cam/image_raw",
            kind="sensor_msgs/msg/Image",
            content={**content, "header": header(time_of(k))},
            log_ns=time_of(k),
        )
        for k in range(60)
    ]
    write_mcap(tmp_path / "a.mcap", [*joint_states(), *messages])
    tracemalloc.start()
    pictures = camera(read_episode(tmp_path, "a.mcap"), "cam").pictures
    assert isinstance(pictures, PictureSequence)
    assert sum(1 for _ in pictures.read()) == 60
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak_bytes < 20 * large.nbytes


def test_a_file_that_changed_meanwhile_is_refused(tmp_path: Path) -> None:
    pictures = camera(read(tmp_path, images(5)), "cam").pictures
    assert isinstance(pictures, PictureSequence)
    write_mcap(tmp_path / "a.mcap", joint_states(400))
    with pytest.raises(DataFaultError, match="can't be read again"):
        list(pictures.read())


def test_a_single_picture_is_a_camera(tmp_path: Path) -> None:
    assert shown_codes(camera(read(tmp_path, [image(0)]), "cam")) == [0]
